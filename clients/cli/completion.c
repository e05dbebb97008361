#define _GNU_SOURCE
#include "clients/cli/completion.h"

#include "base/alloc.h"
#include "clients/cli/command.h"
#include "clients/connection/install_paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is completed ---- */

/* The kinds of completion of a value: WORDS: those in `words`, separated by spaces; FILE: these and
 * file names. */
enum complete_kind {
    TAKES_NOTHING_KNOWN,
    TAKES_FILE,
    TAKES_RUN,
    TAKES_PROGRAM,
    TAKES_TYPE,
    TAKES_DESCRIPTION,
    TAKES_ENDPOINT,
    TAKES_LIBRARY,
    TAKES_WORDS
};

struct complete_option {
    char *letter, *name; /* "-o", "--output"; "": none */
    char *value; /* name of its argument; "": none; with a '=' in front: optional */
    char *doc; /* short description */
    enum complete_kind kind;
    const char *words;
};

struct complete_command {
    const char *name, *summary;
    struct complete_option *options;
    size_t count;
    enum complete_kind kind; /* of its arguments */
    const char *words;
};

struct complete {
    struct complete_command *commands;
    size_t count;
};

/* ---- kinds of values ---- */

/* Options with a known kind of value; for others it follows from the name of the
 * value. */
static const struct {
    const char *option;
    enum complete_kind kind;
    const char *words;
    const char *command; /* the only command with this meaning; NULL: all */
} completion_known[] = {{"--format", TAKES_WORDS, "chrome dot shiviz sqlite", "export"},
                        {"--format", TAKES_WORDS, "callgrind folded pprof", "calls"},
                        {"--paper", TAKES_WORDS, "a4 a3 letter legal", NULL},
                        {"--labels", TAKES_WORDS, "name id address", NULL},
                        {"--color", TAKES_WORDS, "auto always never", NULL},
                        {"--sort", TAKES_WORDS, "date name duration events size", "ls"},
                        {"--without", TAKES_LIBRARY, "", NULL},
                        {"--text", TAKES_TYPE, "", NULL},
                        {"--description", TAKES_DESCRIPTION, "", NULL},
                        {"--listen", TAKES_ENDPOINT, "", NULL}};

static void completion_set_kind(const char *command, struct complete_option *o)
{
    o->kind =
        strstr(o->value, "FILE") || strstr(o->value, "DIR") ? TAKES_FILE : TAKES_NOTHING_KNOWN;
    o->words = "";
    for (size_t i = 0; i < sizeof completion_known / sizeof *completion_known; i++)
        if (strcmp(o->name, completion_known[i].option) == 0 &&
            (!completion_known[i].command || strcmp(command, completion_known[i].command) == 0)) {
            o->kind = completion_known[i].kind;
            o->words = completion_known[i].words;
        }
}

/* Derives the kind of a command's arguments from their names in --help. */
static void completion_set_arguments(struct complete_command *c, const char *args)
{
    c->words = strncmp(args, "shiviz ", 7) == 0 ? "shiviz chrome" : ""; /* or a file */
    c->kind = strstr(args, "PROGRAM")                         ? TAKES_PROGRAM
              : strstr(args, "SOURCE") || strstr(args, "RUN") ? TAKES_RUN
              : strstr(args, "ENDPOINT")                      ? TAKES_ENDPOINT
                                                              : TAKES_FILE;
}

/* ---- commands and options ---- */

/* Returns a description without what explains more, at most 60 characters, in new memory. */
static char *completion_shorten(const char *doc)
{
    size_t n = strcspn(doc, ";(");
    const char *colon = strstr(doc, ": ");
    n = colon && colon < doc + n ? (size_t)(colon - doc) : n;
    if (n > 60)
        for (n = 60; n && doc[n] != ' ';)
            n--;
    while (n && strchr(" ,", doc[n - 1]))
        n--;
    return xstrndup(doc, n);
}

/* Parses a line that options_list() printed. */
static void completion_parse_line(struct complete_command *c, char *line)
{
    char *fields[4];
    for (int i = 0; i < 4; i++) {
        fields[i] = strsep(&line, i < 3 ? "\t" : "\n");
        if (!fields[i])
            return;
    }
    struct complete_option o = {xstrdup(fields[0]),
                                xstrdup(fields[1]),
                                xstrdup(fields[2]),
                                completion_shorten(fields[3]),
                                0,
                                ""};
    completion_set_kind(c->name, &o);
    ARRAY_PUSH(c->options, c->count, o);
}

