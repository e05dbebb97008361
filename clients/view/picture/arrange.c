#include "clients/view/picture/arrange.h"

#include "clients/source/label.h"
#include "clients/source/place.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/rows.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/event.h"
#include "wire/shown.h"

void arrange_all(struct view *view)
{
    rows_begin(view, "all");
    if (the_book(view)->some)
        view->camera.place.row_count = 0; /* those that have events, again */
    for (uint32_t i = 0; i < view->camera.place.row_count; i++)
        view->camera.place.rows[i].hidden = false;
    rows_done(view);
}

static uint32_t count_shown(const struct place *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->row_count; i++)
        n += !p->rows[i].hidden;
    return n;
}

void arrange_hide(struct view *view, uint32_t line)
{
    struct place *p = &view->camera.place;
    rows_begin(view, "hide");
    uint32_t i = rows_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = rows_first(p, i), end = rows_end(p, first);
    if (count_shown(p) <= end - first) {
        status_say(&view->status, "The last line stays");
        return;
    }
    for (uint32_t k = first; k < end; k++)
        p->rows[k].hidden = true;
    rows_done(view);
    status_say(&view->status,
               "Order through the hidden line stays drawn; Ctrl+Shift+H shows all lines");
}

void arrange_hide_pattern(struct view *view, const char *pattern)
{
    struct place *p = &view->camera.place;
    uint32_t shown = 0, hidden = 0;
    rows_begin(view, "hide");
    for (uint32_t i = 0; i < p->row_count; i++)
        shown += !p->rows[i].hidden;
    for (uint32_t i = 0; i < p->row_count && shown > 1; i++)
        if (!p->rows[i].hidden &&
            label_is_called(the_book(view), view->link.sites, p->rows[i].line, pattern)) {
            p->rows[i].hidden = true;
            shown--;
            hidden++;
        }
    status_say(&view->status, "%u lines called %s are hidden; Ctrl+Shift+H shows all", hidden,
               pattern);
    rows_done(view);
}

/* Only lines that the selected event is tied to, in the picture. */
void arrange_only(struct view *view)
{
    struct place *p = &view->camera.place;
    const struct scene *s = view->stage.scene;
    const struct scene_mark *m = stage_mark(&view->stage, p->selected);
    if (!m || !view->stage.coloured) {
        status_say(&view->status, "Select an event first");
        return;
    }
    rows_begin(view, "only");
    bool *tied = g_new0(bool, s->row_count + 1);
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].event->stands != STANDS_AS(ORDER_CONCURRENT))
            tied[s->marks[i].row] = true;
    for (uint32_t i = 0; i < s->row_count; i++) {
        uint32_t at = rows_index(p, s->rows[i].line);
        if (at == p->row_count || tied[i])
            continue;
        for (uint32_t k = at; k < rows_end(p, at); k++)
            p->rows[k].hidden = true;
    }
    g_free(tied);
    rows_done(view);
}

void arrange_drop(struct view *view, uint32_t line, uint32_t before)
{
    struct place *p = &view->camera.place;
    if (line == before)
        return;
    rows_begin(view, "drag");
    uint32_t i = rows_index(p, line), to = before ? rows_index(p, before) : p->row_count;
    if (i == p->row_count)
        return;
    uint32_t first = rows_first(p, i), end = rows_end(p, first);
    to = to < p->row_count ? rows_first(p, to) : to;
    if (to < first || to > end)
        rows_carry(p, first, end, to);
    rows_done(view);
}

void arrange_shift(struct view *view, uint32_t line, int by)
{
    struct place *p = &view->camera.place;
    rows_begin(view, "shift");
    uint32_t i = rows_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = rows_first(p, i), end = rows_end(p, first);
    uint32_t to = by < 0               ? (first ? rows_first(p, first - 1) : 0)
                  : end < p->row_count ? rows_end(p, end)
                                       : end;
    if (to != first && to != end)
        rows_carry(p, first, end, to);
    rows_done(view);
}

void arrange_pin(struct view *view, uint32_t line)
{
    struct place *p = &view->camera.place;
    rows_begin(view, "pin");
    uint32_t i = rows_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = rows_first(p, i), end = rows_end(p, first), to = 0;
    bool pins = !p->rows[first].pinned;
    while (to < p->row_count && p->rows[to].pinned)
        to++;
    for (uint32_t k = first; k < end; k++)
        p->rows[k].pinned = pins;
    if (to != first && to != end)
        rows_carry(p, first, end, to);
    rows_done(view);
    status_say(&view->status, "%s %s", book_label(the_book(view), line),
               pins ? "stays on top" : "scrolls with the others");
}

static bool is_among(uint32_t line, const uint32_t *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (lines[i] == line)
            return true;
    return false;
}

void arrange_keep(struct view *view, const uint32_t *lines, uint32_t count)
{
    struct place *p = &view->camera.place;
    rows_begin(view, "only");
    for (uint32_t first = 0, end; first < p->row_count; first = end) {
        end = rows_end(p, first);
        bool keeps = p->rows[first].pinned;
        for (uint32_t k = first; k < end; k++)
            keeps |= is_among(p->rows[k].line, lines, count);
        for (uint32_t k = first; k < end && !keeps; k++)
            p->rows[k].hidden = true;
    }
    rows_done(view);
}
