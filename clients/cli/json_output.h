/* JSON output of commands: objects on a line, event ids and texts. */
#ifndef CLIENTS_CLI_JSON_OUTPUT_H
#define CLIENTS_CLI_JSON_OUTPUT_H

#include "wire/event_types.h"

#include <stdio.h>

struct json_object;

/* Writes an object without spaces or the end of a line, and frees it. */
void json_write(FILE *f, struct json_object *object);
void json_write_text(FILE *f, const char *text); /* as a JSON string */
/* Prints an object on one line of standard output, and frees it. */
void json_print(struct json_object *object);
/* Adds a text to an object; NULL: null. */
void json_add_text(struct json_object *object, const char *key, const char *text);
/* Returns a text, which it frees, as a string; NULL: null. */
struct json_object *json_take_text(char *text);
/* Returns "LINE:NUMBER", or null (NULL) if there is no event. */
struct json_object *json_event_id(struct event_id ref);

#endif
