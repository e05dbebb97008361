#include "server/order/causality/event_search.h"

#include "base/alloc.h"
#include "server/order/log/event_log.h"
#include "server/order/log/event_summary.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- bounds ---- */

static struct search_bound *search_bounds_at(struct search_bound_table *bounds, uint32_t line)
{
    struct search_bound *bound =
        line & HIDDEN_LINE ? &bounds->hidden[(line & ~HIDDEN_LINE) - 1] : &bounds->lines[line - 1];
    if (bound->stamp != bounds->now)
        *bound = (struct search_bound){.stamp = bounds->now};
    return bound;
}

uint64_t search_bounds_end(const struct search_bound_table *bounds, uint32_t line)
{
    const struct search_bound *bound =
        line & HIDDEN_LINE ? &bounds->hidden[(line & ~HIDDEN_LINE) - 1] : &bounds->lines[line - 1];
    return bound->stamp == bounds->now ? bound->end : 0;
}

static void search_bounds_begin(struct search_bound_table *bounds, const struct order *order)
{
    bounds->lines = array_reserve_zeroed(bounds->lines, &bounds->line_room,
                                         order->lines.visible.count + 1, sizeof *bounds->lines);
    bounds->hidden = array_reserve_zeroed(bounds->hidden, &bounds->hidden_room,
                                          order->lines.hidden.count + 1, sizeof *bounds->hidden);
    if (++bounds->now == 0) { /* stamps of 2^32 searches ago must not count */
        memset(bounds->lines, 0, bounds->line_room * sizeof *bounds->lines);
        memset(bounds->hidden, 0, bounds->hidden_room * sizeof *bounds->hidden);
        bounds->now = 1;
    }
    bitset_free(&bounds->marks);
}

static void bounds_free(struct search_bound_table *bounds)
{
    free(bounds->lines);
    free(bounds->hidden);
    bitset_free(&bounds->marks);
}

void search_scratch_release(struct search_scratch *scratch)
{
    bounds_free(&scratch->walked);
    bounds_free(&scratch->ahead);
    free(scratch->scanned.lines);
    bitset_free(&scratch->scanned.marks);
    binary_heap_free(&scratch->to_walk);
    binary_heap_free(&scratch->to_reach);
}

void search_scratch_free(struct order *order)
{
    if (order->scratch)
        search_scratch_release(order->scratch);
    free(order->scratch);
}

/* ---- the walk: reached lines, by decreasing position ---- */

/* Prefetches the row of an event that will be read soon. */
static inline void expect_row(const struct order *order, uint64_t position)
{
    const struct log_block *rows = order->log.blocks[position / BLOCK_EVENTS].rows;
    if (rows)
        block_expect(rows, position % BLOCK_EVENTS, FIELD_LINE);
}

static bool is_goal(const struct event_search *search, uint64_t position)
{
    return position >= search->goal && position <= search->end;
}

/* Has the forward search reached this line at or before a position? */
static bool has_met(const struct event_search *search, uint32_t line, uint64_t position)
{
    uint64_t end = search->last ? search_bounds_end(&search->scratch->ahead, line) : 0;
    return end && end <= position + 1;
}

static void walk_to(struct event_search *search, uint64_t position)
{
    struct search_bound_table *bounds = &search->scratch->walked;
    if (position < search->least)
        return;
    uint32_t number = block_line_of(log_get(search->order, position, FIELD_LINE));
    if (!line_place(search->order, number))
        return;
    if (line_is_shared(search->order, number)) {
        if (bitset_test(&bounds->marks, position))
            return;
        bitset_set(&bounds->marks, position);
        search->found |= is_goal(search, position);
        binary_heap_push(&search->scratch->to_walk, UINT64_MAX - position, 0);
        return;
    }
    struct search_bound *bound = search_bounds_at(bounds, number);
    if (bound->end > position)
        return;
    bound->end = position + 1;
    bound->cursor = position;
    search->found |= bound->goal && bound->goal <= bound->end;
    search->found |= has_met(search, number, position);
    binary_heap_push(&search->scratch->to_walk, UINT64_MAX - position, number);
}

