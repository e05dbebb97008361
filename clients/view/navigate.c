/* Changes of place: scrolling, zooming, jumping, selecting. */
#include "clients/view/view.h"
#include "memory/memory.h"
#include "wire/ref.h"

#include <math.h>
#include <stdlib.h>

#define AROUND_PX 60 /* a selected event is kept so far from the edges */

/* ---- helpers ---- */

static double scene_begin(const struct scene *s) { return s->names_pt; }

static double scene_end(const struct scene *s)
{
    if (!s->column_count)
        return s->names_pt;
    const struct scene_column *last = &s->columns[s->column_count - 1];
    return last->x_pt + last->right_pt + 10;
}

/* The picture ends where the run does; what is not here yet may lie further on. */
static double clamped(const struct view *view, double left)
{
    const struct scene *s = view->stage.scene;
    const struct shown_window *w = &view->stage.window;
    double width = stage_width(view), begin = scene_begin(s), end = scene_end(s);
    double least = w->more_left ? begin - width : begin;
    double most = w->more_right ? end : end - width;
    return CLAMP(left, least, MAX(least, most));
}

static void leave_follow(struct view *view)
{
    struct place *p = &view->place;
    if (!p->follow)
        return;
    p->follow = false;
    p->anchor = ANCHOR_POSITION; /* which is known from the last window */
    actions_update(view);
}

static bool needs_more(const struct view *view)
{
    const struct scene *s = view->stage.scene;
    const struct shown_window *w = &view->stage.window;
    double left = stage_left(view), width = stage_width(view), room = width / 2;
    return (w->more_left && left < scene_begin(s) + room) ||
           (w->more_right && left + width > scene_end(s) - room);
}

static void forget_moves(struct place *p)
{
    free(p->moves);
    p->moves = NULL;
    p->move_count = 0;
}

static void anchor_at(struct view *view, struct ref at, double x_px)
{
    struct place *p = &view->place;
    double columns = (x_px - stage_names_px(view)) / p->zoom / SCENE_COLUMN_PT;
    leave_follow(view);
    forget_moves(p);
    p->anchor = ANCHOR_EVENT;
    p->event = at;
    p->from = -(int32_t)CLAMP(columns, 0, 100000);
    p->shift_pt = 0;
    p->far = false;
}

/* The mark nearest to the middle of what is seen. */
static const struct scene_mark *middle_mark(const struct view *view)
{
    const struct scene *s = view->stage.scene;
    double y = stage_across_px(view) / 2.0 / view->place.zoom + view->place.rise_pt -
               view->stage.row_base * stage_row_pt(view);
    if (!s)
        return NULL;
    return scene_hit(s, stage_left(view) + stage_width(view) / 2, MIN(y, s->bottom_pt), 1e6);
}

void motion_keep_selected(struct view *view)
{
    const struct scene_mark *m = stage_mark(view, view->place.selected);
    if (!m || !stage_sees(view, m))
        m = middle_mark(view);
    if (!m || view->place.follow)
        return;
    double x = stage_x_px(view, m);
    view->hold = (struct hold){true, m->event->at, m->event->position, x, -1};
    anchor_at(view, m->event->at, x);
}

/* ---- a window came ---- */

static void apply_hold(struct view *view)
{
    const struct hold *h = &view->hold;
    const struct scene *s = view->stage.scene;
    const struct scene_mark *m = stage_mark(view, h->event);
    for (uint32_t i = 0; !m && !h->event.line && i < s->mark_count; i++) {
        uint64_t at = s->marks[i].event->position;
        if (at >= h->position && at != NO_POSITION)
            m = &s->marks[i];
    }
    for (uint32_t i = 0; m && !h->event.line && i < s->mark_count; i++)
        if (s->marks[i].event->position >= h->position &&
            s->marks[i].event->position < m->event->position)
            m = &s->marks[i];
    view->hold.active = false;
    if (!m)
        return;
    stage_set_left(view, m->x_pt - (h->x_px - stage_names_px(view)) / view->place.zoom);
    if (h->y_px < 0)
        return;
    double y = stage_y_px(view, m->row), height = stage_across_px(view);
    if (y < 20 || y > height - 20)
        view->place.rise_pt = MAX(0, view->place.rise_pt + (y - height / 2) / view->place.zoom);
}

