/* The SOURCE of a command: a session, with names for its lines and sites. */
#ifndef CLIENTS_CLI_COMMAND_SOURCE_H
#define CLIENTS_CLI_COMMAND_SOURCE_H

#include "clients/cli/command.h"
#include "clients/connection/line_labels.h"
#include "clients/connection/session.h"
#include "clients/connection/wait_list.h"
#include "clients/symbols/symbolizer.h"

#include <argp.h>
#include <stdbool.h>

/* ---- the option --labels: how a command labels lines ---- */

/* For commands that print text, a child of their options. */
extern const struct argp labels_options;
/* Returns the requested labels, else `otherwise`. */
enum labels label_option_selected(enum labels otherwise);
/* Parses "name", "id" or "address". Returns false if it is none of them. */
bool label_option_by_name(const char *word, enum labels *labels);

/* ---- the source ---- */

/* An opened source with names for its lines and sites. */
struct command_source {
    struct session source;
    struct symbolizer *sites;
    uint32_t known;
    enum labels labels;
    uint64_t labelled; /* generation of the metadata when labels were last set */
    const struct command *command; /* for messages when it is closed */
};

/* Returns the SOURCE of a read-only command: the operand at *first, which is consumed; or NULL for
 * the latest run, if there is no operand, or it is an event or "-". */
const char *command_source_name(int argc, char **argv, int *first);
/* For commands with `[SOURCE] [--json]` and the parser command_parse_json(): parses the arguments
 * and opens the source. words: default labels of lines in text; JSON has addresses; --labels
 * overrides both. Returns false with the exit status in *status. */
bool command_source_begin(const struct command *command, int argc, char **argv,
                          enum session_lines lines, enum labels words,
                          struct command_source *subject, bool *json, int *status);
/* Opens a source; what NULL: `latest`; on a terminal, prints which run that is. */
bool command_source_open(const struct command *command, struct command_source *subject,
                         const char *what, enum session_lines lines, enum labels labels);
/* Returns the start of its run in local time, and with `age` also how long ago that is; the caller
 * frees it. */
char *command_source_begin_named(const struct session *source, bool age);
/* Sets the labels of lines that became known since the last call. */
void command_source_label_lines(struct command_source *subject);
void command_source_close(struct command_source *subject);
/* Prints a note on standard error if a newer description is used for drawing. */
void command_source_warn_updated(const struct command *command,
                                 const struct command_source *subject);
/* Sends a request, frees body, and waits for the whole response, of which all parts are passed to
 * take (NULL: discarded); reports an error and returns false if there is none. */
bool command_source_request(const struct command *command, struct command_source *subject,
                            enum request_type what, struct encoder *body, source_take *take,
                            void *user);
/* Prints the same again, in place on a terminal, as long as a program of the run is connected.
 * print: returns an exit status; other than EXIT_DONE, it is the last time. */
int command_source_follow(const struct command *command, struct command_source *subject,
                          int (*print)(void *user), void *user);
/* A request in two steps, for callers with other work until the response: send, then done, which
 * waits. The struct must stay in place between them. */
struct command_request {
    struct command_source *subject;
    source_take *take;
    void *user;
    uint32_t id;
};
void command_source_send(struct command_source *subject, enum request_type what,
                         struct encoder *body, source_take *take, void *user,
                         struct command_request *pending);
bool command_source_request_done(const struct command *command,
                                 const struct command_request *pending);
/* Returns whether the run has the event, after requesting its line if that is not known yet; false
 * with the reason in *error, "no event 1:5 in this run (line 1 has 4 events)", or the error that
 * prevented the check. */
bool command_source_has_event(struct command_source *subject, struct event_id at,
                              struct error *error);
/* Gets the events of deadlocks as pairs, which the caller frees: that by which a thread waits, and
 * that by which the next one entered; NULL: no deadlock. Returns false after reporting an error. */
bool command_source_deadlock_events(const struct command *command, struct command_source *subject,
                                    struct event_id **pairs, uint32_t *count);
/* Gets the blocked threads with their diagnosis into `waits`, which the caller frees in any case.
 * Returns false after reporting an error. */
bool command_source_waits(const struct command *command, struct command_source *subject,
                          struct wait_list *waits);
/* Returns "file:line", or "" without a site. */
const char *command_source_site(struct command_source *subject, const struct event_info *event);
/* Returns "file:line" of any place. The result of either is valid until the next call. */
const char *command_source_place(struct command_source *subject, uint32_t process, uint64_t site);
/* Returns whether part of a requested source was unreadable; it was reported when the source was
 * closed. */
bool command_source_damaged(void);

#endif
