/* How many events are before one, after it, and concurrent with it.  On a line whose succession is
 * order the past is a prefix and the future a suffix, so that two numbers say it; on a shared line
 * every event is asked. */
#include "server/answer/desk.h"
#include "server/answer/named.h"
#include "server/run/unseen.h"
#include "wire/found.h"
#include "wire/ref.h"
#include "wire/shown.h"
#include "memory/memory.h"

#include <stdlib.h>

#define COMPARISON 500u /* what it costs to ask about an event of a shared line, in events */
#define LINE_ENDS 300u  /* what it costs to look for two positions on a line */

struct count_job {
    const struct run *run;
    struct shown_count count;
    struct reach *past, *future;
    bool hidden; /* something that nobody saw may order what is not ordered */
    uint64_t first; /* of the order, when it began */
    uint64_t position; /* of the event asked about */
    uint64_t ordinal;
    uint32_t line; /* the one that is counted */
};

static void begin(struct count_job *job)
{
    const struct order *order = job->run->order;
    uint64_t position = order_position(order, job->count.at);
    job->count = (struct shown_count){.at = job->count.at};
    job->first = order_first(order);
    job->line = 1;
    job->ordinal = 0;
    if (position == NO_POSITION || order_event(order, position).state != EVENT_ORDERED)
        return;
    job->count.known = true;
    job->position = position;
    job->hidden = unseen_hiding(job->run) != 0;
    job->past = reach_new(order, position, false, 0);
    job->future = reach_new(order, position, true, order_count(order));
}

static void let_go(struct count_job *job)
{
    reach_free(job->past);
    reach_free(job->future);
    job->past = job->future = NULL;
}

static void *begin_job(struct desk *desk, struct in *in)
{
    const struct run *run = desk->run;
    struct ref at = get_ref(in);
    if (!in_done(in))
        return NULL;
    struct count_job *job = memory_zeroed(1, sizeof *job);
    *job = (struct count_job){.run = run, .count.at = at};
    uint32_t line = at.line & ~HIDDEN_LINE;
    if (line && !(at.line & HIDDEN_LINE) && line <= order_lines(run->order))
        begin(job);
    return job;
}

static bool in_order(const struct order *order, uint64_t position)
{
    return position != NO_POSITION && order_event(order, position).state == EVENT_ORDERED;
}

static bool is_unknown(const struct count_job *job, uint64_t position)
{
    return job->hidden || order_doubts_between(job->run->order, job->position, position);
}

/* Every event of a line is asked; false when the budget is spent. */
static bool ask_each(struct count_job *job, uint64_t *budget)
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
        bool past = reach_has(job->past, position), future = reach_has(job->future, position);
        job->count.same += past && future;
        job->count.before += past && !future;
        job->count.after += future && !past;
        bool unknown = !past && !future && is_unknown(job, position);
        job->count.unknown += unknown;
        job->count.concurrent += !past && !future && !unknown;
    }
    return true;
}

/* By where the past ends and the future begins. */
static void ask_ends(struct count_job *job)
{
    const struct order *order = job->run->order;
    uint64_t n = order_line_events(order, job->line), base = order_line_first(order, job->line);
    uint64_t last = reach_on(job->past, job->line), next = reach_on(job->future, job->line);
    uint64_t until = last == NO_POSITION ? base : order_line_from(order, job->line, last) + 1;
    uint64_t from = next == NO_POSITION ? n : order_line_from(order, job->line, next);
    uint64_t same = from < until ? until - from : 0; /* its own point is in both */
    job->count.same += same;
    job->count.before += until - base - same;
    job->count.after += n - from - same;
    uint64_t unordered = n - base - (until - base) - (n - from) + same;
    uint64_t alike =
        job->hidden ? 0 : order_doubts_alike(order, job->line, until, from, job->position);
    alike = alike < unordered ? alike : unordered;
    job->count.concurrent += alike;
    job->count.unknown += unordered - alike;
}

static bool step(void *p, uint64_t budget)
{
    struct count_job *job = p;
    const struct order *order = job->run->order;
    if (!job->count.known)
        return true;
    if (job->first != order_first(order)) { /* something was forgotten */
        let_go(job);
        begin(job);
        return !job->count.known;
    }
    if (!reach_step(job->past, budget) || !reach_step(job->future, budget) ||
        !order_doubts_step(order, order_count(order), budget))
        return false;
    bool each = order_figures(order).contradictions > 0;
    for (; job->line <= order_lines(order); job->line++, job->ordinal = 0) {
        if (budget < COMPARISON + LINE_ENDS)
            return false;
        budget -= LINE_ENDS;
        if (job->ordinal == 0)
            job->ordinal = order_line_first(order, job->line);
        if (!each && !order_line_shared(order, job->line))
            ask_ends(job);
        else if (!ask_each(job, &budget))
            return false;
    }
    return true;
}

static bool put(void *p, struct reply *reply)
{
    const struct count_job *job = p;
    named_note(job->count.at.line);
    part_begin(reply, PART_COUNT);
    put_count(reply->out, &job->count);
    part_end(reply);
    return true;
}

static void free_job(void *p)
{
    let_go(p);
    free(p);
}

const struct question question_count = {
    .begin = begin_job, .step = step, .put = put, .free = free_job, .most = LIMIT_QUESTIONS};
