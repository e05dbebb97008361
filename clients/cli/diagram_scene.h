/* The scene of a picture: what `poet export` and `poet show` draw of the window that was asked
 * for. */
#ifndef CLIENTS_CLI_DIAGRAM_SCENE_H
#define CLIENTS_CLI_DIAGRAM_SCENE_H

#include "clients/cli/diagram.h"
#include "render/scene_paint.h"

#include <stdio.h>

/* measured: for paper, in letters as wide as they are; else for a terminal.  legend_width_pt: as
 * wide as the legend may be, 0 as the drawing.  scene_free() it. */
struct scene *diagram_scene_options(const struct event_diagram *picture,
                                    const struct trace_metadata *book, bool measured,
                                    double legend_width_pt);
/* What stands out in a view. */
struct paint_selection diagram_scene_selection(const struct event_diagram *picture);
/* With --all more than was asked for at first: as far as the run goes.  False with a complaint. */
bool diagram_scene_all(const struct command *command, struct event_diagram *picture,
                       struct command_source *subject);
/* Below a text: which lines have no row, if any. */
void diagram_scene_note(const struct event_diagram *picture, FILE *f);

#endif
