/* poet: finds the sub-command. */
#define _GNU_SOURCE
#include "clients/poet/command.h"
#include "clients/poet/subject.h"
#include "clients/poet/version.h"
#include "clients/source/installed.h"
#include "config/values.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_record, &command_export, &command_show, &command_blocked,
    &command_order,  &command_dump,   &command_stat, &command_check,
    &command_ls,     &command_rm,     &command_runs, &command_import};
#define COMMANDS (sizeof commands / sizeof *commands)

static const struct {
    const char *name, *program, *summary;
} programs[] = {{"view", "poet-view", "open the viewer on a live server or a trace file"},
                {"server", "poet-server", "take events from programs and keep their order"}};

#define PROGRAMS (sizeof programs / sizeof *programs)

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
    for (size_t i = 0; i < PROGRAMS; i++)
        fprintf(f, "  %-8s %s\n", programs[i].name, programs[i].summary);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(f, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs(
        "  help     explain a command: poet help COMMAND\n\n"
        "SOURCE is a trace file, a run as `poet ls` calls it, an endpoint (unix:PATH, tcp:HOST:PORT,\n"
        "with #RUN behind it), or `latest`, which commands that only look take where none is named.\n"
        "Exit status: 0 done, 1 failed, 2 usage.\n",
        f);
}

static int run_program(const char *program, char **argv)
{
    char path[PATH_MAX];
    if (!installed_program(program, path, sizeof path)) {
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

static int unknown(const char *word)
{
    const char *names[PROGRAMS + COMMANDS + 2] = {"help"}, *near;
    for (size_t i = 0; i < PROGRAMS; i++)
        names[1 + i] = programs[i].name;
    for (size_t i = 0; i < COMMANDS; i++)
        names[1 + PROGRAMS + i] = commands[i]->name;
    near = *word == '-' ? NULL : nearest(word, names);
    fprintf(stderr, "poet: \"%s\" is no %s%s%s%s\nsee: poet help\n", word,
            *word == '-' ? "option" : "command", near ? ": did you mean \"" : "", near ? near : "",
            near ? "\"?" : "");
    return EXIT_USAGE;
}

static int dispatch(int argc, char **argv)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        if (strcmp(argv[0], programs[i].name) == 0)
            return run_program(programs[i].program, argv);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[0], commands[i]->name) == 0)
            return commands[i]->run(commands[i], argc, argv);
    return unknown(argv[0]);
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stdout);
        return EXIT_DONE;
    }
    char *arguments[] = {argv[1], (char *)(uintptr_t) "--help", NULL};
    return dispatch(2, arguments);
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
    int status =
        strcmp(argv[1], "help") == 0 ? help(argc - 1, argv + 1) : dispatch(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "poet %s: standard output: %s\n", argv[1], strerror(errno));
        return EXIT_FAILED;
    }
    return status == EXIT_DONE && subject_damaged() ? EXIT_FAILED : status;
}
