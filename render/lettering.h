/* Texts laid out with Pango, each once: the same ones come again on every page and every frame.
 * One thread only. */
#ifndef RENDER_LETTERING_H
#define RENDER_LETTERING_H

#include <cairo.h>
#include <stdbool.h>

/* Width in points; context is not used (a scene_measure). */
double lettering_width(void *context, const char *text, double size_pt, bool bold);
/* y: top of the text. */
void lettering_show(cairo_t *cr, double x, double y, const char *text, double size_pt, bool bold);
void lettering_forget(void); /* gives back what is kept */

#endif
