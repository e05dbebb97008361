/* Events between two events: elapsed time, and the number of events of each type, as recorded. */
#include "server/queries/request_queue.h"
#include "server/eventloop/loop_turn.h"
#include "base/alloc.h"
#include "wire/query_results.h"
#include "wire/event_id.h"
#include "wire/trace_view.h"

#include <stdlib.h>

#define SLICE 4096u /* events between two readings of the clock */
#define COST 8u /* events for one unit of the budget */

struct between_job {
    const struct run *run;
    struct between_info span;
    uint64_t at, end; /* positions; those between `at` and `end` are still to be counted */
    uint64_t *counts; /* by type */
    uint32_t types;
    uint64_t most_ns, spent_ns; /* working time; most_ns 0: unlimited */
};

static bool between_find_event(const struct run *run, struct event_id at, uint64_t *position)
{
    bool there = at.line && !(at.line & HIDDEN_LINE) && at.line <= order_line_count(run->order);
    *position = there ? order_position(run->order, at) : NO_POSITION;
    return *position != NO_POSITION;
}

static void *between_begin(struct request_queue *queue, struct decoder *in)
{
    const struct run *run = queue->run;
    struct event_id a = decode_event_id(in), b = decode_event_id(in);
    uint64_t most_ns = decoder_remaining(in) ? 1000000u * (uint64_t)decode_u32(in) : 0;
    if (!decoder_finish(in))
        return NULL;
    struct between_job *job = xcalloc(1, sizeof *job);
    *job = (struct between_job){.run = run, .span = {.from = a, .to = b}, .most_ns = most_ns};
    job->types = (uint32_t)run->types.count + 1;
    job->counts = xcalloc(job->types, sizeof *job->counts);
    uint64_t first, last;
    job->span.known = between_find_event(run, a, &first) && between_find_event(run, b, &last);
    if (!job->span.known)
        return job;
    job->span.ns = order_event(run->order, last).time_ns - order_event(run->order, first).time_ns;
    job->at = first < last ? first : last;
    job->end = first < last ? last : first;
    return job;
}

/* Counts the events between the two, excluding both. */
static bool between_step(void *p, uint64_t budget)
{
    struct between_job *job = p;
    uint64_t began = loop_clock_ns();
    if (job->at < order_first(job->run->order))
        job->at = order_first(job->run->order); /* discarded meanwhile */
    for (; job->at + 1 < job->end && budget;
         budget -= budget < SLICE / COST ? budget : SLICE / COST) {
        uint64_t until = job->end - job->at - 1 < SLICE ? job->end : job->at + 1 + SLICE;
        order_count_types(job->run->order, job->at + 1, until, job->counts, job->types);
        job->at = until - 1;
    }
    job->spent_ns += loop_clock_ns() - began;
    job->span.whole = job->at + 1 >= job->end;
    return job->span.whole || (job->most_ns && job->spent_ns >= job->most_ns);
}

static bool between_put(void *p, struct response *reply)
{
    struct between_job *job = p;
    struct between_info span = job->span;
    struct type_count *kinds = xcalloc(job->types, sizeof *kinds);
    for (uint32_t type = 0; type < job->types; type++) {
        span.events += job->counts[type];
        if (job->counts[type])
            kinds[span.kind_count++] = (struct type_count){type, job->counts[type]};
    }
    span.kinds = kinds;
    response_chunk_begin(reply, RESPONSE_BETWEEN);
    encode_between(reply->out, &span);
    response_chunk_end(reply);
    free(kinds);
    return true;
}

static void free_job(void *p)
{
    struct between_job *job = p;
    free(job->counts);
    free(job);
}

const struct query query_between = {.begin = between_begin,
                                    .step = between_step,
                                    .put = between_put,
                                    .free = free_job,
                                    .most = LIMIT_QUERIES};
