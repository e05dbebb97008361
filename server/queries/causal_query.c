/* Causal edges among requested events: their direct causes among each other, and their
 * uncertainties.
 *
 *  One pass over the log, from the first of them to the last, records for each line which
 * requested events happened before its events.  It uses vector clocks (Fidge 1988, Mattern 1989)
 * that count requested events only, with one component per chain.  A chain consists of the
 * requested events of one thread, as long as each is known to follow the previous one; so no
 * order is assumed on shared lines or where events were lost. */
#include "base/alloc.h"
#include "base/lower_bound.h"
#include "base/map.h"
#include "server/order/order.h"
#include "server/queries/request_queue.h"
#include "server/run/event_times.h"
#include "server/run/untraced_reasons.h"
#include "wire/query_results.h"

#include <stdlib.h>
#include <string.h>

#ifndef CAUSES_BYTES
#define CAUSES_BYTES ((size_t)512 << 20) /* memory limit, above which no result is sent */
#endif

/* By chain: how many of its synchronization points happened before; 0 for chains from `size` on. */
struct causal_vector {
    size_t offset;
    uint32_t size;
};

struct causal_past { /* history of a line: its events from `position` on have this vector */
    struct causal_change {
        uint64_t position;
        uint32_t vector;
    } *changes;
    size_t count, room;
    bool shared;
};

/* Which uncertainty sets were sent: as numbers that say, for each reason, which sets are alike.  A
 * viewer that has only the numbers can tell for which reasons the order of two events is unknown:
 * those in which their sets differ. */
struct sent_uncertainty_sets {
    struct map known; /* set -> any pointer, for each set already sent */
    struct map number; /* reason and the order's number of a kind of it -> 1 + its number here */
    uint32_t count[UNTRACED_COUNT]; /* number of kinds, by reason */
    size_t room;
};

struct causal_query_job {
    const struct run *run;
    struct causal_edges_request request;
    uint64_t first; /* first position of the order when the pass began */
    /* Positions: `begin` of the first requested synchronization point; all before `at` is
     * processed. */
    uint64_t begin, at, end;
    uint32_t next; /* index of the next requested event */
    struct causal_vector *vectors; /* vector 0 is empty */
    size_t vector_count, vector_room;
    uint32_t *numbers, *scratch;
    size_t number_count, number_room, scratch_room;
    struct causal_past *pasts;
    size_t past_count, past_room, bytes;
    struct map past_of; /* line -> 1 + index in `pasts` */
    struct map chain_of; /* line of the thread, or of an event without one -> 1 + chain */
    struct causal_points { /* of a chain: indices of requested events */
        uint32_t *items;
        size_t count, room;
    } *chains;
    size_t chain_count, chain_room;
    uint32_t *vector_of; /* by requested event: its vector */
    uint32_t *candidates;
    size_t candidate_room, cause_room;
    struct sent_uncertainty_sets sent;
    struct causal_edges_info answer;
};

static void causal_query_drop_results(struct causal_query_job *job)
{
    for (size_t i = 0; i < job->past_count; i++)
        free(job->pasts[i].changes);
    for (size_t i = 0; i < job->chain_count; i++)
        free(job->chains[i].items);
    free(job->vectors);
    free(job->numbers);
    free(job->scratch);
    free(job->pasts);
    free(job->chains);
    free(job->vector_of);
    free(job->candidates);
    map_free(&job->past_of);
    map_free(&job->chain_of);
    map_free(&job->sent.known);
    map_free(&job->sent.number);
    causal_edges_info_free(&job->answer);
}

/* Starts the pass, also again if events were discarded meanwhile. */
static void causal_query_start(struct causal_query_job *job)
{
    struct causal_query_job fresh = {.run = job->run, .request = job->request};
    const struct order *order = job->run->order;
    causal_query_drop_results(job);
    *job = fresh;
    uint32_t n = job->request.count;
    job->first = order_first(order);
    job->answer = (struct causal_edges_info){.whole = true,
                                             .hiding = untraced_reasons_hiding_order(job->run),
                                             .mechanisms = untraced_reasons_mechanisms(job->run),
                                             .events = xcalloc(n, sizeof *job->answer.events),
                                             .event_count = n};
    job->vector_of = xcalloc(n, sizeof *job->vector_of);
    job->vectors = array_reserve(NULL, &job->vector_room, 1, sizeof *job->vectors);
    job->vectors[job->vector_count++] = (struct causal_vector){0};
    for (uint32_t i = 0; i < n; i++) {
        uint64_t position = job->request.positions[i];
        bool forgotten = position < job->first;
        bool there = !forgotten && position < order_count(order);
        job->answer.events[i] = (struct causal_edge_info){
            .point = i,
            .chain = NO_CHAIN,
            .doubts = UNTRACED_BIT(forgotten ? UNANSWERED_FORGOTTEN : UNANSWERED_PENDING),
            .time_ns = there ? event_times_fitted(job->run, position) : 0};
    }
    while (job->next < n && job->request.positions[job->next] < job->first)
        job->next++;
    if (job->next == n || job->request.positions[job->next] >= order_count(order))
        return;
    uint32_t last = n - 1;
    while (job->request.positions[last] >= order_count(order))
        last--;
    job->begin = job->at = order_event(order, job->request.positions[job->next]).point;
    job->end = order_point_end(order, job->request.positions[last]) + 1;
}