void motion_settle(struct view *view)
{
    const struct scene *s = view->stage.scene;
    struct place *p = &view->place;
    if (view->hold.active)
        apply_hold(view);
    if (p->follow) {
        double left = scene_end(s) - stage_width(view);
        stage_set_left(view, MAX(left, scene_begin(s)));
    } else if (s->column_count) {
        double left = stage_left(view), good = clamped(view, left);
        if (good != left)
            stage_set_left(view, good);
    }
}

/* ---- scrolling ---- */

/* The same without a mark in the history. */
static void choose(struct view *view, struct ref at, bool second)
{
    struct place *p = &view->place;
    if (second)
        p->second = at;
    else
        p->selected = at;
    if (!second)
        p->second = (struct ref){0, 0};
    ties_clear(&view->ties);
    view->stage.coloured = false;
    stage_stale(view);
    panels_tell(view, NEWS_SELECTED);
    ties_count(view);
    ties_ask(view);
    if (!at.line)
        return;
    link_colour(view);
}

void motion_select(struct view *view, struct ref at, bool second)
{
    struct place *p = &view->place;
    second = second && p->selected.line;
    if (second ? ref_equal(p->second, at) : ref_equal(p->selected, at) && !p->second.line)
        return;
    history_mark(view, "select");
    choose(view, at, second);
}

/* As in OLT: an event that leaves the picture hands over to the next one of its line. */
static gboolean on_reselect(gpointer data)
{
    struct view *view = data;
    view->reselect_timer = 0;
    if (view->place.far)
        return G_SOURCE_REMOVE;
    const struct scene *s = view->stage.scene;
    const struct scene_mark *m = stage_mark(view, view->place.selected), *best = NULL;
    if (!m || stage_sees(view, m) || view->place.second.line)
        return G_SOURCE_REMOVE;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *o = &s->marks[i];
        if (o->row == m->row && stage_sees(view, o) &&
            (!best || fabs(o->x_pt - m->x_pt) < fabs(best->x_pt - m->x_pt)))
            best = o;
    }
    if (best)
        choose(view, best->event->at, false); /* not a change that anyone made: nothing to undo */
    return G_SOURCE_REMOVE;
}

static void moved(struct view *view)
{
    if (view->settings.reselect && view->place.selected.line && !view->reselect_timer)
        view->reselect_timer = g_timeout_add(300, on_reselect, view);
    gtk_widget_queue_draw(view->canvas);
    gtk_widget_queue_draw(view->map);
    if (needs_more(view))
        link_window(view);
}

void motion_pan(struct view *view, double x_px, double y_px)
{
    struct place *p = &view->place;
    if (p->far) {
        far_pan(view, x_px);
    } else if (view->stage.scene && x_px) {
        double left = stage_left(view), wanted = clamped(view, left + x_px / p->zoom);
        if (wanted != left) {
            history_mark(view, "scroll");
            leave_follow(view);
            stage_set_left(view, wanted);
            moved(view);
        }
    }
    if (y_px)
        gtk_adjustment_set_value(view->down_at, p->rise_pt + y_px / p->zoom);
}

void motion_page(struct view *view, int pages)
{
    motion_pan(view, pages * 0.75 * (stage_along_px(view) - stage_names_px(view)), 0);
}

void motion_start(struct view *view)
{
    struct place *p = &view->place;
    history_mark(view, "start");
    leave_follow(view);
    forget_moves(p);
    p->anchor = ANCHOR_START;
    p->from = 0;
    p->shift_pt = 0;
    p->far = false;
    link_window(view);
}

