/* Calls in the trace-event format: for threads that recorded when each call began and ended
 * (POET_MEASURE=calls=every), an additional track on which the calls are nested slices. */
#ifndef CLIENTS_CLI_CHROME_CALLS_H
#define CLIENTS_CLI_CHROME_CALLS_H

#include "clients/cli/order_formats.h"

#include <json-c/json.h>

/* The interface of chrome_format.c for adding to its list of events. */
struct chrome_list {
    struct order_format *format;
    /* Returns a new object of the list, of this kind ("ph"), on this line's track. */
    struct json_object *(*object)(const struct order_format *format, const char *kind,
                                  const char *name, uint32_t line);
    void (*time)(struct json_object *object, const char *key, int64_t ns);
    void (*put)(struct order_format *format, struct json_object *object); /* takes ownership */
};

/* Requests the calls part by part, and writes each part before requesting the next: memory use does
 * not grow with the run. Unfinished calls end at end_ns, and are marked. Returns false, after
 * reporting the error, if the server does not respond. */
bool chrome_calls_write(const struct chrome_list *list, int64_t end_ns);

#endif