static void completion_parse_lines(struct complete_command *c, FILE *f)
{
    char *line = NULL;
    size_t room = 0;
    while (f && getline(&line, &room, f) > 0)
        completion_parse_line(c, line);
    free(line);
}

static void completion_add_command(struct complete *all, const struct command *command)
{
    struct complete_command c = {.name = command->name, .summary = command->summary};
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    options_list(command->argp, f);
    fclose(f);
    f = fmemopen(text, size, "r");
    completion_parse_lines(&c, f);
    fclose(f);
    free(text);
    completion_set_arguments(&c, command->argp->args_doc);
    ARRAY_PUSH(all->commands, all->count, c);
}

/* Adds a command that is another program, if that is installed. */
static void completion_add_program(struct complete *all, const struct command *program)
{
    char path[PATH_MAX];
    struct complete_command c = {.name = program->name, .summary = program->summary};
    if (!install_path_program(program->program, path, sizeof path))
        return;
    char *command = xasprintf("'%s' --list-options", path);
    FILE *f = popen(command, "re");
    completion_parse_lines(&c, f);
    if (f)
        pclose(f);
    free(command);
    completion_set_arguments(&c, program->operands);
    ARRAY_PUSH(all->commands, all->count, c);
}

static void completion_free_all(struct complete *all)
{
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->commands[i].count; k++) {
            struct complete_option *o = &all->commands[i].options[k];
            free(o->letter);
            free(o->name);
            free(o->value);
            free(o->doc);
        }
        free(all->commands[i].options);
    }
    free(all->commands);
}

/* ---- bash ---- */

/* Prints the arguments for _poet_reply. */
static void completion_bash_print_kind(enum complete_kind kind, const char *words, FILE *f)
{
    static const char *const kinds[] = {"nothing",     "file",     "run",     "program", "type",
                                        "description", "endpoint", "library", "words"};
    fprintf(f, "%s%s%s", kinds[kind], *words ? " " : "", words);
}

static void completion_bash_print_options(const struct complete *all, FILE *f)
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

static void completion_bash_print_values(const struct complete *all, FILE *f)
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
            completion_bash_print_kind(o->kind, o->words, f);
            fputs("' ;;\n", f);
        }
    fputs("    *) return 1 ;;\n    esac\n}\n\n", f);
}

static void completion_bash_print_arguments(const struct complete *all, FILE *f)
{
    fputs("_poet_arguments() {\n    case $1 in\n", f);
    for (size_t i = 0; i < all->count; i++) {
        fprintf(f, "    %s) kind='", all->commands[i].name);
        completion_bash_print_kind(all->commands[i].kind, all->commands[i].words, f);
        fputs("' ;;\n", f);
    }
    fputs("    esac\n}\n\n", f);
}

static void completion_bash_print_commands(const struct complete *all, FILE *f)
{
    fputs("_poet_commands='", f);
    for (size_t i = 0; i < all->count; i++)
        fprintf(f, "%s ", all->commands[i].name);
    fputs("help'\n\n", f);
}

static const char completion_bash_begin[] =
    "# bash completion for poet and poetcc, made by: poet --completion bash\n\n";

/* Bash breaks words at ':' and '=': replies must omit the part of the word before them. */
static const char completion_bash_rest[] =
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

static void completion_bash_write(const struct complete *all, FILE *f)
{
    fputs(completion_bash_begin, f);
    completion_bash_print_commands(all, f);
    completion_bash_print_options(all, f);
    completion_bash_print_values(all, f);
    completion_bash_print_arguments(all, f);
    fputs(completion_bash_rest, f);
}

/* ---- fish ---- */

