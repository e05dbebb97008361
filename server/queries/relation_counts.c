/* Counts of the events before one, after it, and concurrent with it.  On an exclusive line the past
 * is a prefix and the future a suffix, so two numbers suffice.  If the request limits the time, the
 * counts can be lower bounds; if not, progress is sent now and then. */
#include "base/alloc.h"
#include "server/eventloop/event_loop.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/request_queue.h"
#include "server/run/untraced_reasons.h"
#include "wire/event_types.h"
#include "wire/query_results.h"
#include "wire/trace_view.h"

#include <stdlib.h>

/* ---- order of the events of one shared line relative to one event ---- */

/* Critical sections of a shared line overlap, so neither the past nor the future there is one
 * range.  But the events of one thread are ordered among themselves: for each thread the past is
 * those up to one event, the future those from one event on.  The events of the thread's own line
 * determine nearly all of it; the few events between are compared. */

#define LOOK 4u /* cost of an event of the line, in events */
#define OWN_STEPS 16u /* events of its own line searched for one of the thread itself */
#define COMPARISON_STEP 1000u /* budget of one step of a comparison, in events */

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

/* past and future: of the event at `position`, complete; borrowed. hidden: untraced synchronization
 * may order what is unordered. */
static struct shared_line_order *shared_line_order_new(const struct run *run, uint64_t position,
                                                       const struct cone *past,
                                                       const struct cone *future, bool hidden)
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

static void shared_line_order_free(struct shared_line_order *v)
{
    if (!v)
        return;
    comparison_free(v->comparison);
    free(v->threads);
    free(v->open);
    free(v);
}

static void shared_line_order_begin(struct shared_line_order *v, uint32_t line)
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

static struct shared_order_edges *shared_order_edges_of(struct shared_line_order *v,
                                                        uint32_t thread)
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

static void shared_order_add_unordered(const struct shared_line_order *v, uint64_t position,
                                       struct relation_counts *count)
{
    bool unknown = v->hidden || order_uncertainty_between(v->run->order, v->position, position);
    count->unknown += unknown;
    count->concurrent += !unknown;
}

static void shared_order_leave_open(struct shared_line_order *v, uint32_t thread, uint64_t position)
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
        shared_order_leave_open(v, 0, position);
        return;
    }
    const struct shared_order_edges *edges = shared_order_edges_of(v, e.thread);
    bool not_before = position > v->last || position > edges->not_before;
    bool not_after = position < v->first || position < edges->not_after;
    if (position < edges->before)
        count->before++;
    else if (position > edges->after && edges->after != NO_POSITION)
        count->after++;
    else if (not_before && not_after)
        shared_order_add_unordered(v, position, count);
    else
        shared_order_leave_open(v, e.thread, position);
}

/* ---- comparisons of single events ---- */

static int shared_order_by_thread(const void *a, const void *b)
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
        done = comparison_step(v->comparison, COMPARISON_STEP);
        *budget -= *budget < COMPARISON_STEP ? *budget : COMPARISON_STEP;
    } while (!done && *budget >= COMPARISON_STEP);
    if (done)
        v->compared = 0;
    *answer = comparison_answer(v->comparison);
    return done;
}

/* Selects the next group: the open events of one thread, or one event of an unknown thread. */
static bool shared_order_next_group(struct shared_line_order *v)
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
    while (v->grouped || shared_order_next_group(v)) {
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
            shared_order_add_unordered(v, v->open[i].position, count);
        v->grouped = false;
    }
    return true;
}

/* Adds relations to `count`; *budget is in events.  Returns true when all of the line is
 * counted. */
static bool shared_line_order_step(struct shared_line_order *v, uint64_t *budget,
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
        qsort(v->open, v->open_count, sizeof *v->open, shared_order_by_thread);
    v->sorted = true;
    return shared_order_count_groups(v, budget, count);
}

/* ---- the count ---- */

#define COMPARISON 500u /* cost of comparing an event of a shared line, in events */
#define LINE_ENDS 300u /* cost of finding both ends on a line, in events */
#define REPORT_EVERY_NS 500000000u
#define BOUNDS_NS 10000000u /* time for the lower bounds after the time limit */

