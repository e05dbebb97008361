#include "server/queries/window_edges.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/queries/referenced_lines.h"
#include "server/run/event_times.h"
#include "wire/layout_results.h"

#include <stdlib.h>

#define FOUND_MOST 20000u /* maximum number of edges of either kind */
static struct event_id window_edges_event_id(const struct order_event *e)
{
    return (struct event_id){e->line, e->number};
}

/* ---- order edges ---- */

#define COLLECTED_MOST 4u /* the newest events that one hidden event collected */

struct window_edge_search {
    const struct order *order;
    const struct layout_result *placement;
    const uint32_t *row_of;
    uint32_t lines;
    struct edge_info *found;
    size_t count, room;
};

static int window_edges_by_position(const void *key, const void *placed)
{
    uint64_t a = *(const uint64_t *)key, b = ((const struct layout_event *)placed)->position;
    return a < b ? -1 : a > b;
}

static bool window_edges_is_in_window(const struct window_edge_search *f, uint64_t position,
                                      const struct order_event *e)
{
    return e->line && e->line <= f->lines && f->row_of[e->line - 1] &&
           bsearch(&position, f->placement->events, f->placement->count,
                   sizeof *f->placement->events, window_edges_by_position);
}

/* Adds an edge with its cause in the window.  Program order within one thread needs no arrow,
 * except where it creates a line. */
static void window_edges_add(struct window_edge_search *f, uint64_t from,
                             const struct order_event *to, bool opens)
{
    struct order_event cause = order_event(f->order, from);
    if (f->count >= FOUND_MOST || !window_edges_is_in_window(f, from, &cause) ||
        (cause.thread == to->thread && !opens))
        return;
    f->found = array_reserve(f->found, &f->room, f->count + 1, sizeof *f->found);
    f->found[f->count++] = (struct edge_info){{cause.line, cause.number}, {to->line, to->number}};
}

/* Adds edges from the newest events that a hidden event collected. */
static void window_edges_add_collected(struct window_edge_search *f, uint64_t hidden,
                                       const struct order_event *to)
{
    struct order_event h = order_event(f->order, hidden);
    uint32_t first = h.edge_count > COLLECTED_MOST ? h.edge_count - COLLECTED_MOST : 0;
    for (uint32_t i = first; i < h.edge_count; i++) {
        uint64_t from = order_edge(f->order, hidden, i);
        if (from >= order_first(f->order))
            window_edges_add(f, from, to, false);
    }
}

static void window_edges_check_event(struct window_edge_search *f, uint64_t position)
{
    struct order_event e = order_event(f->order, position);
    for (uint32_t i = e.send_count; i < e.edge_count; i++) {
        uint64_t from = order_edge(f->order, position, i);
        if (from < order_first(f->order))
            continue;
        if (order_event(f->order, from).line & HIDDEN_LINE)
            window_edges_add_collected(f, from, &e);
        else
            window_edges_add(f, from, &e, e.opened && i + 1 == e.edge_count);
    }
}

size_t window_edges_find(const struct order *order, const struct layout_result *p,
                         const uint32_t *row_of, uint32_t lines, struct edge_info **found)
{
    struct window_edge_search f = {
        .order = order, .placement = p, .row_of = row_of, .lines = lines};
    for (size_t i = 0; i < p->count; i++)
        window_edges_check_event(&f, p->events[i].position);
    *found = f.found;
    return f.count;
}

/* ---- hidden edges ---- */

#define LOOK_EVENTS 64u /* events searched backwards from one predecessor */

struct hidden_edge_search {
    const struct order *order;
    const uint32_t *row_of;
    uint32_t lines;
    struct via_info *found;
    size_t count, room;
    /* By lines of the effect and of the cause: 1 + position of the last reported cause. */
    struct map reported;
    /* For the current event: */
    uint64_t to;
    uint32_t row;
    unsigned looked;
    bool done;
};

static uint32_t hidden_edges_row_of(const struct hidden_edge_search *l, uint32_t line)
{
    return line && line <= l->lines ? l->row_of[line - 1] : 0;
}