static void completion_fish_print_quoted(const char *s, FILE *f)
{
    fputc('\'', f);
    for (; *s; s++)
        fprintf(f, *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
    fputc('\'', f);
}

static void completion_fish_print_kind(enum complete_kind kind, const char *words, FILE *f)
{
    static const char *const kinds[] = {
        "",
        " -F",
        " -F -k -a '(poet --complete runs)'",
        " -F -a '(__fish_complete_subcommand)'",
        " -a '(poet --complete types)'",
        " -F -a '(poet --complete descriptions)'",
        " -a '(poet --complete endpoints)'",
        " -a '(poet --complete libraries)'",
    };
    if (kind == TAKES_WORDS)
        fprintf(f, " -a '%s'", words);
    else
        fputs(kinds[kind], f);
    if (kind == TAKES_FILE && *words)
        fprintf(f, " -a '%s'", words);
}

static void completion_fish_print_option(const char *command, const struct complete_option *o,
                                         FILE *f)
{
    fprintf(f, "complete -c poet -n '__fish_seen_subcommand_from %s'", command);
    if (*o->letter)
        fprintf(f, " -s %s", o->letter + 1);
    if (*o->name)
        fprintf(f, " -l %s", o->name + 2);
    if (*o->value && *o->value != '=')
        fputs(" -r", f);
    if (*o->value)
        completion_fish_print_kind(o->kind, o->words, f);
    fputs(" -d ", f);
    completion_fish_print_quoted(o->doc, f);
    fputc('\n', f);
}

static void completion_fish_write(const struct complete *all, FILE *f)
{
    fputs("# made by: poet --completion fish\n"
          "complete -c poet -f\n"
          "complete -c poet -n __fish_use_subcommand -l help -d 'show this help'\n"
          "complete -c poet -n __fish_use_subcommand -l version -d 'show version'\n"
          "complete -c poet -n __fish_use_subcommand -a help -d 'explain a command'\n",
          f);
    for (size_t i = 0; i < all->count; i++) {
        const struct complete_command *c = &all->commands[i];
        fprintf(f, "complete -c poet -n __fish_use_subcommand -a %s -d ", c->name);
        completion_fish_print_quoted(c->summary, f);
        fprintf(f, "\ncomplete -c poet -n '__fish_seen_subcommand_from help' -a %s\n", c->name);
        for (size_t k = 0; k < c->count; k++)
            completion_fish_print_option(c->name, &c->options[k], f);
        fprintf(f, "complete -c poet -n '__fish_seen_subcommand_from %s'", c->name);
        completion_fish_print_kind(c->kind, c->words, f);
        fputc('\n', f);
    }
    fputs("complete -c poet -n '__fish_seen_subcommand_from source; "
          "and test (count (commandline -opc)) -eq 3' "
          "-a '(poet source (commandline -opc)[3] --csv --columns file 2>/dev/null | "
          "sed \"1d;s/\\\\r\\$//;s|.*/||\")'\n",
          f);
    for (int plus = 0; plus < 2; plus++)
        fprintf(
            f,
            "complete -c poetcc%s -o trace -d 'trace synchronization'\n"
            "complete -c poetcc%s -o profile -d 'trace and profile function calls'\n"
            "complete -c poetcc%s -o processes -d 'trace, also communication between processes'\n"
            "complete -c poetcc%s -l poet-flags -d 'print the compiler flags of -trace'\n",
            plus ? "++" : "", plus ? "++" : "", plus ? "++" : "", plus ? "++" : "");
}

/* ---- zsh ---- */

/* Prints text inside single quotes, for _arguments and _describe, which split at ':' and '['. */
static void completion_zsh_print_quoted(const char *s, FILE *f)
{
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", f);
        else
            fprintf(f, strchr(":[]\\", *s) ? "\\%c" : "%c", *s);
}

/* "FILE:_files" */
static void completion_zsh_print_action(const char *value, enum complete_kind kind,
                                        const char *words, FILE *f)
{
    static const char *const actions[] = {" ",
                                          "_files",
                                          "_poet_runs",
                                          "_poet_program",
                                          "_poet_types",
                                          "_poet_descriptions",
                                          "_poet_endpoints",
                                          "_poet_libraries"};
    completion_zsh_print_quoted(value, f);
    if (kind == TAKES_FILE && *words)
        fprintf(f, ":{compadd %s; _files}", words);
    else if (kind == TAKES_WORDS)
        fprintf(f, ":(%s)", words);
    else
        fprintf(f, ":%s", actions[kind]);
}

/* '(-o --output)'{-o+,--output=}'[the ending chooses the format]:FILE:_files' */
static void completion_zsh_print_option(const struct complete_option *o, FILE *f)
{
    bool takes = *o->value, may = *o->value == '=', both = *o->letter && *o->name;
    fputs(" \\\n            ", f);
    if (both)
        fprintf(f, "'(%s %s)'{%s%s,%s%s}'", o->letter, o->name, o->letter, takes ? "+" : "",
                o->name,
                may     ? "=-"
                : takes ? "="
                        : "");
    else
        fprintf(f, "'%s%s%s", o->letter, o->name, may ? "=-" : takes ? (*o->name ? "=" : "+") : "");
    fputc('[', f);
    completion_zsh_print_quoted(o->doc, f);
    fputc(']', f);
    if (may)
        fputc(':', f);
    if (takes) {
        fputc(':', f);
        completion_zsh_print_action(o->value + may, o->kind, o->words, f);
    }
    fputc('\'', f);
}

static void completion_zsh_print_command(const struct complete_command *c, FILE *f)
{
    fprintf(f, "        %s)\n            _arguments -s", c->name);
    for (size_t i = 0; i < c->count; i++)
        completion_zsh_print_option(&c->options[i], f);
    if (strcmp(c->name, "source") == 0) {
        fputs(" \\\n            '1:run:_poet_runs' '2:file:_poet_sources' ;;\n", f);
        return;
    }
    if (c->kind == TAKES_PROGRAM && strcmp(c->name, "record") != 0)
        fputs(" \\\n            '1:run:_poet_runs'", f);
    fputs(" \\\n            '*:", f); /* '*:argument:_poet_runs' */
    if (c->kind == TAKES_PROGRAM)
        fputs(":program:_poet_program", f);
    else
        completion_zsh_print_action("argument", c->kind, c->words, f);
    fputc('\'', f);
    fputs(" ;;\n", f);
}

static void completion_zsh_write(const struct complete *all, FILE *f)
{
    fputs("#compdef poet poetcc poetcc++\n# made by: poet --completion zsh\n\n"
          "_poet_words() {\n    local -a words_\n"
          "    words_=(${(fu)\"$(poet --complete $1 2>/dev/null)\"})\n    compadd -a words_\n}\n"
          "_poet_runs() { _poet_words runs; _files -g '*.(poet|conf)' }\n"
          "_poet_types() { _poet_words types }\n"
          "_poet_descriptions() { _poet_words descriptions; _files -g '*.conf' }\n"
          "_poet_endpoints() { _poet_words endpoints }\n"
          "_poet_libraries() { _poet_words libraries }\n"
          "_poet_program() { # -- may stand before it\n"
          "    local at_=${words[(i)--]}\n"
          "    (( at_ < CURRENT )) && shift at_ words && (( CURRENT -= at_ ))\n"
          "    _normal\n}\n"
          "_poet_sources() {\n    local -a words_\n"
          "    words_=(${(f)\"$(poet source $words[2] --csv --columns file 2>/dev/null |\n"
          "        sed '1d;s/\\r$//;s|.*/||')\"})\n    compadd -a words_\n}\n\n"
          "_poet() {\n    local curcontext=$curcontext state line\n    typeset -A opt_args\n"
          "    if [[ $service == poetcc* ]]; then\n"
          "        _arguments '-trace[trace synchronization]' "
          "'-profile[trace and profile function calls]' "
          "'-processes[trace, also communication between processes]' \\\n"
          "            '--poet-flags[print the compiler flags of -trace]' '*:file:_files'\n"
          "        return\n    fi\n"
          "    local -a commands_\n    commands_=(\n",
          f);
    for (size_t i = 0; i < all->count; i++) {
        fprintf(f, "        '%s:", all->commands[i].name);
        completion_zsh_print_quoted(all->commands[i].summary, f);
        fputs("'\n", f);
    }
    fputs("        'help:explain a command'\n    )\n"
          "    _arguments -C '(- *)--help[show this help]' '(- *)--version[show version]' "
          "'1:command:->command' '*::argument:->argument'\n"
          "    case $state in\n    command) _describe -t commands command commands_ ;;\n"
          "    argument)\n        case $words[1] in\n"
          "        help) _describe -t commands command commands_ ;;\n",
          f);
    for (size_t i = 0; i < all->count; i++)
        completion_zsh_print_command(&all->commands[i], f);
    fputs("        esac ;;\n    esac\n}\n\n_poet \"$@\"\n", f);
}

/* ---- all shells ---- */

int completion_print(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(const struct complete *all, FILE *f);
    } shells[] = {{"bash", completion_bash_write},
                  {"zsh", completion_zsh_write},
                  {"fish", completion_fish_write}};
    struct complete all = {0};
    int status = EXIT_USAGE;
    const struct command *command;
    for (size_t i = 0; (command = command_table_at(i)) != NULL; i++)
        if (command->program)
            completion_add_program(&all, command);
        else if (command->argp)
            completion_add_command(&all, command);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].print(&all, stdout);
            status = EXIT_DONE;
        }
    completion_free_all(&all);
    if (status != EXIT_DONE)
        fprintf(stderr, "poet: --completion %s: bash, zsh or fish\n", shell);
    return status;
}
