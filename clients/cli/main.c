/* The poet command: finds and runs the subcommand. */
#define _GNU_SOURCE
#include "clients/cli/command.h"
#include "clients/cli/command_source.h"
#include "clients/cli/completion.h"
#include "clients/cli/terminal.h"
#include "clients/cli/version.h"
#include "clients/connection/install_paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_WIDTH 80
#define HELP_INDENT 11 /* column of summaries */

/* Wraps the summary between words. */
static void help_print_command(FILE *f, const struct command *command)
{
    const char *word = command->summary;
    int column = HELP_INDENT;
    fprintf(f, "  %-*s", HELP_INDENT - 2, command->name);
    while (*word) {
        int length = (int)strcspn(word, " ");
        if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
            fprintf(f, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        }
        column += fprintf(f, "%s%.*s", column > HELP_INDENT ? " " : "", length, word);
        word += length + (word[length] == ' ');
    }
    fputc('\n', f);
}

static void print_help(FILE *f)
{
    fputs("Usage: poet COMMAND [OPTION...] [SOURCE]\n"
          "Trace concurrent programs and analyze their happened-before order, waits and\n"
          "deadlocks.\n\n"
          "    poetcc -trace prog.c -o prog && ./prog   compile with tracing and run\n"
          "    poet record -- ./prog                    or trace an unmodified binary\n"
          "    poet view latest                         open the latest run in the viewer\n\n",
          f);
    for (const struct command_group *g = command_groups; g->title; g++) {
        fprintf(f, "%s\n", g->title);
        for (size_t i = 0; g->commands[i]; i++)
            help_print_command(f, g->commands[i]);
    }
    fputs("\nSOURCE is a trace file, a run name from `poet ls`, an endpoint (unix:PATH or\n"
          "poet://HOST:PORT, optionally with #RUN), or `latest`, the default for read-only\n"
          "commands.\n"
          "See `poet help COMMAND`.  Exit status: 0 success, 1 failure, 2 usage error.\n",
          f);
}

static int run_program(const char *program, char **argv)
{
    char path[PATH_MAX];
    if (!install_path_program(program, path, sizeof path)) {
        fprintf(stderr, "poet: %s: not installed%s\n", program,
                strcmp(program, "poet-view") == 0
                    ? "; build it with GTK 4 (libgtk-4-dev), or use: poet export SOURCE -o FILE.pdf"
                    : "");
        return EXIT_FAILED;
    }
    argv[0] = (char *)(uintptr_t)program; /* the name that ps shows */
    execv(path, argv);
    fprintf(stderr, "poet: %s: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

static int main_report_unknown(const char *word)
{
    bool option = *word == '-';
    const char *near = option ? NULL : command_table_nearest(word);
    fprintf(stderr, "poet: unknown %s \"%s\"", option ? "option" : "command", word);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fputs("\nsee: poet help\n", stderr);
    return EXIT_USAGE;
}

static int main_dispatch_command(int argc, char **argv)
{
    char *of_command[] = {argc > 1 ? argv[1] : argv[0], (char *)(uintptr_t) "--help", NULL};
    const struct command *command = command_table_find(argv[0]);
    if (!command)
        return main_report_unknown(argv[0]);
    if (command->program)
        return run_program(command->program, argv);
    if (command->run)
        return command->run(command, argc, argv);
    if (strcmp(of_command[0], "help") != 0 && *of_command[0] != '-')
        return main_dispatch_command(2, of_command);
    print_help(stdout);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("poet %s\n", POET_VERSION);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (argc == 3 && strcmp(argv[1], "--completion") == 0)
        return completion_print(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--complete") == 0)
        return completion_words_write(argv[2]);
    int status = main_dispatch_command(argc - 1, argv + 1);
    if (pager_is_running()) {
        pager_end();
    } else if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "poet %s: standard output: %s\n", argv[1], strerror(errno));
        return EXIT_FAILED;
    }
    return status == EXIT_DONE && command_source_damaged() ? EXIT_FAILED : status;
}
