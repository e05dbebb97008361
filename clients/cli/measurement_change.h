/* Telling the programs of a run what to measure from now on: "calls=counts", "calls=off:T1,T2". */
#ifndef CLIENTS_CLI_MEASUREMENT_CHANGE_H
#define CLIENTS_CLI_MEASUREMENT_CHANGE_H

#include "clients/cli/table_options.h"

/* What such a word says; false with *why, new memory: it says nothing.  *lines: the part of the
 * word that names lines, or NULL: all. */
bool measurement_change_read(const char *word, uint32_t *mask, uint32_t *bits, const char **lines,
                             char **why);
/* Which lines must be known to tell it. */
enum session_lines measurement_change_lines(const char *word);
/* Tells it; an exit status, with complaints. */
int measurement_change_send(const struct command *command, struct command_source *subject,
                            const char *word);

#endif