struct count_job {
    const struct run *run;
    struct relation_counts count;
    struct cone *past, *future;
    bool hidden; /* untraced synchronization may order what is unordered */
    uint64_t first; /* first position of the order when the job began */
    uint64_t position; /* of the requested event */
    uint64_t ordinal;
    uint32_t line; /* the current line */
    struct shared_line_order *visits;
    uint64_t most_ns, spent_ns, reported_ns; /* working time; most_ns 0: unlimited */
    bool over; /* the counts are final */
};

static void relation_counts_reset(struct count_job *job)
{
    const struct order *order = job->run->order;
    uint64_t position = order_position(order, job->count.at);
    job->count = (struct relation_counts){.at = job->count.at};
    job->first = order_first(order);
    job->line = 1;
    job->ordinal = 0;
    job->count.whole = true;
    if (position == NO_POSITION || order_event(order, position).state != EVENT_ORDERED)
        return;
    job->count.known = true;
    job->position = position;
    job->hidden = untraced_reasons_hiding_order(job->run) != 0;
    job->past = cone_new(order, position, false, 0);
    job->future = cone_new(order, position, true, order_count(order));
}

static void relation_counts_release(struct count_job *job)
{
    shared_line_order_free(job->visits);
    cone_free(job->past);
    cone_free(job->future);
    job->visits = NULL;
    job->past = job->future = NULL;
}

static void *relation_counts_begin(struct request_queue *queue, struct decoder *in)
{
    const struct run *run = queue->run;
    struct event_id at = decode_event_id(in);
    uint64_t most_ns = decoder_remaining(in) ? 1000000u * (uint64_t)decode_u32(in) : 0;
    if (!decoder_finish(in))
        return NULL;
    struct count_job *job = xcalloc(1, sizeof *job);
    *job = (struct count_job){.run = run, .count.at = at, .most_ns = most_ns};
    uint32_t line = at.line & ~HIDDEN_LINE;
    if (line && !(at.line & HIDDEN_LINE) && line <= order_line_count(run->order))
        relation_counts_reset(job);
    return job;
}

static bool relation_counts_is_in_order(const struct order *order, uint64_t position)
{
    return position != NO_POSITION && order_event(order, position).state == EVENT_ORDERED;
}

static bool relation_counts_is_unknown(const struct count_job *job, uint64_t position)
{
    return job->hidden || order_uncertainty_between(job->run->order, job->position, position);
}

/* Counts a line by comparing each of its events; returns false if the budget is used up. */
static bool relation_counts_query_each(struct count_job *job, uint64_t *budget)
{
    const struct order *order = job->run->order;
    uint64_t cost = order_line_shared(order, job->line) ? COMPARISON : 1;
    for (; job->ordinal < order_line_events(order, job->line); job->ordinal++) {
        if (*budget < cost)
            return false;
        *budget -= cost;
        uint64_t position = order_line_at(order, job->line, job->ordinal);
        if (!relation_counts_is_in_order(order, position))
            continue;
        bool past = cone_contains(job->past, position),
             future = cone_contains(job->future, position);
        job->count.same += past && future;
        job->count.before += past && !future;
        job->count.after += future && !past;
        bool unknown = !past && !future && relation_counts_is_unknown(job, position);
        job->count.unknown += unknown;
        job->count.concurrent += !past && !future && !unknown;
    }
    return true;
}

/* Counts an exclusive line by the end of the past and the begin of the future on it. */
static void relation_counts_query_ends(struct count_job *job)
{
    const struct order *order = job->run->order;
    uint64_t n = order_line_events(order, job->line), base = order_line_first(order, job->line);
    uint64_t last = cone_contains_on_line(job->past, job->line),
             next = cone_contains_on_line(job->future, job->line);
    uint64_t until = last == NO_POSITION ? base : order_line_from(order, job->line, last) + 1;
    uint64_t from = next == NO_POSITION ? n : order_line_from(order, job->line, next);
    uint64_t same = from < until ? until - from : 0; /* the event's own point is in both */
    job->count.same += same;
    job->count.before += until - base - same;
    job->count.after += n - from - same;
    uint64_t unordered = n - base - (until - base) - (n - from) + same;
    uint64_t alike =
        job->hidden ? 0 : order_uncertainty_alike(order, job->line, until, from, job->position);
    alike = alike < unordered ? alike : unordered;
    job->count.concurrent += alike;
    job->count.unknown += unordered - alike;
}

