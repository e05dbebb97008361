#include "clients/view/picture/step.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/cluster.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/select.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/found.h"
#include "wire/placed.h"
#include "wire/ref.h"
#include "wire/shown.h"

#include <math.h>

/* into: the line that it is on may be in a cluster, which is opened then. */
static void stepped(struct view *view, const struct answer *answer, bool into)
{
    struct shown_found found;
    if (answer->part != PART_FOUND)
        return;
    get_found(answer->in, &found);
    bool good = in_done(answer->in);
    uint32_t line = found.hit_count ? found.hits[0].at.line : 0;
    if (good && into && line && !stage_mark(&view->stage, found.hits[0].at) &&
        cluster_has(view, line))
        cluster_split(view, line);
    if (good && found.hit_count)
        jump_beside(view, found.hits[0].at, found.hits[0].position);
    else if (good && found.done)
        status_say(&view->status, "There is none that way");
    shown_found_free(&found);
}

static void take_step(void *view, const struct answer *answer) { stepped(view, answer, false); }
static void take_recorded(void *view, const struct answer *answer) { stepped(view, answer, true); }

void step_to(struct view *view, enum asked_step step)
{
    struct out body = {0};
    put_ref(&body, view->camera.place.selected);
    put_u8(&body, (uint8_t)step);
    inquiry_ask(&view->link, &view->step.asked, ASK_STEP, &body, take_step, view);
}

/* The next event of the log; shown: on a line that is. */
static void ask_recorded(struct view *view, uint64_t from, bool back, bool shown)
{
    const struct shown_window *w = &view->stage.window;
    struct out body = {0};
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
    put_search_request(&body, &request);
    g_free(request.lines);
    inquiry_ask(&view->link, &view->step.asked, ASK_SEARCH, &body, take_recorded, view);
}

static bool choose_one(struct view *view)
{
    const struct scene_mark *m =
        view->camera.place.selected.line ? NULL : camera_middle(&view->camera);
    if (m)
        select_event(view, m->event->at, false);
    return m || !view->camera.place.selected.line;
}

void step_along(struct view *view, int step)
{
    if (!choose_one(view))
        step_to(view, step < 0 ? STEP_LINE_BACK : STEP_LINE_ON);
}

void step_across(struct view *view, int rows)
{
    const struct scene *s = view->stage.scene;
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected),
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
        jump_beside(view, best->event->at, best->event->position);
}

void step_partner(struct view *view)
{
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected);
    if (!m || !m->event->partner_count) {
        status_say(&view->status, m ? "This event has no partner" : "No event is selected");
        return;
    }
    struct ref at = m->event->partners[0];
    if (at.line & HIDDEN_LINE)
        status_say(&view->status, "Its partner is on a line that is never drawn");
    else
        jump_beside(view, at, NO_POSITION);
}

/* Are both ends of a pair, or members of a group: one step? */
static bool same_point(const struct shown_event *a, const struct shown_event *b)
{
    if (a->group && a->group == b->group)
        return true;
    return a->relation == RELATION_SYNC && a->partner_count == 1 &&
           ref_equal(a->partners[0], b->at);
}

/* The next point on a line that is shown, in the order of the recording; over clusters and
 * folds, whose inner events are not drawn, and into what is opened. */
void step_recorded(struct view *view, int step)
{
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected);
    if (choose_one(view) || !m)
        return;
    const struct scene *s = view->stage.scene;
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
        jump_beside(view, best->event->at, best->event->position);
    else if (m->event->position != NO_POSITION) /* beyond what is here */
        ask_recorded(view, m->event->position + (step > 0), step < 0, true);
}

void step_recorded_into(struct view *view, int step)
{
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected);
    if (choose_one(view) || !m || m->event->position == NO_POSITION)
        return;
    ask_recorded(view, m->event->position + (step > 0), step < 0, false);
}