/* Can earlier events of the line lead anywhere new? Not if each line from which order enters it is
 * already reached at or after this position. */
static bool is_spent(const struct event_search *search, uint32_t number, uint64_t position)
{
    const struct order_line *line = line_get(search->order, number);
    if (line->dense)
        return false;
    for (unsigned i = 0; i < line->neighbour_count; i++)
        if (search_bounds_end(&search->scratch->walked, line_neighbors(line)[i]) <= position)
            return false;
    return true;
}

/* Walks to the predecessors of an event, except its line's previous event. */
static void walk_back(struct event_search *search, uint64_t position)
{
    const struct log_block *rows = log_block(search->order, position);
    uint32_t i = position % BLOCK_EVENTS;
    uint64_t first = position - block_get(rows, i, FIELD_POINT);
    if (block_get(rows, i, FIELD_FLAGS) & FIELD_INCONSISTENT)
        return;
    struct block_edges edges = block_edges(rows, i);
    for (uint32_t k = 0; k < edges.count; k++) {
        uint64_t edge = block_edge(&edges, k);
        walk_to(search, position - edge);
        if (edges.more) /* the block may have left the cache */
            edges = block_edges(log_block(search->order, position), i);
    }
    for (uint64_t p = first; p < position; p++)
        walk_to(search, p);
    for (uint64_t p = position + 1;
         p < search->order->log.count && log_get(search->order, p, FIELD_POINT) == p - first &&
         p != first;
         p++)
        walk_to(search, p);
}

bool backward_search_walk(struct event_search *search, uint64_t steps)
{
    struct search_scratch *scratch = search->scratch;
    while (steps-- && scratch->to_walk.count && !search->found) {
        struct binary_heap_item step = binary_heap_pop(&scratch->to_walk);
        uint64_t position = UINT64_MAX - step.key;
        struct search_bound *bound =
            step.value ? search_bounds_at(&scratch->walked, step.value) : NULL;
        if (bound && bound->cursor != position)
            continue; /* the line was reached at a later position since */
        walk_back(search, position);
        if (!bound)
            continue;
        bound = search_bounds_at(&scratch->walked, step.value);
        /* Events between this one and the last one with an edge or a partner lead nowhere. */
        uint64_t distance = log_get(search->order, position, FIELD_TIED);
        uint64_t previous = position - distance;
        if (distance == 0 || previous < search->least || bound->cursor != position ||
            is_spent(search, step.value, previous))
            continue;
        bound->cursor = previous;
        expect_row(search->order, previous);
        binary_heap_push(&scratch->to_walk, UINT64_MAX - previous, step.value);
    }
    return search->found || scratch->to_walk.count == 0;
}

/* ---- the scan: all events, in reverse ---- */

#define SCAN_AHEAD 12u
/* instead of an end: the events of the line are marked individually */
#define SHARED_LINE UINT64_MAX

static uint64_t *end_of(struct search_end_table *ends, uint32_t line)
{
    return &ends->lines[line & HIDDEN_LINE ? ends->visible + (line & ~HIDDEN_LINE) - 1 : line - 1];
}

uint64_t search_ends_of(const struct search_end_table *ends, uint32_t line)
{
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    if (line & HIDDEN_LINE)
        return i < ends->hidden ? ends->lines[ends->visible + i] : 0;
    return i < ends->visible && ends->lines[i] != SHARED_LINE ? ends->lines[i] : 0;
}