static void *causal_query_begin(struct request_queue *queue, struct decoder *in)
{
    struct causal_edges_request request;
    decode_causal_edges_request(in, &request);
    if (!decoder_finish(in)) {
        causal_edges_request_free(&request);
        return NULL;
    }
    struct causal_query_job *job = xcalloc(1, sizeof *job);
    job->run = queue->run;
    job->request = request;
    causal_query_start(job);
    return job;
}

static void free_job(void *p)
{
    struct causal_query_job *job = p;
    causal_query_drop_results(job);
    causal_edges_request_free(&job->request);
    free(job);
}

/* ---- vectors ---- */

static uint32_t causal_query_component(const struct causal_query_job *job, uint32_t vector,
                                       uint32_t chain)
{
    const struct causal_vector *v = &job->vectors[vector];
    return chain < v->size ? job->numbers[v->offset + chain] : 0;
}

/* Makes a new vector of the numbers in `scratch`. */
static uint32_t new_vector(struct causal_query_job *job, uint32_t size)
{
    job->numbers = array_reserve(job->numbers, &job->number_room, job->number_count + size + 1,
                                 sizeof *job->numbers);
    if (size)
        memcpy(job->numbers + job->number_count, job->scratch, size * sizeof *job->scratch);
    job->vectors =
        array_reserve(job->vectors, &job->vector_room, job->vector_count + 1, sizeof *job->vectors);
    job->vectors[job->vector_count] = (struct causal_vector){job->number_count, size};
    job->number_count += size;
    job->bytes += size * sizeof *job->numbers + sizeof *job->vectors;
    return (uint32_t)job->vector_count++;
}

/* Returns the componentwise maximum of two vectors; if that equals one of them, that one. */
static uint32_t causal_query_join_vectors(struct causal_query_job *job, uint32_t a, uint32_t b)
{
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    uint32_t size =
        job->vectors[a].size > job->vectors[b].size ? job->vectors[a].size : job->vectors[b].size;
    bool is_a = true, is_b = true;
    job->scratch = array_reserve(job->scratch, &job->scratch_room, size, sizeof *job->scratch);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t x = causal_query_component(job, a, i), y = causal_query_component(job, b, i);
        is_a &= x >= y;
        is_b &= y >= x;
        job->scratch[i] = x > y ? x : y;
    }
    return is_a ? a : is_b ? b : new_vector(job, size);
}

static uint32_t causal_query_add_own(struct causal_query_job *job, uint32_t vector, uint32_t chain,
                                     uint32_t number)
{
    uint32_t size = job->vectors[vector].size > chain ? job->vectors[vector].size : chain + 1;
    job->scratch = array_reserve(job->scratch, &job->scratch_room, size, sizeof *job->scratch);
    for (uint32_t i = 0; i < size; i++)
        job->scratch[i] = causal_query_component(job, vector, i);
    job->scratch[chain] = number;
    return new_vector(job, size);
}

/* ---- histories of lines ---- */

static struct causal_past *past_of(struct causal_query_job *job, uint32_t line)
{
    uintptr_t known = (uintptr_t)map_get(&job->past_of, line, 0);
    if (!known) {
        job->pasts =
            array_reserve(job->pasts, &job->past_room, job->past_count + 1, sizeof *job->pasts);
        job->pasts[job->past_count++] =
            (struct causal_past){.shared = order_line_shared(job->run->order, line)};
        known = job->past_count;
        map_put(&job->past_of, line, 0, (void *)known);
        job->bytes += sizeof *job->pasts + sizeof(struct map_entry);
    }
    return &job->pasts[known - 1];
}

static uint32_t vector_at(const struct causal_past *past, uint64_t position)
{
    size_t low = LOWER_BOUND(i, 0, past->count, past->changes[i].position <= position);
    return low ? past->changes[low - 1].vector : 0;
}

static void set_from(struct causal_query_job *job, struct causal_past *past, uint64_t position,
                     uint32_t vector)
{
    if ((past->count ? past->changes[past->count - 1].vector : 0) == vector)
        return;
    past->changes =
        array_reserve(past->changes, &past->room, past->count + 1, sizeof *past->changes);
    past->changes[past->count++] = (struct causal_change){position, vector};
    job->bytes += sizeof *past->changes;
}

