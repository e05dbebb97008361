/* What the commands that print JSON share. */
#ifndef CLIENTS_POET_JSON_H
#define CLIENTS_POET_JSON_H

#include "wire/event.h"

struct json_object;

/* Prints an object on one line of standard output, and lets go of it. */
void json_print(struct json_object *object);
/* "LINE:NUMBER", or null (NULL) where there is none. */
struct json_object *json_event_id(struct event_id ref);

#endif