/* Ends the search at a cause on a row, and reports the edge unless the succession of the rows
 * implies it. */
static void hidden_edges_arrive_at_row(struct hidden_edge_search *l, uint64_t from,
                                       uint32_t through)
{
    struct order_event cause = order_event(l->order, from), effect = order_event(l->order, l->to);
    l->done = true;
    if (hidden_edges_row_of(l, cause.line) == l->row || l->count >= FOUND_MOST ||
        (uint64_t)(uintptr_t)map_get(&l->reported, effect.line, cause.line) > from)
        return;
    map_put(&l->reported, effect.line, cause.line, (void *)(uintptr_t)(from + 1));
    l->found = array_reserve(l->found, &l->room, l->count + 1, sizeof *l->found);
    l->found[l->count++] =
        (struct via_info){window_edges_event_id(&cause), window_edges_event_id(&effect), through};
}

static void hidden_edges_follow_line(struct hidden_edge_search *l, uint64_t position,
                                     uint32_t through);

/* Follows the incoming edges of an event on a line without a row. */
static void hidden_edges_scan_edges(struct hidden_edge_search *l, uint64_t position,
                                    const struct order_event *e, uint32_t through)
{
    for (uint32_t i = 0; i < e->edge_count && !l->done; i++) {
        uint64_t from = order_edge(l->order, position, i);
        if (from < order_first(l->order))
            continue;
        if (hidden_edges_row_of(l, order_event(l->order, from).line))
            hidden_edges_arrive_at_row(l, from, through);
        else
            hidden_edges_follow_line(l, from, through);
    }
}

static void hidden_edges_scan_point(struct hidden_edge_search *l, uint64_t position,
                                    const struct order_event *e, uint32_t through)
{
    uint64_t end = order_point_end(l->order, position);
    for (uint64_t p = e->point; p <= end && !l->done; p++)
        if (hidden_edges_row_of(l, order_event(l->order, p).line))
            hidden_edges_arrive_at_row(l, p, through);
}

/* Returns the previous event on the line; NO_POSITION if the succession of the line is not an
 * order. */
static uint64_t hidden_edges_back_from(const struct hidden_edge_search *l, uint64_t position,
                                       uint32_t line)
{
    return order_line_shared(l->order, line) ? NO_POSITION : order_previous(l->order, position);
}

/* Searches backwards along a line without a row. */
static void hidden_edges_follow_line(struct hidden_edge_search *l, uint64_t position,
                                     uint32_t through)
{
    while (!l->done && position != NO_POSITION && l->looked++ < LOOK_EVENTS) {
        struct order_event e = order_event(l->order, position);
        if (!e.line)
            return; /* damaged */
        hidden_edges_scan_point(l, position, &e, through);
        hidden_edges_scan_edges(l, position, &e, through);
        position = hidden_edges_back_from(l, position, e.line);
    }
}

/* Searches from a direct predecessor of the drawn event. own_point: it is in the same
 * synchronization point, which must not be found again. */
static void hidden_edges_begin(struct hidden_edge_search *l, uint64_t position, bool own_point)
{
    struct order_event e = order_event(l->order, position);
    if (l->done || !e.line || e.line & HIDDEN_LINE || hidden_edges_row_of(l, e.line))
        return;
    l->looked = 0;
    if (own_point) {
        hidden_edges_scan_edges(l, position, &e, e.line);
        position = hidden_edges_back_from(l, position, e.line);
    }
    hidden_edges_follow_line(l, position, e.line);
}

