/* Output of the rows of a statement as it runs, so that memory does not grow with their number:
 * text in columns, JSON (one object per line) or CSV. */
#ifndef CLIENTS_CLI_SQL_OUTPUT_H
#define CLIENTS_CLI_SQL_OUTPUT_H

#include "clients/cli/output_format.h"
#include "clients/cli/sql_database.h"

/* Executes the statement and prints its rows, then the notes about the tables. format: OUTPUT_TEXT,
 * OUTPUT_JSON or OUTPUT_CSV. Returns the last status of SQLite, SQLITE_DONE if all went well. */
int sql_output_run(FILE *f, struct sql_database *database, sqlite3_stmt *statement,
                   enum output_format format);

#endif
