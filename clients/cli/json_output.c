#include "clients/cli/json_output.h"

#include "clients/metadata/trace_metadata.h"

#include <json-c/json.h>
#include <stdio.h>

void json_print(struct json_object *object)
{
    puts(json_object_to_json_string_ext(object,
                                        JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(object);
}

struct json_object *json_event_id(struct event_id ref)
{
    char s[48];
    if (!ref.line)
        return NULL;
    event_id_print(s, sizeof s, ref);
    return json_object_new_string(s);
}
