/* SVG features that Cairo's SVG surface lacks: text that stays text, and tooltips of marks.
 *
 * While it is open, text is not painted but collected with its positions; so are marks. Both are
 * then inserted after what Cairo has drawn. */
#ifndef RENDER_SVG_TEXT_H
#define RENDER_SVG_TEXT_H

#include "render/scene_paint.h"

#include <cairo.h>
#include <stdio.h>

struct svg;
struct svg *svg_open(void);
/* Adds the marks of a part of a scene, with the current transformation and clip of `cr`; words:
 * returns new memory, or NULL. */
void svg_marks(struct svg *svg, cairo_t *cr, const struct scene *scene,
               const struct paint_part *part,
               char *(*words)(void *context, const struct scene_mark *mark), void *context);
/* Text is painted again from now on. */
void svg_close(struct svg *svg);
/* Writes the document that Cairo made, with text and marks inserted. */
void svg_write(const struct svg *svg, const char *document, size_t size, FILE *f);
void svg_free(struct svg *svg);

#endif
