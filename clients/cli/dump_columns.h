/* Columns of events and of trace lines, as the keys of `poet dump --json` and as the columns of the
 * tables `events` and `lines` of `poet query`. Each is one row of an array: a new row appears in
 * both. */
#ifndef CLIENTS_CLI_DUMP_COLUMNS_H
#define CLIENTS_CLI_DUMP_COLUMNS_H

#include "clients/cli/command_source.h"

#include <stdbool.h>
#include <stdint.h>

struct json_object;

struct event_column {
    const char *name;
    /* Returns the value, which the caller frees; NULL: null. */
    struct json_object *(*value)(struct command_source *subject, const struct event_info *event);
    bool optional; /* the key is omitted if the value is null */
};

struct line_column {
    const char *name;
    struct json_object *(*value)(struct command_source *subject, uint32_t line);
};

/* Both end with a row without a name. */
extern const struct event_column event_columns[];
extern const struct line_column line_columns[];

#endif
