/* Changing what the programs of a live run measure: "calls=counts", "calls=off:T1,T2". */
#ifndef CLIENTS_CLI_MEASUREMENT_CHANGE_H
#define CLIENTS_CLI_MEASUREMENT_CHANGE_H

#include "clients/cli/table_options.h"

/* Parses such a word; returns false with *why, in new memory, if it is invalid. *lines: the part of
 * the word that names lines, or NULL: all. */
bool measurement_change_read(const char *word, uint32_t *mask, uint32_t *bits, const char **lines,
                             char **why);
/* Returns which lines must be known to send it. */
enum session_lines measurement_change_lines(const char *word);
/* Sends it; returns an exit status, after reporting errors. */
int measurement_change_send(const struct command *command, struct command_source *subject,
                            const char *word);

#endif