static void ends_begin(struct search_end_table *ends, const struct order *order)
{
    ends->visible = order->lines.visible.count;
    ends->hidden = order->lines.hidden.count;
    ends->lines = array_reserve(ends->lines, &ends->room, ends->visible + ends->hidden + 1,
                                sizeof *ends->lines);
    memset(ends->lines, 0, (ends->visible + ends->hidden) * sizeof *ends->lines);
    for (size_t i = 0; order->lines.has_shared && i < ends->visible; i++)
        ends->lines[i] = order_line_peek(order, i)->shared ? SHARED_LINE : 0;
    bitset_free(&ends->marks);
}

static void scan_to(struct event_search *search, uint64_t position)
{
    struct search_end_table *ends = &search->scratch->scanned;
    if (position < search->least)
        return;
    uint32_t number = block_line_of(log_line_code(search->order, position));
    uint64_t *end = number & ~HIDDEN_LINE ? end_of(ends, number) : NULL;
    if (!end)
        return; /* the event is unreadable */
    if (*end == SHARED_LINE) {
        bitset_set(&ends->marks, position);
        return;
    }
    search->reached += *end == 0 && !(number & HIDDEN_LINE);
    if (*end > position)
        return;
    *end = position + 1;
    for (int i = 0; i < 2; i++)
        search->found |= search->goals[i].line == number && *end >= search->goals[i].end;
}

static inline bool is_past(struct search_end_table *ends, const struct log_block *rows,
                           uint64_t position)
{
    uint32_t i = position % BLOCK_EVENTS;
    uint64_t code = block_get(rows, i, FIELD_LINE);
    uint64_t at = code & 1 ? ends->visible + (code >> 1) : code >> 1;
    uint64_t end = code > 1 ? ends->lines[at - 1] : 0;
    bool past = end > position;
    if (end == SHARED_LINE)
        past = bitset_test(&ends->marks, position);
    return past && !(block_get(rows, i, FIELD_FLAGS) & FIELD_INCONSISTENT);
}

static void scan_back(struct event_search *search, uint64_t position)
{
    const struct log_block *rows = log_block(search->order, position);
    uint32_t i = position % BLOCK_EVENTS;
    struct block_edges edges = block_edges(rows, i);
    if (!is_past(&search->scratch->scanned, rows, position))
        scan_to(search, position); /* another member of its point is in the past */
    for (uint32_t k = 0; k < edges.count; k++) {
        if (edges.more)
            edges = block_edges(log_block(search->order, position), i);
        scan_to(search, position - block_edge(&edges, k));
    }
}

/* Scans the point that ends at a position. Returns where it begins. */
static uint64_t scan_point(struct event_search *search, const struct log_block *rows, uint64_t last)
{
    const struct order *order = search->order;
    uint64_t span = block_get(rows, last % BLOCK_EVENTS, FIELD_POINT);
    uint64_t first = last - (span > last ? 0 : span);
    bool past = is_past(&search->scratch->scanned, rows, last);
    for (uint64_t p = first; p < last && !past; p++)
        past = is_past(&search->scratch->scanned, log_block(order, p), p);
    if (past) {
        search->found |= is_goal(search, first) || is_goal(search, last);
        for (uint64_t p = first; p <= last; p++)
            scan_back(search, p);
    }
    return first;
}

/* Scans events that are points of their own, down to `low` within one block, or to the first event
 * that needs a closer look. One that is in the past leads only to the source of its edge. */
static void scan_plain(struct event_search *search, uint64_t low)
{
    struct search_end_table *ends = &search->scratch->scanned;
    const struct event_summary *glance = log_event_summary(search->order, search->at - 1);
    uint64_t block = (search->at - 1) / BLOCK_EVENTS * BLOCK_EVENTS, p = search->at;
    low = low > block ? low : block;
    if (search->goal != NO_POSITION && search->end >= low) /* scan_point() examines the goal */
        low = search->end + 1;
    for (; p > low && !search->found && p - 1 - block < glance->known; p--) {
        uint32_t edge = glance->edge[p - 1 - block];
        if (!edge)
            continue;
        uint64_t end = *end_of(ends, block_line_of(glance->line[p - 1 - block]));
        if (edge == EVENT_SUMMARY_CHECK || end == SHARED_LINE)
            break;
        if (end < p)
            continue;
        scan_to(search, p - 1 - (edge >> 2));
        glance = log_event_summary(search->order, p - 1); /* the block may have left the cache */
    }
    search->at = p;
}

