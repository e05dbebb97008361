/* Waiting for a table: progress display on a terminal, and cancellation by Ctrl-C. */
#ifndef CLIENTS_CLI_TABLE_PROGRESS_H
#define CLIENTS_CLI_TABLE_PROGRESS_H

#include "clients/cli/command_source.h"
#include "wire/table_rows.h"

/* From now on Ctrl-C cancels the request, prints that it did, and exits with 130. */
void table_progress_begin(const struct command *command);
/* Requests a table (frees body) and waits for it; reports an error and returns false if there is no
 * response. After a second it shows on standard error, if that is a terminal, how many events were
 * examined so far. */
bool table_progress_request(const struct command *command, struct command_source *subject,
                            struct encoder *body, struct result_table *table);
/* Sets the name of a file that is being written, and that Ctrl-C removes; NULL: none. */
void table_progress_set_file(const char *part);

#endif
