/* Texts laid out with Pango, each once: the same ones come again on every page and every frame.
 * One thread only. */
#ifndef RENDER_TEXT_CACHE_H
#define RENDER_TEXT_CACHE_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

/* Width in points; context is not used (a scene_measure). */
double text_cache_width(void *context, const char *text, double size_pt, bool bold);
/* y: top of the text. */
void text_cache_show(cairo_t *cr, double x, double y, const char *text, double size_pt, bool bold);
/* From now on letters are all as wide, as programs are written; or not. */
void text_cache_code(bool code);
/* How many bytes of a text go into a line that is so wide: up to a blank, or all of it, or its
 * first word. */
size_t text_cache_line(const char *text, double width_pt, double size_pt);
void text_cache_clear(void); /* gives back what is kept */

/* Instead of painting, from now on each text is told with where it would stand; NULL: they are
 * painted again. */
struct text_cache_entry {
    double x, y, baseline, width, size_pt; /* baseline: below y */
    const char *text;
    bool bold, code;
};
void text_cache_divert(void (*take)(void *context, cairo_t *cr,
                                    const struct text_cache_entry *text),
                       void *context);
/* The text in UTF-8, with what is none replaced, and what XML cannot hold; for the caller to
 * free. */
char *text_cache_valid(const char *text);

#endif