size_t hidden_edges_find(const struct order *order, const struct layout_result *p,
                         const uint32_t *rows, uint32_t lines, struct via_info **found)
{
    struct hidden_edge_search l = {.order = order, .row_of = rows, .lines = lines};
    uint32_t shown = 0;
    for (uint32_t line = 1; line <= lines; line++)
        shown += rows[line - 1] != 0;
    for (size_t i = 0; shown < lines && i < p->count; i++) {
        uint64_t at = p->events[i].position, end = order_point_end(order, at);
        struct order_event e = order_event(order, at);
        l.to = at;
        l.row = hidden_edges_row_of(&l, e.line);
        l.done = false;
        for (uint64_t q = e.point; q <= end; q++)
            if (q != at)
                hidden_edges_begin(&l, q, true);
        for (uint32_t k = 0; k < e.edge_count; k++) {
            uint64_t from = order_edge(order, at, k);
            if (from >= order_first(order))
                hidden_edges_begin(&l, from, false);
        }
    }
    map_free(&l.reported);
    *found = l.found;
    return l.count;
}

/* ---- crossing messages ---- */

#define LOOK_LINE 200u /* events searched on either side of the window, on one line */
#define LOOK_ALL 20000u /* on all lines together */

struct crossing_sides {
    const struct order *order;
    const uint32_t *row_of;
    uint32_t lines;
    struct crossing_side { /* positions; NO_POSITION beyond the last event */
        /* first event searched; first one not left of the window; first one right of it */
        uint64_t looked, left, right;
    } *of;
    struct crossing_info *found;
    size_t count, room;
    uint64_t send; /* the current send */
};

static const struct crossing_side *crossing_side_of(const struct crossing_sides *s, uint32_t line)
{
    return line && line <= s->lines && s->row_of[line - 1] ? &s->of[line - 1] : NULL;
}

static void crossing_add(struct crossing_sides *s, uint64_t send, uint64_t receive)
{
    struct order_event from = order_event(s->order, send), to = order_event(s->order, receive);
    s->found = array_reserve(s->found, &s->room, s->count + 1, sizeof *s->found);
    s->found[s->count++] =
        (struct crossing_info){window_edges_event_id(&from), window_edges_event_id(&to)};
}

static void crossing_check_receive(void *context, uint64_t receive)
{
    struct crossing_sides *s = context;
    const struct crossing_side *to = crossing_side_of(s, order_event(s->order, receive).line);
    if (to && receive >= to->right)
        crossing_add(s, s->send, receive);
}

static void crossing_scan_back(struct crossing_sides *s, uint32_t line, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t position = order_line_at(s->order, line, i);
        if (position == NO_POSITION) /* damaged */
            continue;
        s->send = position;
        if (order_sends(s->order, position))
            order_receives(s->order, position, crossing_check_receive, s);
    }
}

/* Finds messages by their receives if the send is too far left for the backward search. */
static void crossing_scan_ahead(struct crossing_sides *s, uint32_t line, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t position = order_line_at(s->order, line, i);
        uint32_t sends = position != NO_POSITION ? order_received(s->order, position) : 0;
        for (uint32_t k = 0; k < sends; k++) {
            uint64_t send = order_edge(s->order, position, k);
            if (send < order_first(s->order))
                continue;
            const struct crossing_side *at = crossing_side_of(s, order_event(s->order, send).line);
            if (at && send < at->left && send < at->looked)
                crossing_add(s, send, position);
        }
    }
}

static uint64_t crossing_position_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    return ordinal < order_line_events(order, line) ? order_line_at(order, line, ordinal)
                                                    : NO_POSITION;
}

/* Returns, by line - 1, 1 + the last position in the window, 0 for none.  The caller frees it. */
static uint64_t *crossing_ends_of(const struct crossing_sides *s, const struct layout_result *p)
{
    uint64_t *ends = xcalloc(s->lines + 1, sizeof *ends);
    for (size_t i = 0; i < p->count; i++) {
        uint32_t line = order_event(s->order, p->events[i].position).line;
        uint64_t last = p->events[i].fold ? p->events[i].fold_end : p->events[i].position;
        if (crossing_side_of(s, line) && last >= ends[line - 1])
            ends[line - 1] = last + 1;
    }
    return ends;
}

