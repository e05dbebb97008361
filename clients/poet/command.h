/* The sub-commands of `poet`, and what they share. */
#ifndef CLIENTS_POET_COMMAND_H
#define CLIENTS_POET_COMMAND_H

#include "clients/site/site.h"
#include "clients/source/label.h"
#include "clients/source/source.h"

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2

struct command {
    const char *name, *summary, *usage;
    int (*run)(const struct command *command, int argc, char **argv);
};

/* An opened source with names for its lines and sites. */
struct subject {
    struct source source;
    struct sites *sites;
    uint32_t known;
    const struct command *command; /* for what is said at its end */
};

int command_fail(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int command_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* True if the option is --help or bad; *status then says how to exit. */
bool command_option(const struct command *command, int option, int *status);

/* For commands with `SOURCE [--json]`: reads the arguments and opens the source.  False: *status says
 * how to exit. */
bool command_begin(const struct command *command, int argc, char **argv, struct subject *subject,
                   bool *json, int *status);

bool subject_open(const struct command *command, struct subject *subject, const char *what,
                  enum labels labels);
void subject_close(struct subject *subject);
/* Asks, frees body, and waits for the whole answer, whose parts go to take (NULL: nobody wants them);
 * complains and returns false if there is none. */
bool subject_ask(const struct command *command, struct subject *subject, enum ask what, struct out *body,
                 source_take *take, void *user);
/* "file:line", or "" without a site. */
const char *subject_site(struct subject *subject, const struct shown_event *event);

extern const struct command command_dump, command_order, command_stat, command_runs,
    command_blocked, command_check, command_export, command_import, command_record, command_show;

#endif
