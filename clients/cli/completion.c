/* Completions: collects commands and options from their tables; completion_SHELL.c write them. */
#define _GNU_SOURCE
#include "clients/cli/completion.h"

#include "clients/cli/command_table.h"
#include "clients/connection/install_paths.h"
#include "base/alloc.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of values ---- */

/* Options whose kind of value is known; for others it follows from the name of the value. */
static const struct {
    const char *option;
    enum complete_kind kind;
    const char *words;
    const char *command; /* the only command with this meaning; NULL: all */
} known[] = {{"--format", TAKES_WORDS, "chrome dot shiviz", "export"},
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
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(o->name, known[i].option) == 0 &&
            (!known[i].command || strcmp(command, known[i].command) == 0)) {
            o->kind = known[i].kind;
            o->words = known[i].words;
        }
}

/* Derives the kind of a command's arguments from their names in --help. */
static void completion_set_arguments(struct complete_command *c, const char *args)
{
    c->words = strncmp(args, "shiviz ", 7) == 0 ? "shiviz" : ""; /* or a file */
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

static void add_command(struct complete *all, const struct command *command)
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
static void add_program(struct complete *all, const struct command *program)
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

static void free_all(struct complete *all)
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
            add_program(&all, command);
        else if (command->argp)
            add_command(&all, command);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].print(&all, stdout);
            status = EXIT_DONE;
        }
    free_all(&all);
    if (status != EXIT_DONE)
        fprintf(stderr, "poet: --completion %s: bash, zsh or fish\n", shell);
    return status;
}
