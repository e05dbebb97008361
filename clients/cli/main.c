/* poet: finds the sub-command. */
#define _GNU_SOURCE
#include "clients/cli/completion.h"
#include "clients/cli/pager.h"
#include "clients/cli/command_source.h"
#include "clients/cli/command_table.h"
#include "clients/cli/version.h"
#include "clients/connection/install_paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_WIDTH 80
#define HELP_INDENT 11 /* of summaries */

static const struct help_group {
    const char *title, *commands; /* their names, each followed by a space */
} help_groups[] = {
    {"Record", "record server watch "},
    {"Inspect", "view show export order dump stat note "},
    {"Find bugs", "blocked attach predict confirm replay debug compare "},
    {"Performance", "report states waits path calls source memory usage metrics "},
    {"Manage runs", "ls rm runs merge import key check help "},
};

static const char *help_summary(const char *name)
{
    for (size_t i = 0; table_programs[i].name; i++)
        if (strcmp(table_programs[i].name, name) == 0)
            return table_programs[i].summary;
    for (size_t i = 0; table_commands[i]; i++)
        if (strcmp(table_commands[i]->name, name) == 0)
            return table_commands[i]->summary;
    return "show help for a command";
}

/* Wraps the summary between words. */
static void help_print_command(FILE *f, const char *name)
{
    const char *word = help_summary(name);
    int column = HELP_INDENT;
    fprintf(f, "  %-*s", HELP_INDENT - 2, name);
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
    for (size_t i = 0; i < sizeof help_groups / sizeof *help_groups; i++) {
        fprintf(f, "%s\n", help_groups[i].title);
        for (const char *rest = help_groups[i].commands; *rest; rest = strchr(rest, ' ') + 1) {
            char name[16];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, " "), rest);
            help_print_command(f, name);
        }
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
    argv[0] = (char *)(uintptr_t)program; /* as ps shows it */
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
    for (size_t i = 0; table_programs[i].name; i++)
        if (strcmp(argv[0], table_programs[i].name) == 0)
            return run_program(table_programs[i].program, argv);
    for (size_t i = 0; table_commands[i]; i++)
        if (strcmp(argv[0], table_commands[i]->name) == 0)
            return table_commands[i]->run(table_commands[i], argc, argv);
    return main_report_unknown(argv[0]);
}

static int main_run_help(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stdout);
        return EXIT_DONE;
    }
    char *arguments[] = {argv[1], (char *)(uintptr_t) "--help", NULL};
    return main_dispatch_command(2, arguments);
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
    int status = strcmp(argv[1], "help") == 0 ? main_run_help(argc - 1, argv + 1)
                                              : main_dispatch_command(argc - 1, argv + 1);
    if (pager_is_running()) {
        pager_end();
    } else if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "poet %s: standard output: %s\n", argv[1], strerror(errno));
        return EXIT_FAILED;
    }
    return status == EXIT_DONE && command_source_damaged() ? EXIT_FAILED : status;
}
