#include "clients/viewer/diagram/line_arrangement.h"

#include "clients/connection/line_labels.h"
#include "clients/connection/view_state.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

void line_arrangement_show_all(struct view *view)
{
    row_requests_begin(view, "all");
    if (view_metadata(view)->some)
        view->viewport.place.row_count = 0; /* back to lines with events */
    for (uint32_t i = 0; i < view->viewport.place.row_count; i++)
        view->viewport.place.rows[i].hidden = false;
    row_requests_done(view);
}

static uint32_t count_shown(const struct view_state *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->row_count; i++)
        n += !p->rows[i].hidden;
    return n;
}

void line_arrangement_hide(struct view *view, uint32_t line)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "hide");
    uint32_t i = row_requests_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first);
    if (count_shown(p) <= end - first) {
        status_line_show(&view->status_line, "The last line cannot be hidden");
        return;
    }
    for (uint32_t k = first; k < end; k++)
        p->rows[k].hidden = true;
    row_requests_done(view);
    status_line_show(
        &view->status_line,
        "Ordering via the hidden line is still drawn (dashed); Ctrl+Shift+H shows all lines");
}

void line_arrangement_hide_pattern(struct view *view, const char *pattern)
{
    struct view_state *p = &view->viewport.place;
    uint32_t shown = 0, hidden = 0;
    row_requests_begin(view, "hide");
    for (uint32_t i = 0; i < p->row_count; i++)
        shown += !p->rows[i].hidden;
    for (uint32_t i = 0; i < p->row_count && shown > 1; i++)
        if (!p->rows[i].hidden && line_label_matches(view_metadata(view), view->server_link.sites,
                                                     p->rows[i].line, pattern)) {
            p->rows[i].hidden = true;
            shown--;
            hidden++;
        }
    status_line_show(&view->status_line, "%u lines named %s hidden; Ctrl+Shift+H shows all", hidden,
                     pattern);
    row_requests_done(view);
}

/* Hides rows that have no visible event ordered with the selected one. */
void line_arrangement_show_tied(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    const struct scene *s = view->scene_cache.scene;
    const struct scene_mark *m = scene_cache_find_mark(&view->scene_cache, p->selected);
    if (!m || !view->scene_cache.colored) {
        status_line_show(&view->status_line, "Select an event first");
        return;
    }
    row_requests_begin(view, "only");
    bool *tied = g_new0(bool, s->row_count + 1);
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].event->to_selected != RELATION_CODE(ORDER_CONCURRENT))
            tied[s->marks[i].row] = true;
    for (uint32_t i = 0; i < s->row_count; i++) {
        uint32_t at = row_requests_index(p, s->rows[i].line);
        if (at == p->row_count || tied[i])
            continue;
        for (uint32_t k = at; k < row_requests_end(p, at); k++)
            p->rows[k].hidden = true;
    }
    g_free(tied);
    row_requests_done(view);
}

void line_arrangement_move_before(struct view *view, uint32_t line, uint32_t before)
{
    struct view_state *p = &view->viewport.place;
    if (line == before)
        return;
    row_requests_begin(view, "drag");
    uint32_t i = row_requests_index(p, line),
             to = before ? row_requests_index(p, before) : p->row_count;
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first);
    to = to < p->row_count ? row_requests_first(p, to) : to;
    if (to < first || to > end)
        row_requests_move(p, first, end, to);
    row_requests_done(view);
}

void line_arrangement_move(struct view *view, uint32_t line, int by)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "shift");
    uint32_t i = row_requests_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first);
    uint32_t to = by < 0               ? (first ? row_requests_first(p, first - 1) : 0)
                  : end < p->row_count ? row_requests_end(p, end)
                                       : end;
    if (to != first && to != end)
        row_requests_move(p, first, end, to);
    row_requests_done(view);
}

void line_arrangement_toggle_pin(struct view *view, uint32_t line)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "pin");
    uint32_t i = row_requests_index(p, line);
    if (i == p->row_count)
        return;
    uint32_t first = row_requests_first(p, i), end = row_requests_end(p, first), to = 0;
    bool pins = !p->rows[first].pinned;
    while (to < p->row_count && p->rows[to].pinned)
        to++;
    for (uint32_t k = first; k < end; k++)
        p->rows[k].pinned = pins;
    if (to != first && to != end)
        row_requests_move(p, first, end, to);
    row_requests_done(view);
    status_line_show(&view->status_line, "%s %s", metadata_label(view_metadata(view), line),
                     pins ? "pinned" : "unpinned");
}

static bool is_among(uint32_t line, const uint32_t *lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (lines[i] == line)
            return true;
    return false;
}

void line_arrangement_keep_lines(struct view *view, const uint32_t *lines, uint32_t count)
{
    struct view_state *p = &view->viewport.place;
    row_requests_begin(view, "only");
    for (uint32_t first = 0, end; first < p->row_count; first = end) {
        end = row_requests_end(p, first);
        bool keeps = p->rows[first].pinned;
        for (uint32_t k = first; k < end; k++)
            keeps |= is_among(p->rows[k].line, lines, count);
        for (uint32_t k = first; k < end && !keeps; k++)
            p->rows[k].hidden = true;
    }
    row_requests_done(view);
}
