/* Texts of a trace inside a web page: nothing that a program called itself becomes anything but
 * text. */
#ifndef CLIENTS_CLI_HTML_HTML_TEXT_H
#define CLIENTS_CLI_HTML_HTML_TEXT_H

#include "base/map.h"

#include <stdint.h>
#include <stdio.h>

/* As a string of JSON, quotes and all, that may stand in a script element: there is no <, > or & in
 * it, what is not UTF-8, a control character, or one that turns the direction of text, is replaced
 * by U+FFFD. */
void html_text_json(FILE *f, const char *text);
/* As text between tags. */
void html_text_html(FILE *f, const char *text);

/* Strings, each once; zero-initialised: empty. */
struct html_text_strings {
    char **items;
    size_t count, room;
    struct map index;
};

uint32_t html_text_number(struct html_text_strings *strings, const char *text); /* its index */
void html_text_free(struct html_text_strings *strings);

#endif
