/* What the commands that print JSON share. */
#ifndef CLIENTS_CLI_JSON_OUTPUT_H
#define CLIENTS_CLI_JSON_OUTPUT_H

#include "wire/event_types.h"

struct json_object;

/* Prints an object on one line of standard output, and lets go of it. */
void json_print(struct json_object *object);
/* "LINE:NUMBER", or null (NULL) where there is none. */
struct json_object *json_event_id(struct event_id ref);

#endif