/* Returns the vector of all that an event follows, except the other events of its
 * synchronization point. */
static uint32_t causal_query_inherited_vector(struct causal_query_job *job, uint64_t position,
                                              const struct order_event *e)
{
    const struct order *order = job->run->order;
    const struct causal_past *own = past_of(job, e->line);
    uint32_t vector = own->shared || !own->count ? 0 : own->changes[own->count - 1].vector;
    for (uint32_t i = 0; i < e->edge_count; i++) {
        uint64_t from = order_edge(order, position, i);
        if (from < job->first || from < job->begin)
            continue; /* events before the first point are on no path between requested ones */
        struct order_event cause = order_event(order, from);
        if (cause.line)
            vector =
                causal_query_join_vectors(job, vector, vector_at(past_of(job, cause.line), from));
    }
    return vector;
}

/* ---- requested synchronization points ---- */

/* Returns the chain of a line if this point follows its last one, else a new chain. */
static uint32_t chain_for(struct causal_query_job *job, uint32_t line, uint32_t vector)
{
    uintptr_t known = (uintptr_t)map_get(&job->chain_of, line, 0);
    if (known &&
        causal_query_component(job, vector, (uint32_t)known - 1) == job->chains[known - 1].count)
        return (uint32_t)known - 1;
    job->chains =
        array_reserve(job->chains, &job->chain_room, job->chain_count + 1, sizeof *job->chains);
    job->chains[job->chain_count++] = (struct causal_points){0};
    map_put(&job->chain_of, line, 0, (void *)job->chain_count);
    return (uint32_t)job->chain_count - 1;
}

/* Returns whether a candidate cause happened before another one, and so is not a direct cause. */
static bool is_implied(const struct causal_query_job *job, const uint32_t *candidates, size_t count,
                       uint32_t point)
{
    uint32_t chain = job->answer.events[point].chain;
    uint32_t number = causal_query_component(job, job->vector_of[point], chain);
    for (size_t i = 0; i < count; i++)
        if (candidates[i] != point &&
            causal_query_component(job, job->vector_of[candidates[i]], chain) >= number)
            return true;
    return false;
}

/* Finds the direct causes of the point at index i among the points that its vector contains and
 * the vector of its predecessor on the chain does not. */
static void find_causes(struct causal_query_job *job, uint32_t i, uint32_t chain, uint32_t vector)
{
    struct causal_edges_info *a = &job->answer;
    uint32_t size = job->vectors[vector].size, before = 0;
    size_t count = 0;
    if (job->chains[chain].count)
        before = job->vector_of[job->chains[chain].items[job->chains[chain].count - 1]];
    job->candidates =
        array_reserve(job->candidates, &job->candidate_room, size + 1, sizeof(uint32_t));
    for (uint32_t c = 0; c < size; c++) {
        uint32_t n = causal_query_component(job, vector, c);
        if (n && (c == chain || n > causal_query_component(job, before, c)))
            job->candidates[count++] = job->chains[c].items[n - 1];
    }
    a->events[i].first = a->cause_count;
    for (size_t k = 0; k < count; k++) {
        if (is_implied(job, job->candidates, count, job->candidates[k]))
            continue;
        a->causes =
            array_reserve(a->causes, &job->cause_room, a->cause_count + 1u, sizeof *a->causes);
        a->causes[a->cause_count++] = job->candidates[k];
    }
    a->events[i].count = a->cause_count - a->events[i].first;
}

/* Returns the time of the point at index i, not before any of its causes, whatever the clocks say.
 */
static int64_t repaired_time(const struct causal_query_job *job, uint32_t i)
{
    const struct causal_edges_info *a = &job->answer;
    int64_t time = event_times_point(job->run, job->request.positions[i]);
    for (uint32_t k = 0; k < a->events[i].count; k++) {
        int64_t before = a->events[a->causes[a->events[i].first + k]].time_ns;
        time = before > time ? before : time;
    }
    return time;
}

static uint32_t causal_query_kind_number(struct sent_uncertainty_sets *sent, unsigned reason,
                                         uint64_t kind)
{
    if (!kind)
        return 0;
    uintptr_t known = (uintptr_t)map_get(&sent->number, kind, reason);
    if (!known) {
        known = ++sent->count[reason];
        map_put(&sent->number, kind, reason, (void *)known);
    }
    return (uint32_t)known;
}

/* Sends a set unless it was sent already. */
static void causal_query_encode_set(struct sent_uncertainty_sets *sent, const struct order *order,
                                    uint32_t set, struct causal_edges_info *to)
{
    if (set == ANY_DOUBTS || map_get(&sent->known, set, 0))
        return;
    map_put(&sent->known, set, 0, sent);
    struct uncertainty_info doubts = {.doubts = set};
    for (unsigned reason = 1; reason < UNTRACED_COUNT; reason++)
        doubts.kinds[reason] =
            causal_query_kind_number(sent, reason, order_uncertainty_kind(order, set, reason));
    to->doubts = array_reserve(to->doubts, &sent->room, to->doubts_count + 1u, sizeof *to->doubts);
    to->doubts[to->doubts_count++] = doubts;
}

