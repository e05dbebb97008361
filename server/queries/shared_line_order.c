#include "server/queries/shared_line_order.h"

#include "base/alloc.h"

#include <stdlib.h>

#define LOOK 4u          /* cost of an event of the line, in events */
#define OWN_STEPS 16u /* events of its own line searched for one of the thread itself */
#define COMPARISON 1000u /* budget of one step of a comparison, in events */

/* What is known of the events of one thread, by positions: those up to `before` and none from
 * `not_before` on are before the given event; those from `after` on and none up to `not_after`
 * are after it. */
struct shared_order_edges {
    bool known;
    uint64_t before, not_before; /* 1 + a position, 0: none; a position, NO_POSITION: none */
    uint64_t after, not_after; /* a position, NO_POSITION: none; 1 + a position, 0: none */
};

struct shared_order_open { /* an event that these positions do not decide */
    uint32_t thread;
    uint64_t position;
};

struct shared_line_order {
    const struct run *run;
    uint64_t position, first, last; /* the given event, and its synchronization point */
    struct event_id at;
    const struct cone *past, *future;
    bool hidden;
    struct shared_order_edges *threads; /* by line - 1 */
    uint32_t lines;
    uint32_t line;
    uint64_t ordinal, end;
    struct shared_order_open *open;
    size_t open_count, open_room;
    /* The group being bisected: the events of one thread, open[from .. until - 1]. Those before
     * `low` are before the given event (turn 0), or not after it (turn 1); those from `high` on
     * are not. */
    size_t from, until, low, high, befores;
    int turn;
    bool sorted, grouped;
    struct comparison *comparison;
    size_t compared; /* 1 + index of the event being compared; 0: none */
};

struct shared_line_order *shared_line_order_new(const struct run *run, uint64_t position,
                                                const struct cone *past, const struct cone *future,
                                                bool hidden)
{
    struct shared_line_order *v = xcalloc(1, sizeof *v);
    struct order_event e = order_event(run->order, position);
    *v = (struct shared_line_order){.run = run,
                                    .position = position,
                                    .first = e.point,
                                    .last = order_point_end(run->order, position),
                                    .at = {e.line, e.number},
                                    .past = past,
                                    .future = future,
                                    .hidden = hidden,
                                    .lines = order_line_count(run->order)};
    v->threads = xcalloc(v->lines, sizeof *v->threads);
    v->comparison = comparison_new(run->order);
    return v;
}

void shared_line_order_free(struct shared_line_order *v)
{
    if (!v)
        return;
    comparison_free(v->comparison);
    free(v->threads);
    free(v->open);
    free(v);
}

void shared_line_order_begin(struct shared_line_order *v, uint32_t line)
{
    const struct order *order = v->run->order;
    v->line = line;
    v->ordinal = order_line_first(order, line);
    v->end = order_line_events(order, line);
    v->open_count = v->from = v->until = v->compared = 0;
    v->sorted = v->grouped = false;
}

/* ---- the threads' own lines ---- */

/* Returns the nearest event of the thread itself on its own line, from an ordinal on, in
 * direction `step`; NO_POSITION if there is none within OWN_STEPS. */
static uint64_t shared_order_nearest_own_event(const struct shared_line_order *v, uint32_t thread,
                                               uint64_t ordinal, int step)
{
    const struct order *order = v->run->order;
    uint64_t first = order_line_first(order, thread), end = order_line_events(order, thread);
    for (unsigned i = 0; i < OWN_STEPS && ordinal >= first && ordinal < end; i++) {
        uint64_t position = order_line_at(order, thread, ordinal);
        struct order_event e =
            position == NO_POSITION ? (struct order_event){0} : order_event(order, position);
        if (e.thread == thread && e.state == EVENT_ORDERED)
            return position;
        ordinal += (uint64_t)(int64_t)step;
    }
    return NO_POSITION;
}

static struct shared_order_edges *edges_of(struct shared_line_order *v, uint32_t thread)
{
    const struct order *order = v->run->order;
    struct shared_order_edges *edges = &v->threads[thread - 1];
    if (edges->known)
        return edges;
    uint64_t first = order_line_first(order, thread), end = order_line_events(order, thread);
    uint64_t past = cone_contains_on_line(v->past, thread),
             future = cone_contains_on_line(v->future, thread);
    uint64_t until = past == NO_POSITION ? first : order_line_from(order, thread, past) + 1;
    uint64_t from = future == NO_POSITION ? end : order_line_from(order, thread, future);
    *edges = (struct shared_order_edges){
        .known = true,
        .not_before = shared_order_nearest_own_event(v, thread, until, 1),
        .after = shared_order_nearest_own_event(v, thread, from, 1)};
    uint64_t before =
        until > first ? shared_order_nearest_own_event(v, thread, until - 1, -1) : NO_POSITION;
    uint64_t not_after =
        from > first ? shared_order_nearest_own_event(v, thread, from - 1, -1) : NO_POSITION;
    edges->before = before == NO_POSITION ? 0 : before + 1;
    edges->not_after = not_after == NO_POSITION ? 0 : not_after + 1;
    return edges;
}

