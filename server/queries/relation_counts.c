/* Counts of the events before one, after it, and concurrent with it.  On an exclusive line the
 * past is a prefix and the future a suffix, so two numbers suffice; shared lines are counted by
 * shared_line_order.h.  If the request limits the time, the counts can be lower bounds; if not,
 * progress is sent now and then. */
#include "server/queries/request_queue.h"
#include "server/queries/referenced_lines.h"
#include "server/queries/shared_line_order.h"
#include "server/eventloop/loop_turn.h"
#include "server/run/untraced_reasons.h"
#include "wire/query_results.h"
#include "wire/event_id.h"
#include "wire/trace_view.h"
#include "base/alloc.h"

#include <stdlib.h>

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

static void *begin_job(struct request_queue *queue, struct decoder *in)
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

static bool in_order(const struct order *order, uint64_t position)
{
    return position != NO_POSITION && order_event(order, position).state == EVENT_ORDERED;
}

static bool is_unknown(const struct count_job *job, uint64_t position)
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
        if (!in_order(order, position))
            continue;
        bool past = cone_contains(job->past, position),
             future = cone_contains(job->future, position);
        job->count.same += past && future;
        job->count.before += past && !future;
        job->count.after += future && !past;
        bool unknown = !past && !future && is_unknown(job, position);
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

static void free_job(void *p)
{
    relation_counts_release(p);
    free(p);
}

const struct query query_count = {.begin = begin_job,
                                  .step = relation_counts_step,
                                  .put = relation_counts_put,
                                  .free = free_job,
                                  .most = LIMIT_QUERIES};
