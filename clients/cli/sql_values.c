#include "clients/cli/sql_values.h"

#include <json-c/json.h>

static const char *sql_json_text(struct json_object *value)
{
    return json_object_to_json_string_ext(value,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

void sql_bind_json(sqlite3_stmt *statement, int parameter, struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        sqlite3_bind_null(statement, parameter);
        return;
    case json_type_boolean:
    case json_type_int:
        sqlite3_bind_int64(statement, parameter, json_object_get_int64(value));
        return;
    case json_type_double:
        sqlite3_bind_double(statement, parameter, json_object_get_double(value));
        return;
    case json_type_string:
        sqlite3_bind_text(statement, parameter, json_object_get_string(value), -1,
                          SQLITE_TRANSIENT);
        return;
    default:
        sqlite3_bind_text(statement, parameter, sql_json_text(value), -1, SQLITE_TRANSIENT);
    }
}

void sql_result_json(sqlite3_context *context, struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        sqlite3_result_null(context);
        return;
    case json_type_boolean:
    case json_type_int:
        sqlite3_result_int64(context, json_object_get_int64(value));
        return;
    case json_type_double:
        sqlite3_result_double(context, json_object_get_double(value));
        return;
    case json_type_string:
        sqlite3_result_text(context, json_object_get_string(value), -1, SQLITE_TRANSIENT);
        return;
    default:
        sqlite3_result_text(context, sql_json_text(value), -1, SQLITE_TRANSIENT);
    }
}