void motion_follow(struct view *view, bool follow)
{
    struct place *p = &view->place;
    if (follow == p->follow && !p->far && view->stage.scene)
        return;
    if (view->stage.scene)
        history_mark(view, "follow");
    if (follow) {
        forget_moves(p);
        p->follow = true;
        p->far = false;
        p->anchor = ANCHOR_END;
        link_window(view);
    } else {
        leave_follow(view);
    }
    actions_update(view);
}

/* ---- zooming ---- */

void motion_zoom(struct view *view, double factor, double x_px, double y_px)
{
    struct place *p = &view->place;
    double names = stage_names_px(view), width = stage_along_px(view) - names;
    if (x_px < names) {
        const struct scene_mark *m = stage_mark(view, p->selected);
        x_px = m && stage_sees(view, m) ? stage_x_px(view, m) : names + width / 2;
        y_px = stage_across_px(view) / 2.0;
    }
    history_mark(view, "zoom");
    if (p->far) {
        far_zoom(view, factor, x_px);
        return;
    }
    double at = stage_left(view) + (x_px - names) / p->zoom, y = p->rise_pt + y_px / p->zoom;
    if (p->zoom * factor < ZOOM_LEAST) {
        far_enter(view);
        return;
    }
    p->zoom = CLAMP(p->zoom * factor, ZOOM_LEAST, ZOOM_MOST);
    if (view->stage.scene && !p->follow)
        stage_set_left(view, clamped(view, at - (x_px - stage_names_px(view)) / p->zoom));
    p->rise_pt = MAX(0, y - y_px / p->zoom);
    canvas_bars(view);
    stage_stale(view);
    link_window(view);
}

void motion_fit(struct view *view)
{
    struct place *p = &view->place;
    history_mark(view, "fit");
    leave_follow(view);
    p->far = true;
    p->far_from = p->far_to = 0; /* all of it */
    far_ask(view);
    actions_update(view);
}

/* ---- jumping and selecting ---- */

static void reveal(struct view *view, const struct scene_mark *m)
{
    double names = stage_names_px(view), width = stage_along_px(view),
           height = stage_across_px(view);
    double x = stage_x_px(view, m), y = stage_y_px(view, m->row), to = x;
    double room = MIN(AROUND_PX, (width - names) / 4);
    if (x < names + room)
        to = names + room;
    else if (x > width - room)
        to = width - room;
    if (to != x) {
        leave_follow(view);
        stage_set_left(view, clamped(view, stage_left(view) + (x - to) / view->place.zoom));
        moved(view);
    }
    if (y < 10 || y > height - 10)
        gtk_adjustment_set_value(view->down_at,
                                 view->place.rise_pt + (y - height / 2) / view->place.zoom);
}

static void go(struct view *view, struct ref at, uint64_t position, bool centre)
{
    const struct scene_mark *m = view->place.far ? NULL : stage_mark(view, at);
    double names = stage_names_px(view);
    motion_select(view, at, false);
    if (m && (!centre || stage_sees(view, m))) {
        reveal(view, m);
        return;
    }
    double x = names + (stage_along_px(view) - names) / 2;
    view->hold = (struct hold){true, at, position, x, 0};
    anchor_at(view, at, x);
    link_window(view);
    actions_update(view);
}

void motion_to_event(struct view *view, struct ref at, uint64_t position)
{
    history_mark(view, "jump");
    go(view, at, position, true);
}

void motion_to_position(struct view *view, uint64_t position)
{
    struct place *p = &view->place;
    double names = stage_names_px(view);
    double x = names + (stage_along_px(view) - names) / 2;
    history_mark(view, "position");
    anchor_at(view, (struct ref){0, 0}, x);
    p->anchor = ANCHOR_POSITION;
    p->position = position;
    view->hold = (struct hold){true, {0, 0}, position, x, -1};
    link_window(view);
    actions_update(view);
}

