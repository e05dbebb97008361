/* Completions for bash. */
#include "clients/cli/completion.h"

#include <string.h>

/* Prints the arguments for _poet_reply. */
static void print_kind(enum complete_kind kind, const char *words, FILE *f)
{
    static const char *const kinds[] = {"nothing",     "file",     "run",     "program", "type",
                                        "description", "endpoint", "library", "words"};
    fprintf(f, "%s%s%s", kinds[kind], *words ? " " : "", words);
}

static void print_options(const struct complete *all, FILE *f)
{
    fputs("_poet_options() {\n    case $1 in\n", f);
    for (size_t i = 0; i < all->count; i++) {
        const struct complete_command *c = &all->commands[i];
        fprintf(f, "    %s) options='", c->name);
        for (size_t k = 0; k < c->count; k++)
            fprintf(f, "%s%s%s%s", k ? " " : "", c->options[k].letter,
                    *c->options[k].letter && *c->options[k].name ? " " : "", c->options[k].name);
        fputs("' ;;\n", f);
    }
    fputs("    esac\n}\n\n", f);
}

static void print_values(const struct complete *all, FILE *f)
{
    fputs("_poet_value() {\n    case $1 in\n", f);
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < all->commands[i].count; k++) {
            const struct complete_option *o = &all->commands[i].options[k];
            const char *command = all->commands[i].name;
            if (!*o->value)
                continue;
            fputs("    ", f);
            if (*o->letter)
                fprintf(f, "%s:%s | ", command, o->letter);
            fprintf(f, "%s:%s%s) kind='", command, o->name, *o->value == '=' ? "=" : "");
            print_kind(o->kind, o->words, f);
            fputs("' ;;\n", f);
        }
    fputs("    *) return 1 ;;\n    esac\n}\n\n", f);
}

static void print_arguments(const struct complete *all, FILE *f)
{
    fputs("_poet_arguments() {\n    case $1 in\n", f);
    for (size_t i = 0; i < all->count; i++) {
        fprintf(f, "    %s) kind='", all->commands[i].name);
        print_kind(all->commands[i].kind, all->commands[i].words, f);
        fputs("' ;;\n", f);
    }
    fputs("    esac\n}\n\n", f);
}

static void print_commands(const struct complete *all, FILE *f)
{
    fputs("_poet_commands='", f);
    for (size_t i = 0; i < all->count; i++)
        fprintf(f, "%s ", all->commands[i].name);
    fputs("help'\n\n", f);
}

static const char begin[] =
    "# bash completion for poet and poetcc, made by: poet --completion bash\n\n";

/* Bash breaks words at ':' and '=': replies must omit the part of the word before them. */
static const char rest[] =
    "_poet_reply() {\n"
    "    local words=\n"
    "    case $1 in\n"
    "    words) words=${*:2} ;;\n"
    "    run) words=$(poet --complete runs 2>/dev/null) ;;\n"
    "    type) words=$(poet --complete types 2>/dev/null | sort -u) ;;\n"
    "    description) words=$(poet --complete descriptions 2>/dev/null | sort -u) ;;\n"
    "    endpoint) words=$(poet --complete endpoints 2>/dev/null) ;;\n"
    "    sources) words=$(poet source \"$2\" --csv --columns file 2>/dev/null |\n"
    "        sed '1d;s/\\r$//;s/^\"\\(.*\\)\"$/\\1/;s|.*/||') ;;\n"
    "    library) words=$(poet --complete libraries 2>/dev/null | sort -u) ;;\n"
    "    esac\n"
    "    case $1 in\n"
    "    nothing) COMPREPLY=() ;;\n"
    "    file) compopt -o filenames 2>/dev/null\n"
    "          mapfile -t COMPREPLY < <(compgen -W \"${*:2}\" -- \"$cur\"\n"
    "              compgen -f -- \"$cur\") ;;\n"
    "    program) compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"$cur\"; compgen -f -- \"$cur\") ;;\n"
    "    run) compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(\n"
    "            { grep -F -- \"$cur\" <<<\"$words\" | while IFS= read -r word; do\n"
    "                [[ $word == \"$cur\"* ]] && printf '%s\\n' \"$word\"; done\n"
    "              compgen -f -X '!*.@(poet|conf)' -- \"$cur\"\n"
    "              compgen -d -- \"$cur\"; } | sort -u) ;;\n"
    "    sources) mapfile -t COMPREPLY < <(while IFS= read -r word; do\n"
    "        [[ $word == \"$cur\"* ]] && printf '%q\\n' \"$word\"; done <<<\"$words\") ;;\n"
    "    *) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
    "    esac\n"
    "    local before=${cur%\"${cur##*:}\"} i\n"
    "    [[ $COMP_WORDBREAKS == *:* && -n $before ]] || return 0\n"
    "    for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]#\"$before\"}; done\n"
    "}\n\n"
    "_poet() {\n"
    "    local words cur previous kind= options= line=${COMP_LINE:0:COMP_POINT}\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=('')\n"
    "    cur=${words[${#words[@]}-1]} previous=${words[${#words[@]}-2]}\n"
    "    local command=${words[1]}\n"
    "    COMPREPLY=()\n"
    "    if ((${#words[@]} <= 2)); then\n"
    "        if [[ $cur == -* ]]; then _poet_reply words --help --version\n"
    "        else _poet_reply words $_poet_commands; fi\n"
    "    elif [[ $command == help ]]; then _poet_reply words $_poet_commands\n"
    "    elif [[ $cur == --*=* ]]; then\n"
    "        _poet_value \"$command:${cur%%=*}\" ||\n"
    "            _poet_value \"$command:${cur%%=*}=\" || return 0\n"
    "        cur=${cur#*=}\n"
    "        _poet_reply $kind\n"
    "    elif [[ $previous == -* ]] && _poet_value \"$command:$previous\"; then _poet_reply $kind\n"
    "    elif [[ $cur == -* ]]; then _poet_options \"$command\"; _poet_reply words $options\n"
    "    elif [[ $command == source && ${#words[@]} -eq 4 ]]; then\n"
    "        _poet_reply sources \"${words[2]}\"\n"
    "    else _poet_arguments \"$command\"; _poet_reply $kind\n"
    "    fi\n"
    "}\n"
    "complete -F _poet poet\n\n"
    "_poetcc() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
    "    if [[ $cur == -* ]]; then\n"
    "        _poet_reply words -trace -profile -ignore= -only= -count= -processes \\\n"
    "            --poet-flags --help\n"
    "    else _poet_reply file; fi\n"
    "}\n"
    "complete -o default -F _poetcc poetcc poetcc++\n";

void completion_bash_write(const struct complete *all, FILE *f)
{
    fputs(begin, f);
    print_commands(all, f);
    print_options(all, f);
    print_values(all, f);
    print_arguments(all, f);
    fputs(rest, f);
}
