#include "clients/view/picture/picture.h"

#include "clients/source/place.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/cluster.h"
#include "clients/view/picture/colour.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/idle.h"
#include "clients/view/picture/map.h"
#include "clients/view/picture/rows.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/scene.h"
#include "wire/limits.h"
#include "wire/placed.h"

#include <math.h>

/* ---- a scene of the window ---- */

/* Where all rows fit, they grow into the room that is left. */
static double good_row_pt(const struct view *view)
{
    const struct stage *stage = &view->stage;
    return camera_good_row_pt(&view->camera, stage->row_base + stage->window.row_count);
}

static void count_pinned(struct view *view)
{
    const struct shown_window *w = &view->stage.window;
    uint32_t n = 0;
    while (n < w->row_count && rows_is_pinned(&view->camera.place, w->rows[n].line))
        n++;
    view->stage.pinned = n;
}

static bool build(struct view *view)
{
    const struct look *look = &view->settings.look;
    struct scene_options options = {.measure = lettering_width,
                                    .legend = look->legend,
                                    .order_arrows = !look->no_order,
                                    .legend_width_pt = camera_along_px(&view->camera) / 1.25 - 20,
                                    .vertical = camera_vertical(&view->camera),
                                    .column_ns = view->camera.place.column_ns,
                                    .squeeze = look->squeeze,
                                    .threshold_ns = look->threshold_ns,
                                    .noted = view->noted.scene,
                                    .noted_count = view->noted.notes.count,
                                    .row_pt = good_row_pt(view),
                                    .stuck = view->ties.stuck,
                                    .stuck_count = view->ties.stuck_count};
    bool good = stage_build(&view->stage, the_book(view), &options);
    if (good && idle_drop(view)) {
        options.row_pt = good_row_pt(view);
        good = stage_build(&view->stage, the_book(view), &options);
    }
    count_pinned(view);
    return good;
}

void picture_rebuild(struct view *view)
{
    if (!view->stage.scene)
        return;
    build(view);
    gtk_widget_queue_draw(view->canvas);
}

/* From here on it is a fixed place, unless it is the end.  By time its columns are counted from a
 * time, which stays the same whatever rows are drawn: that of an event may be repaired otherwise
 * with other rows, and the run may begin before its first event in the log. */
static void settle(struct view *view)
{
    struct place *p = &view->camera.place;
    p->position = view->stage.window.anchor;
    p->time_ns = p->column_ns ? view->stage.window.time_ns : 0;
    if (p->anchor != ANCHOR_END && !p->follow)
        p->anchor = p->column_ns ? ANCHOR_TIME : ANCHOR_POSITION;
}

#define TOO_MUCH                                                                                   \
    "Too much happened in a column to show all of it: choose a finer "                             \
    "scale, or zoom out to the states"

void picture_tell_much(struct view *view)
{
    const struct place *p = &view->camera.place;
    status_while(&view->status, view->stage.window.unresolved && p->column_ns && !p->far, TOO_MUCH);
}

/* window: ours from now on. */
static void show(struct view *view, struct shown_window *window)
{
    struct stage *stage = &view->stage;
    inquiry_cancel(&view->link, &view->colour.standing);
    shown_window_free(&stage->window);
    stage->window = *window;
    stage->coloured = false;
    if (!build(view))
        return;
    settle(view);
    if (!stage->row_total || stage->row_total < stage->window.row_count)
        stage->row_total = stage->row_base + stage->window.row_count;
    hold_settle(&view->camera);
    bar_update(view);
    if (view->picture.fresh)
        cluster_default(view);
    view->picture.fresh = false;
    news_tell(&view->news, NEWS_PICTURE);
    picture_tell_much(view);
}

/* ---- asking for it ---- */

/* The window that is wanted now, with room on either side to scroll into. */
static void want(struct view *view, struct window_request *request)
{
    uint32_t columns = camera_columns(&view->camera), beside = columns;
    const struct place *p = &view->camera.place;
    place_request(p, request);
    rows_for_request(view, request);
    if (p->follow) {
        request->anchor = ANCHOR_END;
        request->move_count = 0;
        request->from = -(int32_t)(columns + beside);
        request->columns = columns + beside;
        request->middle = 0;
    } else {
        request->from = p->from - (int32_t)beside;
        request->columns = columns + 2 * beside;
    }
    request->columns = MIN(request->columns, LIMIT_COLUMNS);
    request->early = !p->column_ns;
}

#define ROUNDS_MOST 4

static void ask(struct view *view);

/* By time what a place means is known only where its window reaches: one that was asked for
 * elsewhere, and moved the place, is asked for once more there. */
static bool ask_there(struct view *view)
{
    const struct place *p = &view->camera.place;
    struct picture *picture = &view->picture;
    bool moved = p->from != picture->from || p->shift_pt != picture->shift_pt;
    if (!moved || !p->column_ns || p->far || p->follow || picture->rounds >= ROUNDS_MOST)
        return false;
    picture->rounds++;
    ask(view);
    return true;
}

static void take_window(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct shown_window window;
    bool here = inquiry_window_read(answer, &window);
    if (here) {
        struct hold hold = view->camera.hold;
        view->picture.leaving = false;
        rows_taken(view, &window);
        show(view, &window);
        if (window.unresolved && hold.event.line && !stage_mark(&view->stage, hold.event))
            view->camera.hold = hold; /* it may be in what is still looked for */
    }
    if (inquiry_again(&view->picture.placing, answer))
        picture_ask(view);
    else if (answer->last && !ask_there(view))
        colour_ask(view);
    picture_stays(view);
    if (here && rows_by_events(view) && !view->map.density.row_count)
        map_ask(view); /* of the lines that are known by now */
}

void picture_stays(struct view *view)
{
    if (!view->picture.leaving || inquiry_runs(&view->link, &view->picture.placing))
        return;
    view->picture.leaving = false;
    gtk_widget_queue_draw(view->canvas);
}

void picture_ask(struct view *view)
{
    view->picture.rounds = 0;
    if (view->camera.place.far)
        far_ask(view);
    else
        ask(view);
}

static void ask(struct view *view)
{
    struct window_request request;
    if (view->stage.scene && fabs(view->stage.scene->row_pt - good_row_pt(view)) > 0.01)
        picture_rebuild(view); /* it is zoomed, or has another size */
    if (!inquiry_may(&view->link, &view->picture.placing))
        return;
    inquiry_cancel(&view->link, &view->colour.standing); /* of another picture */
    want(view, &request);
    view->picture.from = view->camera.place.from;
    view->picture.shift_pt = view->camera.place.shift_pt;
    inquiry_window(&view->link, &view->picture.placing, &request, take_window, view);
}
