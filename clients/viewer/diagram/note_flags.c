#include "clients/viewer/diagram/note_flags.h"

#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/diagram/viewer.h"

#define HIGH_PX 9

void note_flags_draw(struct view *view, cairo_t *cr, const struct note_flags_range *span,
                     double x_px, double width_px)
{
    const struct run_notes *noted = &view->run_notes;
    cairo_set_source_rgb(cr, 0.93, 0.26, 0.2);
    for (uint32_t i = 0; i < noted->notes.count && span->to > span->from; i++) {
        const struct note_moment *m = &noted->moments[i];
        double at = span->by_time ? (double)m->time_ns : (double)m->position,
               x = x_px + (at - span->from) / (span->to - span->from) * width_px;
        if (m->position == NO_POSITION || x < x_px || x > x_px + width_px)
            continue;
        cairo_rectangle(cr, x, 0, 1.5, HIGH_PX + 5);
        cairo_rectangle(cr, x, 0, HIGH_PX, HIGH_PX - 2);
        cairo_fill(cr);
    }
}
