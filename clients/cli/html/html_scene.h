/* The scene of a web page: the places of its marks, lines, arrows and texts, relative to marks
 * where possible, so that the page can move them. */
#ifndef CLIENTS_CLI_HTML_HTML_SCENE_H
#define CLIENTS_CLI_HTML_HTML_SCENE_H

#include "base/map.h"
#include "clients/cli/command.h"
#include "clients/cli/html/html_data.h"
#include "wire/query_results.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- texts: no name in a program can become anything but text ---- */

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

/* ---- the scene ---- */

struct kind_of_event { /* an event type with one of its styles, which depend on the line */
    uint32_t type;
    const struct target_event *look;
};

struct html_scene {
    const struct html_data *data;
    const struct trace_metadata *book;
    const struct scene *scene;
    FILE *f;
    const struct scene_mark **marks; /* by position in the log; pending events are last */
    uint32_t count;
    const struct scene_mark **by_x;
    uint32_t *place_of; /* by mark of the scene: its index in `marks` */
    struct causal_edges_info causes;
    uint32_t *asked_of; /* by mark: the index of its event in the request for causes */
    uint32_t asked; /* number of events in that request */
    struct html_text_strings strings;
    struct kind_of_event *kinds;
    uint32_t kind_count;
    uint32_t *kind_of;
    struct target_color *palette;
    uint32_t color_count;
    double names_pt, shift_pt; /* shift_pt: added to every x of the scene */
    uint32_t *sites; /* by mark: 1 + index in `strings`; 0: none */
};

/* Writes the opening brace and the first members of the page's object. */
void html_scene_write(struct html_scene *web);
/* Returns the index of a color in the palette, to which it is added if it is new. */
uint32_t html_scene_color_index(struct html_scene *web, struct target_color color);

/* Reasons why events of a web page may be ordered although no traced synchronization orders them:
 * their texts, and which of them apply to which events. */

/* Requests and writes them. Returns false after reporting an error. */
bool html_reasons_write(const struct command *command, struct html_scene *w);

#endif
