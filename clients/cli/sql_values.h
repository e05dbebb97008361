/* Values of JSON as values of SQLite: numbers and texts as they are, true as 1, lists and objects
 * as their text. */
#ifndef CLIENTS_CLI_SQL_VALUES_H
#define CLIENTS_CLI_SQL_VALUES_H

#include <sqlite3.h>

struct json_object;

/* Binds a value to a parameter of a statement, from 1. */
void sql_bind_json(sqlite3_stmt *statement, int parameter, struct json_object *value);
/* Returns a value from a function, or from a column of a virtual table. */
void sql_result_json(sqlite3_context *context, struct json_object *value);

#endif