void motion_to_time(struct view *view, int64_t ns)
{
    struct place *p = &view->place;
    double names = stage_names_px(view);
    history_mark(view, "time");
    anchor_at(view, (struct ref){0, 0}, names + (stage_along_px(view) - names) / 2);
    p->anchor = ANCHOR_TIME;
    p->time_ns = ns;
    link_window(view);
}

/* into: the line that it is on may be in a cluster, which is opened then. */
static void stepped(struct view *view, const struct answer *answer, bool into)
{
    struct shown_found found;
    if (answer->part != PART_FOUND)
        return;
    get_found(answer->in, &found);
    bool good = in_done(answer->in);
    uint32_t line = found.hit_count ? found.hits[0].at.line : 0;
    if (good && into && line && !stage_mark(view, found.hits[0].at) && rows_joined(view, line))
        rows_split(view, line);
    if (good && found.hit_count)
        go(view, found.hits[0].at, found.hits[0].position, false);
    else if (good && found.done)
        window_say(view, "There is none that way");
    shown_found_free(&found);
}

static void take_step(void *view, const struct answer *answer) { stepped(view, answer, false); }
static void take_recorded(void *view, const struct answer *answer) { stepped(view, answer, true); }

void motion_step(struct view *view, enum asked_step step)
{
    struct out body = {0};
    put_ref(&body, view->place.selected);
    put_u8(&body, (uint8_t)step);
    inquiry_ask(view, &view->stepping, ASK_STEP, &body, take_step);
}

/* The next event of the log; shown: on a line that is. */
static void ask_recorded(struct view *view, uint64_t from, bool back, bool shown)
{
    const struct shown_window *w = &view->stage.window;
    struct out body = {0};
    struct search_request request = {.from = from, .backwards = back, .limit = 1,
                                     .text = (char *)(guintptr)""};
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
    inquiry_ask(view, &view->stepping, ASK_SEARCH, &body, take_recorded);
}

static bool choose_one(struct view *view)
{
    const struct scene_mark *m = view->place.selected.line ? NULL : middle_mark(view);
    if (m)
        motion_select(view, m->event->at, false);
    return m || !view->place.selected.line;
}

void motion_along(struct view *view, int step)
{
    if (!choose_one(view))
        motion_step(view, step < 0 ? STEP_LINE_BACK : STEP_LINE_ON);
}

void motion_across(struct view *view, int rows)
{
    const struct scene *s = view->stage.scene;
    const struct scene_mark *m = stage_mark(view, view->place.selected), *best = NULL;
    if (choose_one(view) || !m)
        return;
    for (int row = (int)m->row + rows; row >= 0 && row < (int)s->row_count && !best; row += rows)
        for (uint32_t i = 0; i < s->mark_count; i++) {
            const struct scene_mark *o = &s->marks[i];
            if ((int)o->row == row && (!best || fabs(o->x_pt - m->x_pt) < fabs(best->x_pt - m->x_pt)))
                best = o;
        }
    if (best)
        go(view, best->event->at, best->event->position, false);
}

void motion_partner(struct view *view)
{
    const struct scene_mark *m = stage_mark(view, view->place.selected);
    if (!m || !m->event->partner_count) {
        window_say(view, m ? "This event has no partner" : "No event is selected");
        return;
    }
    struct ref at = m->event->partners[0];
    if (at.line & HIDDEN_LINE)
        window_say(view, "Its partner is on a line that is never drawn");
    else
        go(view, at, NO_POSITION, false);
}

/* Are both ends of a pair, or members of a group: one step? */
static bool same_point(const struct shown_event *a, const struct shown_event *b)
{
    if (a->group && a->group == b->group)
        return true;
    return a->relation == RELATION_SYNC && a->partner_count == 1 && ref_equal(a->partners[0], b->at);
}

/* The next point on a line that is shown, in the order of the recording; over clusters and folds, whose inner
 * events are not drawn, and into what is opened. */
