/* Completions for zsh. */
#include "clients/cli/completion.h"

#include <string.h>

/* Prints text inside single quotes, for _arguments and _describe, which split at ':' and '['. */
static void print_quoted(const char *s, FILE *f)
{
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", f);
        else
            fprintf(f, strchr(":[]\\", *s) ? "\\%c" : "%c", *s);
}

/* "FILE:_files" */
static void print_action(const char *value, enum complete_kind kind, const char *words, FILE *f)
{
    static const char *const actions[] = {" ",
                                          "_files",
                                          "_poet_runs",
                                          "_poet_program",
                                          "_poet_types",
                                          "_poet_descriptions",
                                          "_poet_endpoints",
                                          "_poet_libraries"};
    print_quoted(value, f);
    if (kind == TAKES_FILE && *words)
        fprintf(f, ":{compadd %s; _files}", words);
    else if (kind == TAKES_WORDS)
        fprintf(f, ":(%s)", words);
    else
        fprintf(f, ":%s", actions[kind]);
}

/* '(-o --output)'{-o+,--output=}'[the ending chooses the format]:FILE:_files' */
static void print_option(const struct complete_option *o, FILE *f)
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
    print_quoted(o->doc, f);
    fputc(']', f);
    if (may)
        fputc(':', f);
    if (takes) {
        fputc(':', f);
        print_action(o->value + may, o->kind, o->words, f);
    }
    fputc('\'', f);
}

static void print_command(const struct complete_command *c, FILE *f)
{
    fprintf(f, "        %s)\n            _arguments -s", c->name);
    for (size_t i = 0; i < c->count; i++)
        print_option(&c->options[i], f);
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
        print_action("argument", c->kind, c->words, f);
    fputc('\'', f);
    fputs(" ;;\n", f);
}

void completion_zsh_write(const struct complete *all, FILE *f)
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
        print_quoted(all->commands[i].summary, f);
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
        print_command(&all->commands[i], f);
    fputs("        esac ;;\n    esac\n}\n\n_poet \"$@\"\n", f);
}
