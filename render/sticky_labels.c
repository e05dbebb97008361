/* Labels that move along their interval, so that none is cut at the edge of the diagram. */
#include "base/alloc.h"
#include "render/text_cache.h"
#include "render/scene_paint.h"
#include "render/painter.h"

#include <stdlib.h>
#include <string.h>

#define EDGE_PT 3.0
#define LEAST_PT 40.0 /* minimum space; with less no label is painted */

/* Returns the text, cut to fit; the caller frees it. */
static char *sticky_labels_fitting_text(const struct scene_text *t, double room)
{
    size_t n = strlen(t->text);
    char *s = xmalloc(n + 4);
    memcpy(s, t->text, n + 1);
    while (n && text_cache_width(NULL, s, t->size_pt, t->bold) > room) {
        n--;
        while (n && (s[n] & 0xc0) == 0x80)
            n--;
        memcpy(s + n, "…", 4);
    }
    return s;
}

static void sticky_labels_paint_label(const struct painter *p, const struct scene_text *t)
{
    double edge = p->from + EDGE_PT, x = t->x_pt > edge ? t->x_pt : edge, room = t->until_pt - x;
    bool whole = x + t->width_pt <= t->until_pt || x == t->x_pt;
    if (!whole && (t->followed || room < LEAST_PT))
        return;
    char *fits = whole ? NULL : sticky_labels_fitting_text(t, room);
    painter_color(p, t->color);
    painter_text(p, x, t->y_pt, fits ? fits : t->text, t->size_pt, t->bold);
    free(fits);
}

void sticky_labels_paint(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                         const struct paint_part *part)
{
    struct painter p = {.cr = cr,
                        .scene = scene,
                        .theme = theme,
                        .part = part,
                        .from = part->from_pt,
                        .to = part->to_pt,
                        .alpha = 1};
    if (part->last_row <= part->first_row)
        return;
    double above = scene->rows[part->first_row].y_pt - scene->row_pt,
           below = scene->rows[part->last_row - 1].y_pt;
    for (uint32_t i = 0; i < scene->text_count; i++) {
        const struct scene_text *t = &scene->texts[i];
        if (t->until_pt > part->from_pt && t->x_pt < part->to_pt && t->y_pt > above &&
            t->y_pt < below)
            sticky_labels_paint_label(&p, t);
    }
}
