/* What a command is about: a source, with names for its lines and sites. */
#ifndef CLIENTS_CLI_COMMAND_SOURCE_H
#define CLIENTS_CLI_COMMAND_SOURCE_H

#include "clients/cli/command.h"
#include "clients/symbols/symbolizer.h"
#include "clients/connection/line_labels.h"
#include "clients/connection/session.h"

/* An opened source with names for its lines and sites. */
struct command_source {
    struct session source;
    struct symbolizer *sites;
    uint32_t known;
    enum labels labels;
    uint64_t labelled; /* generation of the book then */
    const struct command *command; /* for what is said at its end */
};

/* The SOURCE of a command that only looks: the word at *first, which is passed over; or NULL, which
 * opens the latest run, where there is none, or where the word is an event or "-". */
const char *command_source_name(int argc, char **argv, int *first);
/* For commands with `[SOURCE] [--json]`, whose parser is command_parse_json(): reads the arguments
 * and opens the source.  words: how lines are called in words; JSON has addresses; --labels says
 * otherwise.  False: *status says how to exit. */
bool command_source_begin(const struct command *command, int argc, char **argv,
                          enum session_lines lines, enum labels words,
                          struct command_source *subject, bool *json, int *status);
/* what NULL: `latest`; on a terminal it is said which run that is. */
bool command_source_open(const struct command *command, struct command_source *subject,
                         const char *what, enum session_lines lines, enum labels labels);
/* When its run began, as local time, and how long ago that is where age is set; the caller frees
 * it. */
char *command_source_begin_named(const struct session *source, bool age);
/* Labels for lines that became known since. */
void command_source_label_lines(struct command_source *subject);
void command_source_close(struct command_source *subject);
/* Says on standard error that it is drawn as a newer description says, if it is. */
void command_source_warn_updated(const struct command *command,
                                 const struct command_source *subject);
/* Asks, frees body, and waits for the whole answer, whose parts go to take (NULL: nobody wants
 * them); complains and returns false if there is none. */
bool command_source_request(const struct command *command, struct command_source *subject,
                            enum request_type what, struct encoder *body, source_take *take,
                            void *user);
/* The same in two steps, for who has something to do meanwhile.  The question stays where it is
 * until it is answered. */
struct command_request {
    struct command_source *subject;
    source_take *take;
    void *user;
    uint32_t id;
};
void command_source_send(struct command_source *subject, enum request_type what,
                         struct encoder *body, source_take *take, void *user,
                         struct command_request *question);
bool command_source_request_done(const struct command *command,
                                 const struct command_request *question);
/* "file:line", or "" without a site. */
const char *command_source_site(struct command_source *subject, const struct event_info *event);
/* Of any place.  Either is good until the next one is asked for. */
const char *command_source_place(struct command_source *subject, uint32_t process, uint64_t site);
/* Some of what was asked about could not be read: said when it was closed. */
bool command_source_damaged(void);

#endif