size_t crossing_messages_find(const struct order *order, const struct layout_result *p,
                              const uint32_t *row_of, uint32_t lines, struct crossing_info **found)
{
    struct crossing_sides s = {.order = order, .row_of = row_of, .lines = lines};
    uint32_t rows = 0;
    s.of = xcalloc(lines + 1, sizeof *s.of);
    for (uint32_t line = 1; line <= lines; line++)
        rows += row_of[line - 1] != 0;
    uint64_t look = rows ? LOOK_ALL / rows : 0;
    look = look > LOOK_LINE ? LOOK_LINE : look;
    uint64_t *ends = crossing_ends_of(&s, p);
    for (int pass = 0; pass < 2 && p->more_left && p->more_right; pass++)
        for (uint32_t line = 1; line <= lines; line++) {
            if (!row_of[line - 1])
                continue;
            uint64_t n = order_line_events(order, line), first = order_line_first(order, line);
            uint64_t left = p->before[line - 1] < n ? p->before[line - 1] : n;
            left = left > first ? left : first;
            uint64_t right = ends[line - 1] ? order_line_from(order, line, ends[line - 1]) : left;
            uint64_t back = left - first > look ? left - look : first;
            if (pass == 0) {
                s.of[line - 1] = (struct crossing_side){crossing_position_at(order, line, back),
                                                        crossing_position_at(order, line, left),
                                                        crossing_position_at(order, line, right)};
                continue;
            }
            crossing_scan_back(&s, line, back, left);
            crossing_scan_ahead(&s, line, right, right + look < n ? right + look : n);
        }
    free(ends);
    free(s.of);
    *found = s.found;
    return s.count;
}

/* ---- states at the left edge ----
 *
 * State of each thread at the left edge of a window: its last event on its own line, or on the line
 * that it entered from there. */

#define DEEPEST 8u /* maximum depth of nested lines that a thread is in */
#define LOOK_MOST 64u /* events searched on a line */

struct left_edge_scan {
    const struct run *run;
    const struct order *order;
    const struct layout_result *placement;
    const uint32_t *row_of;
    uint32_t lines;
    struct placement_info *found;
    size_t count, room;
};

static bool in_row(const struct left_edge_scan *s, uint32_t line)
{
    return line && line <= s->lines && s->row_of[line - 1];
}

/* Returns how many events of a line that is in a row are left of the window. */
static uint64_t left_edge_ordinal_before(const struct left_edge_scan *s, uint32_t line)
{
    uint64_t n = order_line_events(s->order, line), left = s->placement->before[line - 1];
    return left < n ? left : n;
}

static uint64_t left_edge_state_event_at(const struct left_edge_scan *s, uint32_t line,
                                         uint64_t ordinal)
{
    return ordinal >= order_line_first(s->order, line) &&
                   ordinal < order_line_events(s->order, line)
               ? order_line_at(s->order, line, ordinal)
               : NO_POSITION;
}

static bool left_edge_is_before_edge(const struct left_edge_scan *s, uint64_t position,
                                     uint32_t line)
{
    uint64_t first = left_edge_state_event_at(s, line, left_edge_ordinal_before(s, line));
    return first == NO_POSITION || position < first;
}

/* Returns the position of the partner on the line to which the thread moves with this sync pair;
 * NO_POSITION if it stays, or comes back. */
static uint64_t left_edge_moves_to(const struct left_edge_scan *s, uint64_t position,
                                   const struct order_event *e)
{
    const struct target_event *look =
        e->relation == RELATION_SYNC
            ? run_event_type(s->run, e->line, e->type, (enum relation)e->relation)
            : NULL;
    if (!look || look->arrow != ARROW_TO_PARTNER)
        return NO_POSITION;
    uint64_t end = order_point_end(s->order, position);
    for (uint64_t p = e->point; p <= end; p++)
        if (p != position)
            return p;
    return NO_POSITION;
}

/* Returns the thread's last event left of the window on a line that it moved to with event
 * `came`.  No other thread is active there until it waits; later events that were not found are
 * part of its wait. */
