/* The sub-commands of `poet`, and what they share. */
#ifndef CLIENTS_POET_COMMAND_H
#define CLIENTS_POET_COMMAND_H

#include "clients/site/site.h"
#include "clients/source/label.h"
#include "clients/source/source.h"
#include "config/options.h"

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2

struct command {
    const char *name, *summary;
    int (*run)(const struct command *command, int argc, char **argv);
    const struct argp *argp; /* its options and its help */
    bool program_follows;    /* options end at the first word that is none */
};

/* An opened source with names for its lines and sites. */
struct subject {
    struct source source;
    struct sites *sites;
    uint32_t known;
    enum labels labels;
    uint64_t labelled; /* generation of the book then */
    const struct command *command; /* for what is said at its end */
};

int command_fail(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int command_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reads the options into what `input` is to the parser of command->argp.  OPTIONS_READ: *first is the index of
 * the first word that is no option; else the exit status, with everything said. */
int command_read(const struct command *command, int argc, char **argv, void *input, int *first);
/* For commands with `SOURCE [--json]`: reads the arguments and opens the source.  Their parser is
 * command_parse_json().  False: *status says how to exit. */
bool command_begin(const struct command *command, int argc, char **argv, enum source_lines lines,
                   struct subject *subject, bool *json, int *status);
error_t command_parse_json(int key, char *value, struct argp_state *state);

bool subject_open(const struct command *command, struct subject *subject, const char *what,
                  enum source_lines lines, enum labels labels);
/* Labels for lines that became known since. */
void subject_label(struct subject *subject);
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
