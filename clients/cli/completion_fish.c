/* Completions for fish. */
#include "clients/cli/completion.h"

#include <string.h>

static void print_quoted(const char *s, FILE *f)
{
    fputc('\'', f);
    for (; *s; s++)
        fprintf(f, *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
    fputc('\'', f);
}

static void print_kind(enum complete_kind kind, const char *words, FILE *f)
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

static void print_option(const char *command, const struct complete_option *o, FILE *f)
{
    fprintf(f, "complete -c poet -n '__fish_seen_subcommand_from %s'", command);
    if (*o->letter)
        fprintf(f, " -s %s", o->letter + 1);
    if (*o->name)
        fprintf(f, " -l %s", o->name + 2);
    if (*o->value && *o->value != '=')
        fputs(" -r", f);
    if (*o->value)
        print_kind(o->kind, o->words, f);
    fputs(" -d ", f);
    print_quoted(o->doc, f);
    fputc('\n', f);
}

void completion_fish_write(const struct complete *all, FILE *f)
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
        print_quoted(c->summary, f);
        fprintf(f, "\ncomplete -c poet -n '__fish_seen_subcommand_from help' -a %s\n", c->name);
        for (size_t k = 0; k < c->count; k++)
            print_option(c->name, &c->options[k], f);
        fprintf(f, "complete -c poet -n '__fish_seen_subcommand_from %s'", c->name);
        print_kind(c->kind, c->words, f);
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
