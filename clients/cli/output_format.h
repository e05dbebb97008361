/* Formats of output: of a file, by the suffix of its name, with printing text into one; and JSON.
 * */
#ifndef CLIENTS_CLI_OUTPUT_FORMAT_H
#define CLIENTS_CLI_OUTPUT_FORMAT_H

#include "clients/cli/command.h"
#include "render/document.h"
#include "wire/event_types.h"

#include <stdio.h>

enum output_format {
    OUTPUT_TEXT,
    OUTPUT_JSON,
    OUTPUT_CSV,
    OUTPUT_PDF,
    OUTPUT_SVG,
    OUTPUT_PNG,
    OUTPUT_HTML,
    OUTPUT_NO_FORMAT
};

/* Returns the format that the suffix selects, in upper or lower case. */
enum output_format output_format_of(const char *file);
/* Returns whether it is PDF, SVG or PNG. */
bool output_format_is_picture(enum output_format format);
/* Returns the same format of a document; PDF for those that are not pictures. */
enum document_format output_format_document(enum output_format format);
/* Calls `print` with a file that was opened for writing, or with standard output if `file` is NULL.
 * Returns an exit status, after reporting errors; those of standard output main() reports. */
int output_format_print(const struct command *command, const char *file,
                        void (*print)(const void *what, FILE *f), const void *what);

/* ---- JSON: objects on a line, event ids and texts ---- */

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
