/* Helpers of the commands that print JSON. */
#ifndef CLIENTS_CLI_JSON_OUTPUT_H
#define CLIENTS_CLI_JSON_OUTPUT_H

#include "wire/event_types.h"

struct json_object;

/* Prints an object on one line of standard output, and frees it. */
void json_print(struct json_object *object);
/* Returns "LINE:NUMBER", or null (NULL) if there is no event. */
struct json_object *json_event_id(struct event_id ref);

#endif
