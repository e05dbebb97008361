/* What lies between two events: how much time, and how many events of each type, as they were recorded. */
#include "server/answer/desk.h"
#include "server/loop/turn.h"
#include "memory/memory.h"
#include "wire/found.h"
#include "wire/ref.h"
#include "wire/shown.h"

#include <stdlib.h>

#define SLICE 4096u /* events between two looks at the clock */
#define COST 8u /* so many of them for the price of one */

struct span_job {
    const struct run *run;
    struct shown_span span;
    uint64_t at, end; /* positions: from `at` to `end` is still to be counted */
    uint64_t *counts; /* by type */
    uint32_t types;
    uint64_t most_ns, spent_ns; /* of work; most_ns 0: any time */
};

static bool find(const struct run *run, struct ref at, uint64_t *position)
{
    bool there = at.line && !(at.line & HIDDEN_LINE) && at.line <= order_lines(run->order);
    *position = there ? order_position(run->order, at) : NO_POSITION;
    return *position != NO_POSITION;
}

static void *begin(struct desk *desk, struct in *in)
{
    const struct run *run = desk->run;
    struct ref a = get_ref(in), b = get_ref(in);
    uint64_t most_ns = in_left(in) ? 1000000u * (uint64_t)get_u32(in) : 0;
    if (!in_done(in))
        return NULL;
    struct span_job *job = memory_zeroed(1, sizeof *job);
    *job = (struct span_job){.run = run, .span = {.from = a, .to = b}, .most_ns = most_ns};
    job->types = (uint32_t)run->types.count + 1;
    job->counts = memory_zeroed(job->types, sizeof *job->counts);
    uint64_t first, last;
    job->span.known = find(run, a, &first) && find(run, b, &last);
    if (!job->span.known)
        return job;
    job->span.ns = order_event(run->order, last).time_ns - order_event(run->order, first).time_ns;
    job->at = first < last ? first : last;
    job->end = first < last ? last : first;
    return job;
}

/* Neither of the two is counted. */
static bool step(void *p, uint64_t budget)
{
    struct span_job *job = p;
    uint64_t began = turn_clock_ns();
    if (job->at < order_first(job->run->order))
        job->at = order_first(job->run->order); /* forgotten meanwhile */
    for (; job->at + 1 < job->end && budget;
         budget -= budget < SLICE / COST ? budget : SLICE / COST) {
        uint64_t until = job->end - job->at - 1 < SLICE ? job->end : job->at + 1 + SLICE;
        order_count_types(job->run->order, job->at + 1, until, job->counts, job->types);
        job->at = until - 1;
    }
    job->spent_ns += turn_clock_ns() - began;
    job->span.whole = job->at + 1 >= job->end;
    return job->span.whole || (job->most_ns && job->spent_ns >= job->most_ns);
}

static bool put(void *p, struct reply *reply)
{
    struct span_job *job = p;
    struct shown_span span = job->span;
    struct shown_kind *kinds = memory_zeroed(job->types, sizeof *kinds);
    for (uint32_t type = 0; type < job->types; type++) {
        span.events += job->counts[type];
        if (job->counts[type])
            kinds[span.kind_count++] = (struct shown_kind){type, job->counts[type]};
    }
    span.kinds = kinds;
    part_begin(reply, PART_SPAN);
    put_span(reply->out, &span);
    part_end(reply);
    free(kinds);
    return true;
}

static void free_job(void *p)
{
    struct span_job *job = p;
    free(job->counts);
    free(job);
}

const struct question question_span = {
    .begin = begin, .step = step, .put = put, .free = free_job, .most = LIMIT_QUESTIONS};
