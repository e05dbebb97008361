#include "clients/cli/json_output.h"

#include "clients/metadata/trace_metadata.h"

#include <json-c/json.h>
#include <stdlib.h>

void json_write(FILE *f, struct json_object *object)
{
    fputs(json_object_to_json_string_ext(object,
                                         JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
          f);
    json_object_put(object);
}

void json_write_text(FILE *f, const char *text) { json_write(f, json_object_new_string(text)); }

void json_print(struct json_object *object)
{
    json_write(stdout, object);
    putchar('\n');
}

void json_add_text(struct json_object *object, const char *key, const char *text)
{
    json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

struct json_object *json_take_text(char *text)
{
    struct json_object *o = text ? json_object_new_string(text) : NULL;
    free(text);
    return o;
}

struct json_object *json_event_id(struct event_id ref)
{
    char s[48];
    if (!ref.line)
        return NULL;
    event_id_print(s, sizeof s, ref);
    return json_object_new_string(s);
}