static uint64_t left_edge_last_event_there(const struct left_edge_scan *s, uint64_t came,
                                           uint32_t thread)
{
    uint32_t line = order_event(s->order, came).line;
    if (!in_row(s, line))
        return came;
    uint64_t left = left_edge_ordinal_before(s, line), last = came;
    for (uint64_t i = left; i > 0 && left - i < LOOK_MOST; i--) {
        uint64_t p = left_edge_state_event_at(s, line, i - 1);
        if (p == NO_POSITION || p < came)
            break;
        if (order_event(s->order, p).thread == thread)
            return p;
    }
    uint64_t i = order_line_from(s->order, line, came);
    for (uint64_t k = 0; k < LOOK_MOST && i + k < left; k++) {
        uint64_t p = left_edge_state_event_at(s, line, i + k);
        if (p == NO_POSITION || order_event(s->order, p).thread != thread)
            break;
        last = p;
    }
    return last;
}

static struct placement_info left_edge_state_placement(const struct left_edge_scan *s,
                                                       uint32_t thread, uint64_t position)
{
    struct order_event e = order_event(s->order, position);
    referenced_lines_note(e.line);
    referenced_lines_note(e.about);
    return (struct placement_info){.thread = thread,
                                   .at = {e.line, e.number},
                                   .type = e.type,
                                   .relation = e.relation,
                                   .about = e.about,
                                   .time_ns = event_times_fitted(s->run, position)};
}

static void left_edge_state_add(struct left_edge_scan *s, struct placement_info placement)
{
    s->found = array_reserve(s->found, &s->room, s->count + 1, sizeof *s->found);
    s->found[s->count++] = placement;
}

/* Follows the thread from an event before the window to the line that it moved to; returns its
 * last event there. */
static uint64_t left_edge_state_follow_moves(const struct left_edge_scan *s, uint64_t position,
                                             uint32_t thread)
{
    for (unsigned depth = 0; depth < DEEPEST; depth++) {
        struct order_event e = order_event(s->order, position);
        uint64_t other = left_edge_moves_to(s, position, &e);
        uint32_t line = other == NO_POSITION ? 0 : order_event(s->order, other).line;
        if (!line || line & HIDDEN_LINE ||
            (in_row(s, line) && !left_edge_is_before_edge(s, other, line)))
            break;
        position = left_edge_last_event_there(s, other, thread);
    }
    return position;
}

static void left_edge_check_line(struct left_edge_scan *s, uint32_t thread)
{
    uint64_t last = order_thread_last(s->order, thread), left = left_edge_ordinal_before(s, thread);
    if (last == NO_POSITION)
        return;
    uint32_t on = order_event(s->order, last).line;
    uint64_t n = order_line_events(s->order, thread),
             home = left_edge_state_event_at(s, thread, n ? n - 1 : 0);
    bool hidden = on && !(on & HIDDEN_LINE) && on <= s->lines && !s->row_of[on - 1];
    if (hidden && left < n && home != NO_POSITION) {
        struct placement_info placement = left_edge_state_placement(s, thread, last);
        placement.home = order_event(s->order, home).number;
        left_edge_state_add(s, placement);
    }
    uint64_t before = left ? left_edge_state_event_at(s, thread, left - 1) : NO_POSITION;
    if (before == NO_POSITION)
        return;
    bool all_left =
        left == n && (hidden || (in_row(s, on) && left_edge_is_before_edge(s, last, on)));
    left_edge_state_add(
        s, left_edge_state_placement(
               s, thread, left_edge_state_follow_moves(s, all_left ? last : before, thread)));
}

size_t window_left_edge_states(const struct run *run, const struct layout_result *p,
                               const struct row_info *rows, uint32_t row_count,
                               const uint32_t *row_of, uint32_t lines,
                               struct placement_info **found)
{
    struct left_edge_scan s = {
        .run = run, .order = run->order, .placement = p, .row_of = row_of, .lines = lines};
    for (uint32_t i = 0; i < row_count; i++)
        if (!rows[i].member_count)
            left_edge_check_line(&s, rows[i].line);
    *found = s.found;
    return s.count;
}