/* Counts a shared line; returns false if the budget is used up. */
static bool relation_counts_query_shared_lines(struct count_job *job, uint64_t *budget)
{
    if (!job->visits)
        job->visits =
            shared_line_order_new(job->run, job->position, job->past, job->future, job->hidden);
    if (job->ordinal == 0)
        shared_line_order_begin(job->visits, job->line);
    job->ordinal = 1;
    return shared_line_order_step(job->visits, budget, &job->count);
}

static bool relation_counts_query_line(struct count_job *job, bool each, uint64_t *budget)
{
    const struct order *order = job->run->order;
    bool shared = order_line_shared(order, job->line);
    if (shared && !each)
        return relation_counts_query_shared_lines(job, budget);
    if (job->ordinal == 0)
        job->ordinal = order_line_first(order, job->line);
    if (each)
        return relation_counts_query_each(job, budget);
    relation_counts_query_ends(job);
    return true;
}

static bool relation_counts_query_lines(struct count_job *job, uint64_t budget)
{
    const struct order *order = job->run->order;
    bool each = order_figures(order).contradictions > 0;
    for (; job->line <= order_line_count(order); job->line++, job->ordinal = 0) {
        if (budget < COMPARISON + LINE_ENDS)
            return false;
        budget -= LINE_ENDS;
        if (!relation_counts_query_line(job, each, &budget))
            return false;
    }
    return true;
}

static bool relation_counts_cones_ready(struct count_job *job, uint64_t budget)
{
    const struct order *order = job->run->order;
    return cone_step(job->past, budget) && cone_step(job->future, budget) &&
           order_uncertainty_step(order, order_count(order), budget);
}

/* Counts what the incomplete searches have found so far. */
static void relation_counts_query_bounds(struct count_job *job)
{
    const struct order *order = job->run->order;
    struct loop_share share = loop_share_new(BOUNDS_NS);
    for (; job->line <= order_line_count(order) && loop_share_left(share); job->line++) {
        if (order_line_shared(order, job->line))
            continue;
        uint64_t last = cone_contains_on_line(job->past, job->line),
                 next = cone_contains_on_line(job->future, job->line);
        if (last != NO_POSITION && last < job->position)
            job->count.before +=
                order_line_from(order, job->line, last) + 1 - order_line_first(order, job->line);
        if (next != NO_POSITION && next > job->position)
            job->count.after +=
                order_line_events(order, job->line) - order_line_from(order, job->line, next);
    }
}

/* Ends the count at the time limit: the counts are lower bounds. */
static void relation_counts_give_up(struct count_job *job)
{
    job->count.whole = false;
    if (order_figures(job->run->order).contradictions == 0 && !relation_counts_cones_ready(job, 1))
        relation_counts_query_bounds(job);
    job->over = true;
}

static bool relation_counts_continue(struct count_job *job, uint64_t budget)
{
    if (!job->count.known)
        return true;
    if (job->first != order_first(job->run->order)) { /* events were discarded */
        relation_counts_release(job);
        relation_counts_reset(job);
        return !job->count.known;
    }
    return relation_counts_cones_ready(job, budget) && relation_counts_query_lines(job, budget);
}

static bool relation_counts_step(void *p, uint64_t budget)
{
    struct count_job *job = p;
    uint64_t began = loop_clock_ns();
    if (relation_counts_continue(job, budget)) {
        job->over = true;
        return true;
    }
    job->spent_ns += loop_clock_ns() - began;
    if (job->most_ns && job->spent_ns >= job->most_ns) {
        relation_counts_give_up(job);
        return true;
    }
    return !job->most_ns && job->spent_ns - job->reported_ns >= REPORT_EVERY_NS;
}

static bool relation_counts_put(void *p, struct response *reply)
{
    struct count_job *job = p;
    struct relation_counts count = job->count;
    count.whole &= job->over;
    job->reported_ns = job->spent_ns;
    referenced_lines_note(count.at.line);
    response_chunk_begin(reply, RESPONSE_COUNT);
    encode_relation_counts(reply->out, &count);
    response_chunk_end(reply);
    return job->over;
}

static void relation_counts_free(void *p)
{
    relation_counts_release(p);
    free(p);
}

const struct query query_count = {.begin = relation_counts_begin,
                                  .step = relation_counts_step,
                                  .put = relation_counts_put,
                                  .free = relation_counts_free,
                                  .most = LIMIT_QUERIES};
