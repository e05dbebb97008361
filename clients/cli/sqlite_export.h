/* poet export -f sqlite: all tables, and the events, as a database of SQLite. */
#ifndef CLIENTS_CLI_SQLITE_EXPORT_H
#define CLIENTS_CLI_SQLITE_EXPORT_H

#include "clients/cli/command.h"

/* Writes the run to a file; returns an exit status, after reporting errors. The table poet_tables
 * has the reasons why the run has no such table. */
int sqlite_export_write(const struct command *command, const char *source, const char *file);

#endif