bool backward_search_scan(struct event_search *search, uint64_t events)
{
    const struct order *order = search->order;
    struct search_end_table *ends = &search->scratch->scanned;
    if (!search->scanning) {
        ends_begin(&search->scratch->scanned, order);
        search->scanning = true;
        scan_to(search, search->at - 1);
    }
    uint64_t stop = search->at > search->least + events ? search->at - events : search->least;
    while (search->at > stop && !search->found) {
        uint64_t block = (search->at - 1) / BLOCK_EVENTS * BLOCK_EVENTS;
        uint64_t until = block > stop ? block : stop;
        const struct log_block *rows = log_block(order, search->at - 1);
        search->doubt |= rows == order->log.unreadable.rows;
        /* Skip events and pairs that are not in the past. */
        while (search->at > until && !search->found) {
            scan_plain(search, until);
            if (search->at <= until || search->found)
                break;
            rows = log_block(order, search->at - 1); /* the block may have left the cache */
            uint64_t last = search->at - 1;
            uint64_t span = block_get(rows, last % BLOCK_EVENTS, FIELD_POINT);
            if (span <= 1 && last - span >= until && !is_past(ends, rows, last) &&
                (span == 0 || !is_past(ends, rows, last - 1))) {
                search->at = last - span;
                continue;
            }
            /* prefetch: nearby events are likely in the past, too */
            if (last >= until + SCAN_AHEAD) {
                struct block_edges ahead = block_edges(rows, (last - SCAN_AHEAD) % BLOCK_EVENTS);
                if (ahead.sends && !ahead.more)
                    expect_row(order, last - SCAN_AHEAD - ahead.one);
            }
            search->at = scan_point(search, rows, last);
        }
    }
    return search->found || search->at <= search->least;
}

/* ---- begin ---- */

/* Returns the next event that the thread of an event on a shared line did on its own line: once the
 * past includes that one, it includes this one, too. NO_POSITION if there is none, or if the order
 * is uncertain: then it may not be ordered after this one. */
static uint64_t next_of_thread(const struct order *order, uint64_t position, uint32_t *number)
{
    uint32_t thread = (uint32_t)log_get(order, position, FIELD_THREAD);
    const struct order_line *line = thread ? line_get(order, thread) : NULL;
    if (!line || line->shared || thread & HIDDEN_LINE || order->figures.contradictions ||
        order->uncertain.count)
        return NO_POSITION;
    uint64_t ordinal = order_line_from(order, thread, position + 1);
    uint64_t next =
        ordinal < line->positions.count ? order_line_at(order, thread, ordinal) : NO_POSITION;
    if (next == NO_POSITION || log_get(order, next, FIELD_THREAD) != thread ||
        log_get(order, next, FIELD_FLAGS) & FIELD_INCONSISTENT)
        return NO_POSITION;
    *number = thread;
    return next;
}

void backward_search_begin(struct event_search *search, const struct order *constant, uint64_t from)
{
    /* scratch memory is not part of the order's state */
    struct order *order = (struct order *)(uintptr_t)constant;
    if (!search->scratch && !order->scratch)
        order->scratch = xcalloc(1, sizeof *order->scratch);
    if (!search->scratch)
        search->scratch = order->scratch;
    search_bounds_begin(&search->scratch->walked, order);
    search->scratch->to_walk.count = 0;
    search->order = order;
    search->at = order_point_end(order, from) + 1;
    for (uint64_t p = search->goal; p != NO_POSITION && p <= search->end; p++) {
        uint32_t number = block_line_of(log_get(order, p, FIELD_LINE));
        const struct order_line *line = line_get(order, number);
        uint64_t at = p;
        if (line && line->shared)
            at = next_of_thread(order, p, &number);
        if (!line || at == NO_POSITION)
            continue;
        search_bounds_at(&search->scratch->walked, number)->goal = at + 1;
        if (p < search->goal + 2) {
            search->goals[p - search->goal].line = number;
            search->goals[p - search->goal].end = at + 1;
        }
    }
    walk_to(search, from);
}

