/* Asking, and the windows that pictures are made of.  At most one of them is under way; the newest wish
 * replaces any that waits. */
#include "clients/view/view.h"

#include "wire/limits.h"

#include <stdlib.h>

uint32_t link_ask(struct view *view, enum ask what, struct out *body, source_take *take, void *user)
{
    if (view->link.connected)
        return source_ask(&view->link.source, what, body, take, user);
    if (body)
        out_free(body);
    return 0;
}

/* ---- inquiries ---- */

void inquiry_ask(struct view *view, struct inquiry *inquiry, enum ask what, struct out *body,
                 source_take *take)
{
    inquiry_cancel(view, inquiry);
    inquiry->id = link_ask(view, what, body, take, view);
}

bool inquiry_runs(const struct view *view, const struct inquiry *inquiry)
{
    return view->link.connected && source_asks(&view->link.source, inquiry->id);
}

bool inquiry_may(struct view *view, struct inquiry *inquiry)
{
    inquiry->again = inquiry_runs(view, inquiry);
    return !inquiry->again && view->link.connected && view->link.has_run;
}

bool inquiry_again(struct inquiry *inquiry, const struct answer *answer)
{
    bool again = answer->last && inquiry->again;
    inquiry->again &= !again;
    return again;
}

void inquiry_cancel(struct view *view, struct inquiry *inquiry)
{
    if (inquiry_runs(view, inquiry))
        source_cancel(&view->link.source, inquiry->id);
    *inquiry = (struct inquiry){0};
}

/* ---- the picture ---- */

/* The window that is wanted now, with room on either side to scroll into. */
static void want(struct view *view, struct window_request *request)
{
    uint32_t columns = stage_columns(view), beside = columns;
    const struct place *p = &view->place;
    place_request(p, request);
    rows_for_request(view, request);
    if (p->follow) {
        request->anchor = ANCHOR_END;
        request->move_count = 0;
        request->from = -(int32_t)(columns + beside);
        request->columns = columns + beside;
    } else {
        request->from = p->from - (int32_t)beside;
        request->columns = columns + 2 * beside;
    }
    request->columns = MIN(request->columns, LIMIT_COLUMNS);
}

void inquiry_window(struct view *view, struct inquiry *inquiry, struct window_request *request,
                    source_take *take)
{
    struct out body = {0};
    put_window_request(&body, request);
    free(request->rows);
    free(request->joined);
    inquiry_ask(view, inquiry, ASK_WINDOW, &body, take);
}

bool inquiry_window_read(const struct answer *answer, struct shown_window *window)
{
    if (answer->part != PART_WINDOW)
        return false;
    get_window(answer->in, window);
    if (in_done(answer->in))
        return true;
    shown_window_free(window);
    return false;
}

static void take_window(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct shown_window window;
    bool here = inquiry_window_read(answer, &window);
    if (here) {
        rows_taken(view, &window);
        stage_take(view, &window);
    }
    if (inquiry_again(&view->stage.placing, answer))
        link_window(view);
    else
        link_colour(view);
    if (here && rows_by_events(view) && !view->density.row_count)
        map_ask(view); /* of the lines that are known by now */
    if (here)
        window_titles(view);
}

void link_window(struct view *view)
{
    struct window_request request;
    if (view->place.far) {
        far_ask(view);
        return;
    }
    if (!inquiry_may(view, &view->stage.placing))
        return;
    inquiry_cancel(view, &view->stage.standing); /* of another picture */
    want(view, &request);
    inquiry_window(view, &view->stage.placing, &request, take_window);
}

/* ---- how it stands to the selected event ---- */

static void go_on_colouring(struct view *view);

static void take_stands(void *user, const struct answer *answer)
{
    struct view *view = user;
    stands_take(&view->stage.stands, answer);
    if (answer->last && !answer->in->error)
        go_on_colouring(view);
}

static void go_on_colouring(struct view *view)
{
    struct stage *stage = &view->stage;
    struct out body = {0};
    if (stands_ask(&stage->stands, view->place.selected, &body))
        inquiry_ask(view, &stage->standing, ASK_STANDS, &body, take_stands);
    else
        stage_coloured(view);
}

void link_colour(struct view *view)
{
    struct stage *stage = &view->stage;
    if (!view->link.connected || !stage->scene || !view->place.selected.line || !view->place.stands)
        return;
    stage->stands = (struct stands){&stage->window, 0};
    go_on_colouring(view);
}
