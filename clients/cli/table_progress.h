/* Waiting for a table: how far the server is with it is said on a terminal, and Ctrl-C ends it. */
#ifndef CLIENTS_CLI_TABLE_PROGRESS_H
#define CLIENTS_CLI_TABLE_PROGRESS_H

#include "clients/cli/command_source.h"
#include "wire/table_rows.h"

/* From now on Ctrl-C takes back what is asked, says that it did, and exits with 130. */
void table_progress_begin(const struct command *command);
/* Asks for a table (frees body) and waits for it; complains and returns false if there is no
 * answer.  What takes over a second says on standard error, if that is a terminal, how many events
 * were looked at by now. */
bool table_progress_request(const struct command *command, struct command_source *subject,
                            struct encoder *body, struct result_table *table);
/* A file that is written under this name meanwhile, and removed if Ctrl-C comes; NULL: none. */
void table_progress_set_file(const char *part);

#endif
