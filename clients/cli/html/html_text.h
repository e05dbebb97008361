/* Texts of a trace inside a web page, escaped so that no name in a program can become anything but
 * text. */
#ifndef CLIENTS_CLI_HTML_HTML_TEXT_H
#define CLIENTS_CLI_HTML_HTML_TEXT_H

#include "base/map.h"

#include <stdint.h>
#include <stdio.h>

/* Writes a JSON string, with quotes, that is safe in a script element: it contains no <, > or &,
 * and invalid UTF-8, control characters and those that change the writing direction are replaced by
 * U+FFFD. */
void html_text_json(FILE *f, const char *text);
/* Writes text between tags. */
void html_text_html(FILE *f, const char *text);

/* Distinct strings, by number; zero-initialized: empty. */
struct html_text_strings {
    char **items;
    size_t count, room;
    struct map index;
};

/* Returns the index of a string, which is added if it is new. */
uint32_t html_text_number(struct html_text_strings *strings, const char *text);
void html_text_free(struct html_text_strings *strings);

#endif
