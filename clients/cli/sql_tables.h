/* Tables of SQL, and the requests that fill them: one row of an array for each table. The columns
 * of a table are those of --json, with the same names and values; a new one appears by itself. */
#ifndef CLIENTS_CLI_SQL_TABLES_H
#define CLIENTS_CLI_SQL_TABLES_H

#include "clients/cli/sql_database.h"

#include <stddef.h>

/* The rows of a command that a table has: those of rows with sub-rows are two tables. */
enum sql_rows { SQL_ALL_ROWS, SQL_OUTER_ROWS, SQL_INNER_ROWS };

struct sql_table {
    const char *name;
    const char *command; /* with --json, it prints the same rows */
    const char *about;
    enum sql_rows rows;
    const char *preset, *by;
    const char *key, *value; /* an option of the preset; NULL: none */
    /* Instead of a preset: makes a list of objects; returns an exit status, after reporting
     * errors. */
    int (*make)(struct sql_database *database, struct json_object *list);
    const char *columns; /* of the list, separated by spaces, as it may have no rows */
};

/* Ends with a row without a name. */
extern const struct sql_table sql_tables[];
/* Statements that create views of the tables. */
extern const char sql_views[];

/* Returns the table of that name, or NULL. */
const struct sql_table *sql_table_find(const char *name);
/* Creates a table and fills it. Returns an exit status, after reporting errors. If the run has no
 * such table, *problem is the reason, in new memory, which is not reported. */
int sql_table_load(struct sql_database *database, const struct sql_table *table, char **problem);
/* Returns whether a column is one of those that all tables of the server have: row_number, ... */
bool sql_table_has_everywhere(const char *column);

#endif