/* ---- counting ---- */

static void add_unordered(const struct shared_line_order *v, uint64_t position,
                          struct relation_counts *count)
{
    bool unknown = v->hidden || order_uncertainty_between(v->run->order, v->position, position);
    count->unknown += unknown;
    count->concurrent += !unknown;
}

static void leave_open(struct shared_line_order *v, uint32_t thread, uint64_t position)
{
    v->open = array_reserve(v->open, &v->open_room, v->open_count + 1, sizeof *v->open);
    v->open[v->open_count++] = (struct shared_order_open){thread, position};
}

static void shared_order_visit_event(struct shared_line_order *v, uint64_t position,
                                     struct relation_counts *count)
{
    struct order_event e = order_event(v->run->order, position);
    if (e.state != EVENT_ORDERED || !e.line)
        return;
    if (position >= v->first && position <= v->last) {
        count->same++;
        return;
    }
    if (!e.thread || e.thread > v->lines) {
        leave_open(v, 0, position);
        return;
    }
    const struct shared_order_edges *edges = edges_of(v, e.thread);
    bool not_before = position > v->last || position > edges->not_before;
    bool not_after = position < v->first || position < edges->not_after;
    if (position < edges->before)
        count->before++;
    else if (position > edges->after && edges->after != NO_POSITION)
        count->after++;
    else if (not_before && not_after)
        add_unordered(v, position, count);
    else
        leave_open(v, e.thread, position);
}

/* ---- comparisons of single events ---- */

static int by_thread(const void *a, const void *b)
{
    const struct shared_order_open *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Compares the event at open[i] with the given event; returns false if the comparison is not
 * complete. */
static bool shared_order_compare_event(struct shared_line_order *v, size_t i, uint64_t *budget,
                                       enum causal_relation *answer)
{
    if (v->compared != i + 1) {
        struct order_event e = order_event(v->run->order, v->open[i].position);
        comparison_begin(v->comparison, (struct event_id){e.line, e.number}, v->at);
        v->compared = i + 1;
    }
    bool done;
    do { /* at least once, even if the budget is used up */
        done = comparison_step(v->comparison, COMPARISON);
        *budget -= *budget < COMPARISON ? *budget : COMPARISON;
    } while (!done && *budget >= COMPARISON);
    if (done)
        v->compared = 0;
    *answer = comparison_answer(v->comparison);
    return done;
}

/* Selects the next group: the open events of one thread, or one event whose thread is not known. */
static bool next_group(struct shared_line_order *v)
{
    v->from = v->until;
    if (v->from == v->open_count)
        return false;
    uint32_t thread = v->open[v->from].thread;
    for (v->until = v->from + 1; thread && v->until < v->open_count; v->until++)
        if (v->open[v->until].thread != thread)
            break;
    v->low = v->from;
    v->high = v->until;
    v->turn = 0;
    return v->grouped = true;
}

/* Finds how many events of the group are before the given one (turn 0), or not after it (turn
 * 1); returns false if the budget is used up. */
static bool shared_order_bisect(struct shared_line_order *v, uint64_t *budget)
{
    while (v->low < v->high) {
        size_t middle = v->low + (v->high - v->low) / 2;
        enum causal_relation answer;
        if (!shared_order_compare_event(v, middle, budget, &answer))
            return false;
        bool left = v->turn == 0 ? answer == ORDER_BEFORE : answer != ORDER_AFTER;
        v->low = left ? middle + 1 : v->low;
        v->high = left ? v->high : middle;
    }
    return true;
}

static bool shared_order_count_groups(struct shared_line_order *v, uint64_t *budget,
                                      struct relation_counts *count)
{
    while (v->grouped || next_group(v)) {
        if (!shared_order_bisect(v, budget))
            return false;
        if (v->turn++ == 0) {
            v->befores = v->low;
            v->high = v->until;
            continue;
        }
        count->before += v->befores - v->from;
        count->after += v->until - v->low;
        for (size_t i = v->befores; i < v->low; i++)
            add_unordered(v, v->open[i].position, count);
        v->grouped = false;
    }
    return true;
}

bool shared_line_order_step(struct shared_line_order *v, uint64_t *budget,
                            struct relation_counts *count)
{
    for (; v->ordinal < v->end; v->ordinal++) {
        if (*budget < LOOK)
            return false;
        *budget -= LOOK;
        uint64_t position = order_line_at(v->run->order, v->line, v->ordinal);
        if (position != NO_POSITION)
            shared_order_visit_event(v, position, count);
    }
    if (!v->sorted && v->open_count)
        qsort(v->open, v->open_count, sizeof *v->open, by_thread);
    v->sorted = true;
    return shared_order_count_groups(v, budget, count);
}
