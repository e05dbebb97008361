/* The events of a run as a virtual table of SQLite. A scan requests a dump and reads it as SQLite
 * asks for rows, so that memory does not grow with the run. Scans within scans have sessions of
 * their own. */
#ifndef CLIENTS_CLI_SQL_EVENTS_H
#define CLIENTS_CLI_SQL_EVENTS_H

#include "clients/cli/sql_database.h"

#include <stdbool.h>

/* Adds the virtual table of that name; returns false if SQLite fails. */
bool sql_events_add(struct sql_database *database, const char *name);
/* Frees the sessions, after the database was closed. */
void sql_events_free(struct sql_database *database);
/* Returns the declaration of the columns, "(event, type, ...)", in new memory. */
char *sql_events_declaration(void);

#endif