/* Answers for the next `count` requested events, which belong to one synchronization point.
 * Returns the vector of the whole point. */
static uint32_t causal_query_answer_point(struct causal_query_job *job, uint32_t count,
                                          uint32_t vector)
{
    struct causal_edge_info *events = job->answer.events;
    uint32_t i = job->next;
    struct order_event first = order_event(job->run->order, job->request.positions[i]);
    uint32_t chain = chain_for(job, first.thread ? first.thread : first.line, vector);
    find_causes(job, i, chain, vector);
    int64_t time_ns = repaired_time(job, i);
    struct causal_points *points = &job->chains[chain];
    points->items =
        array_reserve(points->items, &points->room, points->count + 1, sizeof *points->items);
    points->items[points->count++] = i;
    vector = causal_query_add_own(job, vector, chain, (uint32_t)points->count);
    for (uint32_t k = i; k < i + count; k++) {
        uint32_t doubts = order_uncertainty_of(job->run->order, job->request.positions[k]);
        events[k].point = i;
        events[k].chain = chain;
        events[k].time_ns = time_ns;
        events[k].doubts = doubts;
        causal_query_encode_set(&job->sent, job->run->order, doubts, &job->answer);
        if (doubts == ANY_DOUBTS) /* the reasons are the same for all pairs of events */
            job->answer.any = order_uncertainty_between(job->run->order, job->request.positions[k],
                                                        job->request.positions[k]);
        job->vector_of[k] = vector;
    }
    return vector;
}

/* Answers for the requested events of a point that has no place in the order: the reason only. */
static void causal_query_answer_unordered(struct causal_query_job *job, uint32_t count)
{
    for (uint32_t k = job->next; k < job->next + count; k++) {
        struct order_event e = order_event(job->run->order, job->request.positions[k]);
        job->answer.events[k].doubts =
            UNTRACED_BIT(e.line ? UNANSWERED_CONTRADICTORY : UNANSWERED_DAMAGED);
    }
}

/* Processes one synchronization point, with events at first .. last. */
static void causal_query_visit_point(struct causal_query_job *job, uint64_t first, uint64_t last)
{
    uint32_t vector = 0, count = 0;
    while (job->next + count < job->request.count &&
           job->request.positions[job->next + count] <= last)
        count++;
    bool good = true;
    for (uint64_t p = first; p <= last && good; p++) {
        struct order_event e = order_event(job->run->order, p);
        if (!e.line) /* a damaged event, with an unknown order */
            job->answer.hiding |= UNTRACED_BIT(UNANSWERED_DAMAGED);
        good = e.line && e.state == EVENT_ORDERED;
        if (good)
            vector =
                causal_query_join_vectors(job, vector, causal_query_inherited_vector(job, p, &e));
    }
    if (good && count)
        vector = causal_query_answer_point(job, count, vector);
    else if (!good)
        causal_query_answer_unordered(job, count);
    for (uint64_t p = first; p <= last && good; p++)
        set_from(job, past_of(job, order_event(job->run->order, p).line), p, vector);
    job->next += count;
}

static bool causal_query_step(void *p, uint64_t budget)
{
    struct causal_query_job *job = p;
    const struct order *order = job->run->order;
    if (job->first != order_first(order))
        causal_query_start(job);
    if (!order_uncertainty_step(order, job->end, budget))
        return false;
    while (job->at < job->end && budget && job->answer.whole) {
        uint64_t last = order_point_end(order, job->at);
        causal_query_visit_point(job, job->at, last);
        budget -= budget <= last - job->at ? budget : last - job->at + 1;
        job->at = last + 1;
        job->answer.whole = job->bytes <= CAUSES_BYTES;
    }
    return job->at >= job->end || !job->answer.whole;
}

static bool causal_query_put(void *p, struct response *reply)
{
    struct causal_query_job *job = p;
    if (!job->answer.whole)
        job->answer.event_count = job->answer.cause_count = 0;
    job->answer.hiding |=
        untraced_reasons_hiding_order(job->run); /* programs can have reported more since */
    job->answer.mechanisms |= untraced_reasons_mechanisms(job->run);
    response_chunk_begin(reply, RESPONSE_CAUSES);
    encode_causal_edges(reply->out, &job->answer);
    response_chunk_end(reply);
    return true;
}

const struct query query_causes = {.begin = causal_query_begin,
                                   .step = causal_query_step,
                                   .put = causal_query_put,
                                   .free = free_job,
                                   .most = 1};
