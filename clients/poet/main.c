/* poet: finds the sub-command. */
#define _GNU_SOURCE
#include "clients/poet/command.h"
#include "clients/poet/version.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_export, &command_show, &command_blocked, &command_dump, &command_order,
    &command_runs,   &command_stat, &command_check, &command_import, &command_record};
#define COMMANDS (sizeof commands / sizeof *commands)

static const struct {
    const char *name, *program, *summary;
} programs[] = {{"view", "poet-view", "open the viewer on a live server or a trace file"},
                {"server", "poet-server", "take events from programs and keep their order"}};

static void print_help(FILE *f)
{
    fputs("Usage: poet COMMAND [ARGUMENT...]\n"
          "See the order of events in a concurrent program.\n\n"
          "    poetcc -trace prodcons.c -o prodcons     compile with -trace\n"
          "    poet view &                              open the viewer, live\n"
          "    ./prodcons                               lines grow while it runs\n"
          "    poet export latest -o order.pdf          save the diagram\n"
          "    poet record -- ./program                 or as it is, without compiling it anew\n\n"
          "Commands:\n", f);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        fprintf(f, "  %-8s %s\n", programs[i].name, programs[i].summary);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(f, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help     explain a command: poet help COMMAND\n\n"
          "SOURCE is a trace file, an endpoint (unix:PATH, tcp:HOST:PORT, with #RUN behind it), or\n"
          "`latest`.  Exit status: 0 done, 1 failed, 2 usage.\n", f);
}

static int run_program(const char *program, char **argv)
{
    char path[PATH_MAX];
    if (!source_program(program, path, sizeof path)) {
        fprintf(stderr, "poet: %s: not installed%s\n", program,
                strcmp(program, "poet-view") == 0
                    ? ": build it with GTK 4 (libgtk-4-dev), or use: poet export SOURCE -o FILE.pdf"
                    : "");
        return EXIT_FAILED;
    }
    execv(path, argv);
    fprintf(stderr, "poet: %s: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

static int dispatch(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[0], programs[i].name) == 0)
            return run_program(programs[i].program, argv);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[0], commands[i]->name) == 0)
            return commands[i]->run(commands[i], argc, argv);
    fprintf(stderr, "poet: \"%s\" is no command: see poet help\n", argv[0]);
    return EXIT_USAGE;
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

static bool damaged; /* some of what was asked about could not be read */

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
    int status = strcmp(argv[1], "help") == 0 ? help(argc - 1, argv + 1)
                                              : dispatch(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "poet %s: standard output: %s\n", argv[1], strerror(errno));
        return EXIT_FAILED;
    }
    return status == EXIT_DONE && damaged ? EXIT_FAILED : status;
}

/* ---- what the commands share ---- */

static void complain(const struct command *command, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));

static void complain(const struct command *command, const char *format, va_list ap)
{
    fprintf(stderr, "poet %s: ", command->name);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
}

int command_fail(const struct command *command, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    complain(command, format, ap);
    va_end(ap);
    return EXIT_FAILED;
}

int command_usage(const struct command *command, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    complain(command, format, ap);
    va_end(ap);
    fprintf(stderr, "see: poet help %s\n", command->name);
    return EXIT_USAGE;
}

int command_read(const struct command *command, int argc, char **argv, void *input, int *first)
{
    struct options options = {command->name, command->argp, command->program_follows};
    return options_read(&options, argc, argv, input, first);
}

error_t command_parse_json(int key, char *value, struct argp_state *state)
{
    bool *json = state->input;
    (void)value;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    *json = true;
    return 0;
}

bool command_begin(const struct command *command, int argc, char **argv, enum source_lines lines,
                   struct subject *subject, bool *json, int *status)
{
    int first;
    *json = false;
    *status = command_read(command, argc, argv, json, &first);
    if (*status != OPTIONS_READ)
        return false;
    if (argc - first != 1) {
        *status = command_usage(command, "one SOURCE is needed");
        return false;
    }
    *status = EXIT_FAILED;
    return subject_open(command, subject, argv[first], lines, LABELS_ADDRESS);
}

void subject_label(struct subject *subject)
{
    struct book *book = &subject->source.book;
    if (book->generation != subject->labelled)
        label_lines(book, subject->sites, &subject->known, subject->labels);
    subject->labelled = book->generation;
}

bool subject_open(const struct command *command, struct subject *subject, const char *what,
                  enum source_lines lines, enum labels labels)
{
    struct error error;
    *subject = (struct subject){.sites = sites_new(), .labels = labels};
    if (!subject->sites || !source_open(&subject->source, what, lines, &error)) {
        command_fail(command, "%s", subject->sites ? error.text : "out of memory");
        sites_free(subject->sites);
        return false;
    }
    /* One round trip brings the tables. */
    if (!subject_ask(command, subject, ASK_RUNS, NULL, NULL, NULL)) {
        subject_close(subject);
        return false;
    }
    if (source_warning(&subject->source))
        fprintf(stderr, "poet %s: %s: %s\n", command->name, subject->source.name,
                source_warning(&subject->source));
    subject_label(subject);
    subject->command = command;
    return true;
}

/* Whatever the command was about: what could not be read of it is said. */
static void tell_damage(const struct command *command, struct subject *subject)
{
    struct error ignored;
    source_wait(&subject->source, source_ask(&subject->source, ASK_RUNS, NULL, NULL, NULL),
                &ignored); /* brings what was found out since */
    const struct book *book = &subject->source.book;
    if (!book->damage)
        return;
    fflush(stdout);
    command_fail(command, "%s: %s", subject->source.name, book->damage);
    damaged = true;
}

void subject_close(struct subject *subject)
{
    if (subject->command)
        tell_damage(subject->command, subject);
    source_close(&subject->source);
    sites_free(subject->sites);
}

struct labelled {
    struct subject *subject;
    source_take *take;
    void *user;
};

/* Lines that were told with this part have their labels when it is looked at. */
static void take_labelled(void *user, const struct answer *answer)
{
    const struct labelled *l = user;
    if (l->subject->source.book.some)
        subject_label(l->subject);
    if (l->take)
        l->take(l->user, answer);
}

bool subject_ask(const struct command *command, struct subject *subject, enum ask what, struct out *body,
                 source_take *take, void *user)
{
    struct error error;
    struct labelled labelled = {subject, take, user};
    uint32_t id = source_ask(&subject->source, what, body, take_labelled, &labelled);
    if (source_wait(&subject->source, id, &error))
        return true;
    command_fail(command, "%s", error.text);
    return false;
}

const char *subject_site(struct subject *subject, const struct shown_event *event)
{
    return event->site ? sites_call(subject->sites, event->process, event->site).place : "";
}
