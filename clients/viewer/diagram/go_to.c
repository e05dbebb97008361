#include "clients/viewer/diagram/go_to.h"

#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"
#include "wire/layout_results.h"
#include "wire/query_results.h"
#include "wire/trace_view.h"

#include <math.h>

#define AROUND_PX 60 /* least distance of a selected event from the edges */

static void go_to_scroll_into_view(struct view *view, const struct scene_mark *m)
{
    double names = viewport_names_px(&view->viewport), width = viewport_along_px(&view->viewport),
           height = viewport_across_px(&view->viewport);
    double x = viewport_x_px(&view->viewport, m), y = viewport_y_px(&view->viewport, m->row),
           to = x;
    double room = MIN(AROUND_PX, (width - names) / 4);
    if (x < names + room)
        to = names + room;
    else if (x > width - room)
        to = width - room;
    if (to != x)
        scroll_to(view, viewport_left_pt(&view->viewport) + (x - to) / view->viewport.place.zoom);
    double least = viewport_band_px(&view->viewport);
    if (m->row >= view->scene_cache.pinned && (y < least + 10 || y > height - 10))
        row_scrollbar_scroll_to(view, view->viewport.place.rise_pt +
                                          (y - (least + height) / 2) / view->viewport.place.zoom);
}

static void go_to_select_and_show(struct view *view, struct event_id at, uint64_t position,
                                  bool center)
{
    const struct scene_mark *m =
        view->viewport.place.overview ? NULL : scene_cache_find_mark(&view->scene_cache, at);
    bool stays = m && (!center || viewport_sees(&view->viewport, m));
    view->diagram_view.leaving = !stays;
    selection_set(view, at, false);
    if (stays) {
        go_to_scroll_into_view(view, m);
        return;
    }
    scroll_anchor_set_event(&view->viewport, at, position);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

void go_to_event(struct view *view, struct event_id at, uint64_t position)
{
    history_mark(&view->history, "jump");
    go_to_select_and_show(view, at, position, true);
}

void go_to_position(struct view *view, uint64_t position)
{
    history_mark(&view->history, "position");
    scroll_anchor_set_position(&view->viewport, position);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

void go_to_time(struct view *view, int64_t ns)
{
    history_mark(&view->history, "time");
    scroll_anchor_set_time(&view->viewport, ns);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
}

/* Selects a neighbor: scrolls no more than necessary, and only the selection can be undone. */
static void go_to_neighbor(struct view *view, struct event_id at, uint64_t position)
{
    go_to_select_and_show(view, at, position, false);
}

/* ---- steps from the selected event ---- */

/* Goes to the event in the answer; into: ungroups the line group that contains it. */
static void event_step_receive_neighbor(struct view *view, const struct response_chunk *answer,
                                        bool into)
{
    struct search_result found;
    if (answer->part != RESPONSE_FOUND)
        return;
    decode_search_result(answer->in, &found);
    bool good = decoder_finish(answer->in);
    uint32_t line = found.hit_count ? found.hits[0].at.line : 0;
    if (good && into && line && !scene_cache_find_mark(&view->scene_cache, found.hits[0].at) &&
        line_groups_contains(view, line))
        line_groups_split(view, line);
    if (good && found.hit_count)
        go_to_neighbor(view, found.hits[0].at, found.hits[0].position);
    else if (good && found.done)
        status_line_show(&view->status_line, "No more events in that direction");
    search_result_free(&found);
}

static void event_step_receive(void *view, const struct response_chunk *answer)
{
    event_step_receive_neighbor(view, answer, false);
}
static void event_step_receive_recorded(void *view, const struct response_chunk *answer)
{
    event_step_receive_neighbor(view, answer, true);
}

void event_step_to(struct view *view, enum neighbor_step step)
{
    struct encoder body = {0};
    encode_event_id(&body, view->viewport.place.selected);
    encode_u8(&body, (uint8_t)step);
    request_slot_send(&view->server_link, &view->event_step.asked, REQUEST_NEIGHBOR, &body,
                      event_step_receive, view);
}

/* Requests the next event of the log; shown: only on visible lines. */
static void event_step_request_recorded(struct view *view, uint64_t from, bool back, bool shown)
{
    const struct window_info *w = &view->scene_cache.window;
    struct encoder body = {0};
    struct search_request request = {
        .from = from, .backwards = back, .limit = 1, .text = (char *)(guintptr) ""};
    uint32_t lines = 0;
    for (uint32_t i = 0; i < w->row_count; i++)
        lines += 1 + w->rows[i].member_count;
    request.lines = g_new(uint32_t, lines + 1);
    for (uint32_t i = 0; shown && i < w->row_count; i++) {
        request.lines[request.line_count++] = w->rows[i].line;
        for (uint32_t k = 0; k < w->rows[i].member_count; k++)
            request.lines[request.line_count++] = w->rows[i].members[k];
    }
    encode_search_request(&body, &request);
    g_free(request.lines);
    request_slot_send(&view->server_link, &view->event_step.asked, REQUEST_SEARCH, &body,
                      event_step_receive_recorded, view);
}

/* Selects an event if none is selected; returns whether there is nothing to step from. */
static bool event_step_choose_first(struct view *view)
{
    const struct scene_mark *m =
        view->viewport.place.selected.line ? NULL : viewport_middle(&view->viewport);
    if (m)
        selection_set(view, m->event->at, false);
    return m || !view->viewport.place.selected.line;
}

void event_step_along(struct view *view, int step)
{
    if (!event_step_choose_first(view))
        event_step_to(view, step < 0 ? STEP_LINE_BACK : STEP_LINE_ON);
}

void event_step_across(struct view *view, int rows)
{
    const struct scene *s = view->scene_cache.scene;
    const struct scene_mark *m = scene_cache_find_mark(&view->scene_cache,
                                                       view->viewport.place.selected),
                            *best = NULL;
    if (event_step_choose_first(view) || !m)
        return;
    for (int row = (int)m->row + rows; row >= 0 && row < (int)s->row_count && !best; row += rows)
        for (uint32_t i = 0; i < s->mark_count; i++) {
            const struct scene_mark *o = &s->marks[i];
            if ((int)o->row == row &&
                (!best || fabs(o->x_pt - m->x_pt) < fabs(best->x_pt - m->x_pt)))
                best = o;
        }
    if (best)
        go_to_neighbor(view, best->event->at, best->event->position);
}

void event_step_partner(struct view *view)
{
    const struct scene_mark *m =
        scene_cache_find_mark(&view->scene_cache, view->viewport.place.selected);
    if (!m || !m->event->partner_count) {
        status_line_show(&view->status_line,
                         m ? "This event has no partner" : "No event is selected");
        return;
    }
    struct event_id at = m->event->partners[0];
    if (at.line & HIDDEN_LINE)
        status_line_show(&view->status_line, "Its partner is on a line that is never shown");
    else
        go_to_neighbor(view, at, NO_POSITION);
}

void event_step_recorded(struct view *view, int step)
{
    const struct scene_mark *m =
        scene_cache_find_mark(&view->scene_cache, view->viewport.place.selected);
    if (event_step_choose_first(view) || !m)
        return;
    const struct scene *s = view->scene_cache.scene;
    const struct scene_mark *best = NULL;
    uint64_t edge = m->event->position; /* of its point, on the side to which it steps */
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *o = &s->marks[i];
        if (o->event->position == NO_POSITION)
            continue;
        if (event_info_same_point(o->event, m->event)) {
            edge = step > 0 ? MAX(edge, o->event->position) : MIN(edge, o->event->position);
            continue;
        }
        if (step > 0 ? o->event->position > m->event->position &&
                           (!best || o->event->position < best->event->position)
                     : o->event->position < m->event->position &&
                           (!best || o->event->position > best->event->position))
            best = o;
    }
    /* along time, events in between may be at times beyond the window */
    if (best && !view->viewport.place.column_ns)
        go_to_neighbor(view, best->event->at, best->event->position);
    else if (m->event->position != NO_POSITION)
        event_step_request_recorded(view, edge + (step > 0), step < 0, true);
}

void event_step_recorded_into(struct view *view, int step)
{
    const struct scene_mark *m =
        scene_cache_find_mark(&view->scene_cache, view->viewport.place.selected);
    if (event_step_choose_first(view) || !m || m->event->position == NO_POSITION)
        return;
    event_step_request_recorded(view, m->event->position + (step > 0), step < 0, false);
}
