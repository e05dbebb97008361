/* Calls in the trace-event format: of threads that wrote down when each began and ended
 * (POET_MEASURE=calls=every), a track of its own below the thread's, on which the calls are slices
 * that nest as they did. */
#ifndef CLIENTS_CLI_CHROME_CALLS_H
#define CLIENTS_CLI_CHROME_CALLS_H

#include "clients/cli/order_formats.h"

#include <json-c/json.h>

/* What chrome_format.c has for whoever adds to its list. */
struct chrome_list {
    struct order_format *format;
    /* An object of the list: of this kind ("ph"), on this line's track. */
    struct json_object *(*object)(const struct order_format *format, const char *kind,
                                  const char *name, uint32_t line);
    void (*time)(struct json_object *object, const char *key, int64_t ns);
    void (*put)(struct order_format *format, struct json_object *object); /* takes it over */
};

/* Asks for them part by part, and writes each before the next is asked for: memory does not grow
 * with the run.  What has not ended lasts to end_ns, and says so.  A complaint, and false, where
 * the server does not answer. */
bool chrome_calls_write(const struct chrome_list *list, int64_t end_ns);

#endif
