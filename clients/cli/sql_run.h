/* A run as a database of SQLite: a statement that reads computes the tables that it names, and
 * leaves them in the database. */
#ifndef CLIENTS_CLI_SQL_RUN_H
#define CLIENTS_CLI_SQL_RUN_H

#include "clients/cli/sql_database.h"

/* Opens a database in a file, without tables, or a temporary one (NULL) with the events, from which
 * tables can be read. The members subject, source and settings are set before. Returns false after
 * reporting an error; the caller closes it in any case. */
bool sql_run_open(struct sql_database *database, const char *file);
void sql_run_close(struct sql_database *database);
/* Prepares one statement that only reads, and computes the tables that it names. Returns an exit
 * status, after reporting errors; with EXIT_DONE and *statement NULL the text is empty. */
int sql_run_prepare(struct sql_database *database, const char *sql, sqlite3_stmt **statement);
/* Reports the last error of a statement, and where in its text it is; returns EXIT_USAGE, or
 * EXIT_FAILED if the source was at fault. */
int sql_run_fail(const struct sql_database *database, const char *sql);

#endif
