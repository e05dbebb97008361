/* The scene of a diagram: what `poet export` and `poet show` draw of the requested window. */
#ifndef CLIENTS_CLI_DIAGRAM_SCENE_H
#define CLIENTS_CLI_DIAGRAM_SCENE_H

#include "clients/cli/diagram.h"
#include "render/scene_paint.h"

#include <stdio.h>

/* measured: for paper, with real text widths; else for a terminal. legend_width_pt: maximum width
 * of the legend, 0: that of the drawing. Free with scene_free(). */
struct scene *diagram_scene_options(const struct event_diagram *picture,
                                    const struct trace_metadata *book, bool measured,
                                    double legend_width_pt);
/* Returns what is highlighted in a view. */
struct paint_selection diagram_scene_selection(const struct event_diagram *picture);
/* With --all, extends the window to the whole run. Returns false after reporting an error. */
bool diagram_scene_all(const struct command *command, struct event_diagram *picture,
                       struct command_source *subject);
/* Prints below a text diagram which lines have no row, if any. */
void diagram_scene_note(const struct event_diagram *picture, FILE *f);

#endif
