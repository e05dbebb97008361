#include "render/paper_rows.h"

#include <math.h>
#include <string.h>

struct paper_rows {
    const struct scene *scene;
    double from_pt, to_pt;
    bool *kept;
};

static void paper_rows_keep(const struct paper_rows *b, double row)
{
    if (row >= 0 && row < b->scene->row_count)
        b->kept[(uint32_t)row] = true;
}

static void paper_rows_keep_part(const struct paper_rows *b, uint32_t row, double from_pt,
                                 double to_pt)
{
    if (from_pt < b->to_pt && to_pt > b->from_pt)
        paper_rows_keep(b, row);
}

/* Keeps the rows from one end of a line to the other, of what lies in the band. */
static void paper_rows_keep_line(const struct paper_rows *b, double x0, double y0, double x1,
                                 double y1)
{
    const struct scene *s = b->scene;
    if (x0 > x1) {
        paper_rows_keep_line(b, x1, y1, x0, y0);
        return;
    }
    if (x1 < b->from_pt || x0 > b->to_pt || !s->row_count)
        return;
    double slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0, begin = fmax(x0, b->from_pt),
           end = fmin(x1, b->to_pt);
    double above = x1 > x0 ? y0 + slope * (begin - x0) : y0,
           below = x1 > x0 ? y0 + slope * (end - x0) : y1;
    double first = (fmin(above, below) - s->rows[0].y_pt) / s->row_pt,
           last = (fmax(above, below) - s->rows[0].y_pt) / s->row_pt;
    for (double row = floor(first + 0.5); row <= floor(last + 0.5); row++)
        paper_rows_keep(b, row);
}

static const struct scene_mark *paper_rows_mark(const struct scene *scene, struct event_id at)
{
    for (uint32_t i = 0; i < scene->mark_count; i++)
        if (scene->marks[i].event && event_id_equal(scene->marks[i].event->at, at))
            return &scene->marks[i];
    return NULL;
}

static void paper_rows_keep_deadlock(const struct paper_rows *b, const struct paint_selection *s)
{
    for (size_t i = 0; i + 1 < s->stuck_count; i += 2) {
        const struct scene_mark *waits = paper_rows_mark(b->scene, s->stuck[i]),
                                *held = paper_rows_mark(b->scene, s->stuck[i + 1]);
        if (waits && held)
            paper_rows_keep_line(b, waits->x_pt, waits->y_pt, held->x_pt, held->y_pt);
    }
}

uint32_t paper_rows_find(const struct scene *scene, const struct paint_selection *selection,
                         double from_pt, double to_pt, bool *kept)
{
    struct paper_rows b = {scene, from_pt, to_pt, kept};
    uint32_t count = 0;
    memset(kept, 0, scene->row_count * sizeof *kept);
    for (uint32_t i = 0; i < scene->segment_count; i++)
        if (scene->segments[i].style != STYLE_NONE)
            paper_rows_keep_part(&b, scene->segments[i].row, scene->segments[i].from_pt,
                                 scene->segments[i].to_pt);
    for (uint32_t i = 0; i < scene->mark_count; i++)
        paper_rows_keep_part(&b, scene->marks[i].row, scene->marks[i].x_pt - SCENE_MARK_PT / 2,
                             scene->marks[i].x_pt + SCENE_MARK_PT / 2);
    for (uint32_t i = 0; i < scene->bar_count; i++)
        paper_rows_keep_part(&b, scene->bars[i].row, scene->bars[i].from_pt, scene->bars[i].to_pt);
    for (uint32_t i = 0; i < scene->link_count; i++) {
        const struct scene_link *l = &scene->links[i];
        paper_rows_keep_line(&b, l->x0_pt, l->y0_pt, l->x1_pt, l->y1_pt);
    }
    paper_rows_keep_deadlock(&b, selection);
    for (uint32_t i = 0; i < scene->row_count; i++)
        count += kept[i] |= scene->rows[i].heading || (scene->tick_count && i == 0);
    if (!count)
        memset(kept, true, scene->row_count * sizeof *kept);
    return count ? count : scene->row_count;
}
