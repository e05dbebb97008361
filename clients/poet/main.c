/* poet: finds the sub-command. */
#define _GNU_SOURCE
#include "clients/poet/complete.h"
#include "clients/poet/pager.h"
#include "clients/poet/subject.h"
#include "clients/poet/table.h"
#include "clients/poet/version.h"
#include "clients/source/installed.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(FILE *f)
{
    fputs("Usage: poet COMMAND [ARGUMENT...]\n"
          "See the order of events in a concurrent program.\n\n"
          "    poetcc -trace prodcons.c -o prodcons     compile with -trace\n"
          "    poet view &                              open the viewer, live\n"
          "    ./prodcons                               lines grow while it runs\n"
          "    poet export -o order.pdf                 save the diagram\n"
          "    poet record -- ./program                 or as it is, without compiling it anew\n\n"
          "Commands:\n",
          f);
    for (size_t i = 0; table_programs[i].name; i++)
        fprintf(f, "  %-8s %s\n", table_programs[i].name, table_programs[i].summary);
    for (size_t i = 0; table_commands[i]; i++)
        fprintf(f, "  %-8s %s\n", table_commands[i]->name, table_commands[i]->summary);
    fputs(
        "  help     explain a command: poet help COMMAND\n\n"
        "SOURCE is a trace file, a run as `poet ls` calls it, an endpoint (unix:PATH, poet://HOST:PORT,\n"
        "with #RUN behind it), or `latest`, which commands that only look take where none is named.\n"
        "Exit status: 0 done, 1 failed, 2 usage.\n",
        f);
}

static int run_program(const char *program, char **argv)
{
    char path[PATH_MAX];
    if (!install_path_program(program, path, sizeof path)) {
        fprintf(stderr, "poet: %s: not installed%s\n", program,
                strcmp(program, "poet-view") == 0
                    ? ": build it with GTK 4 (libgtk-4-dev), or use: poet export SOURCE -o FILE.pdf"
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
    fprintf(stderr, "poet: \"%s\" is no %s", word, option ? "option" : "command");
    if (near)
        fprintf(stderr, ": did you mean \"%s\"?", near);
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
