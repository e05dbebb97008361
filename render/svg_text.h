/* What Cairo's SVG surface cannot write: text that stays text, and titles of marks, which a browser
 * shows where one points.
 *
 * While it is open, lettering is not painted but kept, with where it would have stood; so are
 * marks.  Then both are put behind what Cairo has drawn. */
#ifndef RENDER_SVG_TEXT_H
#define RENDER_SVG_TEXT_H

#include "render/scene.h"

#include <cairo.h>
#include <stdio.h>

struct svg;
struct svg *svg_open(void);
/* The marks of a scene between two x of it, as `cr` is transformed and clipped now; words: new
 * memory, NULL none. */
void svg_marks(struct svg *svg, cairo_t *cr, const struct scene *scene, double from_pt,
               double to_pt, char *(*words)(void *context, const struct scene_mark *mark),
               void *context);
/* Lettering is painted again. */
void svg_close(struct svg *svg);
/* Writes the document that Cairo made, with the rest in it. */
void svg_write(const struct svg *svg, const char *document, size_t size, FILE *f);
void svg_free(struct svg *svg);

#endif
