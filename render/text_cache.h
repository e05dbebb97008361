/* Cache of text layouts made with Pango: the same texts occur on every page and in every frame. Not
 * thread-safe. */
#ifndef RENDER_TEXT_CACHE_H
#define RENDER_TEXT_CACHE_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns the width in points; context is not used (a scene_measure). */
double text_cache_width(void *context, const char *text, double size_pt, bool bold);
/* y: top of the text. */
void text_cache_show(cairo_t *cr, double x, double y, const char *text, double size_pt, bool bold);
/* Selects a monospace font from now on, or deselects it. */
void text_cache_code(bool code);
/* Returns the number of bytes of a text that fit a line of this width: up to a blank, or all of it,
 * or its first word. */
size_t text_cache_line(const char *text, double width_pt, double size_pt);
void text_cache_clear(void); /* frees all entries */

/* From now on, each text is passed to a callback with its position instead of being painted; NULL:
 * texts are painted again. */
struct text_cache_entry {
    double x, y, baseline, width, size_pt; /* baseline: below y */
    const char *text;
    bool bold, code;
};
void text_cache_divert(void (*take)(void *context, cairo_t *cr,
                                    const struct text_cache_entry *text),
                       void *context);
/* Returns the text as valid UTF-8 without characters that XML cannot contain; the caller frees
 * it. */
char *text_cache_valid(const char *text);

#endif
