#include "clients/viewer/diagram/event_steps.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/line_groups.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"
#include "wire/query_results.h"
#include "wire/layout_results.h"
#include "wire/event_id.h"
#include "wire/trace_view.h"

#include <math.h>

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

static bool choose_one(struct view *view)
{
    const struct scene_mark *m =
        view->viewport.place.selected.line ? NULL : viewport_middle(&view->viewport);
    if (m)
        selection_set(view, m->event->at, false);
    return m || !view->viewport.place.selected.line;
}

void event_step_along(struct view *view, int step)
{
    if (!choose_one(view))
        event_step_to(view, step < 0 ? STEP_LINE_BACK : STEP_LINE_ON);
}

void event_step_across(struct view *view, int rows)
{
    const struct scene *s = view->scene_cache.scene;
    const struct scene_mark *m = scene_cache_find_mark(&view->scene_cache,
                                                       view->viewport.place.selected),
                            *best = NULL;
    if (choose_one(view) || !m)
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

/* Returns whether they are one synchronization point: a sync pair, or in one group. */
static bool same_point(const struct event_info *a, const struct event_info *b)
{
    if (a->group && a->group == b->group)
        return true;
    return a->relation == RELATION_SYNC && a->partner_count == 1 &&
           event_id_equal(a->partners[0], b->at);
}

/* Goes to the next synchronization point that is drawn, in the order of the log: not to events
 * inside line groups or collapsed repeats. */
void event_step_recorded(struct view *view, int step)
{
    const struct scene_mark *m =
        scene_cache_find_mark(&view->scene_cache, view->viewport.place.selected);
    if (choose_one(view) || !m)
        return;
    const struct scene *s = view->scene_cache.scene;
    const struct scene_mark *best = NULL;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *o = &s->marks[i];
        if (o->event->position == NO_POSITION || same_point(o->event, m->event))
            continue;
        if (step > 0 ? o->event->position > m->event->position &&
                           (!best || o->event->position < best->event->position)
                     : o->event->position < m->event->position &&
                           (!best || o->event->position > best->event->position))
            best = o;
    }
    if (best)
        go_to_neighbor(view, best->event->at, best->event->position);
    else if (m->event->position != NO_POSITION) /* beyond the window */
        event_step_request_recorded(view, m->event->position + (step > 0), step < 0, true);
}

void event_step_recorded_into(struct view *view, int step)
{
    const struct scene_mark *m =
        scene_cache_find_mark(&view->scene_cache, view->viewport.place.selected);
    if (choose_one(view) || !m || m->event->position == NO_POSITION)
        return;
    event_step_request_recorded(view, m->event->position + (step > 0), step < 0, false);
}
