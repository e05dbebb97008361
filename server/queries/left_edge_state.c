/* State of each thread at the left edge of a window: its last event on its own line, or on the line
 * that it entered from there. */
#include "server/queries/left_edge_state.h"

#include "base/alloc.h"
#include "server/queries/referenced_lines.h"
#include "server/run/event_times.h"

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