void motion_recorded(struct view *view, int step)
{
    const struct scene_mark *m = stage_mark(view, view->place.selected);
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
        go(view, best->event->at, best->event->position, false);
    else if (m->event->position != NO_POSITION) /* beyond what is here */
        ask_recorded(view, m->event->position + (step > 0), step < 0, true);
}

void motion_recorded_into(struct view *view, int step)
{
    const struct scene_mark *m = stage_mark(view, view->place.selected);
    if (choose_one(view) || !m || m->event->position == NO_POSITION)
        return;
    ask_recorded(view, m->event->position + (step > 0), step < 0, false);
}

/* ---- one line ---- */

/* How many events of a line are left of a column. */
static int64_t left_of(const struct shown_window *w, uint32_t line, uint64_t left, int32_t column)
{
    int64_t n = (int64_t)left;
    for (uint32_t i = 0; i < w->event_count; i++)
        n += w->events[i].at.line == line && w->events[i].column < column;
    return n;
}

static void tell_edge(struct place *p, const struct shown_window *w, int32_t column)
{
    uint32_t count = 0, room = 1;
    for (uint32_t i = 0; i < w->row_count; i++)
        room += 1 + w->rows[i].member_count;
    struct shown_move *moves = memory_zeroed(room, sizeof *moves);
    for (uint32_t i = 0; i < w->row_count; i++) {
        const struct shown_row *row = &w->rows[i];
        uint64_t own = row->left;
        for (uint32_t k = 0; k < row->member_count; k++) {
            own -= row->lefts[k];
            moves[count++] = (struct shown_move){row->members[k], true,
                                                 left_of(w, row->members[k], row->lefts[k], column)};
        }
        moves[count++] = (struct shown_move){row->line, true, left_of(w, row->line, own, column)};
    }
    forget_moves(p);
    p->moves = moves;
    p->move_count = count;
}

/* Makes an edge of what is seen the anchor: the left one right of the anchor, the right one left of it.  That
 * changes nothing in the picture (docs/order.md). */
static void anchor_at_edge(struct view *view)
{
    struct place *p = &view->place;
    const struct shown_window *w = &view->stage.window;
    int32_t columns = (int32_t)stage_columns(view), edge = p->from > 0 ? p->from : p->from + columns;
    if (p->from <= 0 && edge >= 0)
        return; /* the anchor is in the picture */
    uint64_t position = p->from > 0 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < w->event_count; i++) {
        const struct shown_event *e = &w->events[i];
        if (p->from > 0 && e->column >= edge)
            position = MIN(position, e->position);
        else if (p->from <= 0 && e->column < edge)
            position = MAX(position, e->position + 1);
    }
    if (position == UINT64_MAX)
        return;
    tell_edge(p, w, edge);
    p->anchor = ANCHOR_POSITION;
    p->position = position;
    p->from -= edge;
}

void motion_line(struct view *view, uint32_t line, int events)
{
    struct place *p = &view->place;
    if (!view->stage.scene || !line || p->far)
        return;
    if (p->fold) {
        window_say(view, "Unfold the picture first: a folded line cannot be scrolled by itself");
        return;
    }
    history_mark(view, "line");
    leave_follow(view);
    p->anchor = ANCHOR_POSITION;
    anchor_at_edge(view);
    place_move(p, line, events);
    link_window(view);
}

/* ---- time ---- */

void motion_time(struct view *view, double scale)
{
    struct place *p = &view->place;
    uint64_t column_ns = scale <= 0 ? 0 : (uint64_t)pow(10, scale);
    if (column_ns == p->column_ns)
        return;
    history_mark(view, "time");
    if (scale > 0)
        view->time_before = scale;
    if (!p->far)
        motion_keep_selected(view);
    else
        p->far_from = p->far_to = 0;
    p->column_ns = column_ns;
    link_window(view);
    map_ask(view);
    settings_apply(view);
}