/* ---- the search forwards ----
 *
 * It begins at the earlier of two events, to meet the walk back from the later one: where both
 * reach one line, and the walk as far as this search or further, the earlier event happened
 * before the later. Each then needs to reach only about the square root of the lines (bidirectional
 * search, Pohl 1971).
 *
 * It follows lines, points and receives, but not order edges, which are stored with the later event
 * only. So it can find that an event happened before another, never that it did not. */

static void forward_search_reach_event(struct event_search *search, uint64_t position)
{
    struct search_bound_table *bounds = &search->scratch->ahead;
    if (position > search->last)
        return;
    uint32_t number = block_line_of(log_get(search->order, position, FIELD_LINE));
    if (!line_place(search->order, number) || line_is_shared(search->order, number))
        return;
    struct search_bound *bound = search_bounds_at(bounds, number);
    if (bound->end && bound->end <= position + 1)
        return;
    bound->end = position + 1;
    bound->cursor = position;
    bound->ordinal = NO_POSITION;
    search->found |= search_bounds_end(&search->scratch->walked, number) > position;
    binary_heap_push(&search->scratch->to_reach, position, number);
}

static void reach_receive(void *search, uint64_t receive)
{
    forward_search_reach_event(search, receive);
}

static void forward_search_expand(struct event_search *search, uint64_t position)
{
    const struct order *order = search->order;
    if (log_get(order, position, FIELD_FLAGS) & FIELD_INCONSISTENT)
        return;
    if (log_sends(order, position))
        order_receives(order, position, reach_receive, search);
    uint64_t first = position - log_get(order, position, FIELD_POINT);
    for (uint64_t p = first;
         p < order->log.count && (p == first || log_get(order, p, FIELD_POINT) == p - first); p++)
        forward_search_reach_event(search, p);
}

/* Returns the next event of a line, or NO_POSITION. */
static uint64_t forward_search_step(const struct event_search *search, uint32_t number,
                                    struct search_bound *bound)
{
    if (bound->ordinal == NO_POSITION)
        bound->ordinal = order_line_from(search->order, number, bound->cursor);
    if (++bound->ordinal >= order_line_events(search->order, number))
        return NO_POSITION;
    uint64_t next = order_line_at(search->order, number, bound->ordinal);
    return next <= search->last ? next : NO_POSITION;
}

void forward_search_begin(struct event_search *search, uint64_t from, uint64_t last)
{
    search->last = last;
    search_bounds_begin(&search->scratch->ahead, search->order);
    search->scratch->to_reach.count = 0;
    forward_search_reach_event(search, from);
    forward_search_expand(search, from);
}

bool forward_search_run(struct event_search *search, uint64_t steps)
{
    struct search_scratch *scratch = search->scratch;
    while (steps-- && scratch->to_reach.count && !search->found) {
        struct binary_heap_item step = binary_heap_pop(&scratch->to_reach);
        uint64_t position = step.key;
        struct search_bound *bound = search_bounds_at(&scratch->ahead, step.value);
        if (bound->cursor != position)
            continue; /* the line was reached at an earlier position since */
        forward_search_expand(search, position);
        uint64_t next = forward_search_step(search, step.value, bound);
        if (next == NO_POSITION)
            continue;
        bound->cursor = next;
        binary_heap_push(&scratch->to_reach, next, step.value);
    }
    return search->found;
}
