/* The scene of a web page: where its marks, lines, arrows and words stand, told by marks as far as
 * can be, so that the page can put them elsewhere. */
#ifndef CLIENTS_CLI_HTML_HTML_SCENE_H
#define CLIENTS_CLI_HTML_HTML_SCENE_H

#include "clients/cli/html/html_data.h"
#include "clients/cli/html/html_text.h"
#include "wire/causal_edges.h"

struct kind_of_event { /* a type, as it looks on some kinds of lines */
    uint32_t type;
    const struct target_event *look;
};

struct html_scene {
    const struct html_data *data;
    const struct trace_metadata *book;
    const struct scene *scene;
    FILE *f;
    const struct scene_mark **marks; /* in the order of the log, what is pending at the end */
    uint32_t count;
    const struct scene_mark **by_x;
    uint32_t *place_of; /* of a mark of the scene: its index in `marks` */
    struct causal_edges_info causes;
    uint32_t *asked_of; /* of a mark: its index among the events asked about */
    uint32_t asked;
    struct html_text_strings strings;
    struct kind_of_event *kinds;
    uint32_t kind_count;
    uint32_t *kind_of;
    struct target_color *palette;
    uint32_t color_count;
    double names_pt, shift_pt; /* what is added to every x of the scene */
    uint32_t *sites; /* of a mark: 1 + a string, 0 none */
};

/* Writes the first members of the page's object, its brace and all. */
void html_scene_write(struct html_scene *web);
/* The number of a color in the palette. */
uint32_t html_scene_color_index(struct html_scene *web, struct target_color color);

#endif
