/* A database of SQLite over one run, in a file or in a temporary one that only this process sees.
 * Tables: those of sql_tables.h, and the events as a virtual table (sql_events.h); sql_run.h
 * opens it with all of them. Not thread-safe. */
#ifndef CLIENTS_CLI_SQL_DATABASE_H
#define CLIENTS_CLI_SQL_DATABASE_H

#include "clients/cli/command_source.h"
#include "clients/cli/table_options.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct sql_events;

struct sql_database {
    sqlite3 *db;
    struct command_source *subject; /* borrowed; all lines are known */
    const char *source; /* the operand that named it; NULL: the latest run */
    struct table_settings settings; /* command, --from and --to */
    struct sql_events *events; /* private to sql_events.c */
    char *problem; /* why the source could not be read; NULL: it could */
    char described[64]; /* the table that a statement describes, while it is prepared */
    char **notes; /* about the tables that were computed */
    uint32_t note_count;
};

/* Executes statements that are constants of ours. Returns false after reporting an error. */
bool sql_database_execute(struct sql_database *database, const char *sql);
/* Reports the problem of the source, or the last error of SQLite; returns EXIT_FAILED. */
int sql_database_fail(const struct sql_database *database);
/* Sets the problem of the source to a copy of the text. */
void sql_database_set_problem(struct sql_database *database, const char *text);
/* Adds a note, in new memory, unless it is there already. */
void sql_database_add_note(struct sql_database *database, char *note);
/* Closes the database and frees problem and notes. */
void sql_database_close(struct sql_database *database);

#endif
