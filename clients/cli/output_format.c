#include "clients/cli/output_format.h"

#include "clients/metadata/trace_metadata.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum output_format output_format_of(const char *file)
{
    static const char *const suffixes[OUTPUT_NO_FORMAT] = {".txt", ".json", ".csv", ".pdf",
                                                           ".svg", ".png",  ".html"};
    size_t n = strlen(file);
    for (int i = 0; i < OUTPUT_NO_FORMAT; i++) {
        size_t length = strlen(suffixes[i]);
        if (n > length && strcasecmp(file + n - length, suffixes[i]) == 0)
            return (enum output_format)i;
    }
    return OUTPUT_NO_FORMAT;
}

bool output_format_is_picture(enum output_format format)
{
    return format == OUTPUT_PDF || format == OUTPUT_SVG || format == OUTPUT_PNG;
}

enum document_format output_format_document(enum output_format format)
{
    return format == OUTPUT_SVG ? DOCUMENT_SVG : format == OUTPUT_PNG ? DOCUMENT_PNG : DOCUMENT_PDF;
}

int output_format_print(const struct command *command, const char *file,
                        void (*print)(const void *what, FILE *f), const void *what)
{
    FILE *f = file ? fopen(file, "we") : stdout;
    if (!f)
        return command_fail(command, "%s: %s", file, strerror(errno));
    print(what, f);
    bool bad = ferror(f);
    if (file)
        bad |= fclose(f) != 0;
    return bad && file ? command_fail(command, "%s: %s", file, strerror(errno)) : EXIT_DONE;
}

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
