/* The scene of a web page: the places of its marks, lines, arrows and texts, relative to marks
 * where possible, so that the page can move them. */
#ifndef CLIENTS_CLI_HTML_HTML_SCENE_H
#define CLIENTS_CLI_HTML_HTML_SCENE_H

#include "clients/cli/html/html_data.h"
#include "clients/cli/html/html_text.h"
#include "wire/causal_edges.h"

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

#endif
