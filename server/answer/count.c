/* How many events are before one, after it, and concurrent with it.  On a line whose succession is
 * order the past is a prefix and the future a suffix, so that two numbers say it; shared lines are
 * counted by visits.h.
 *
 * Who asks says how long it may take: what was found by then are lower bounds.  Without a bound, it is told now and
 * then how far it has got. */
#include "server/answer/desk.h"
#include "server/answer/named.h"
#include "server/answer/visits.h"
#include "server/loop/turn.h"
#include "server/run/unseen.h"
#include "wire/found.h"
#include "wire/ref.h"
#include "wire/shown.h"
#include "memory/memory.h"

#include <stdlib.h>

#define COMPARISON 500u /* what it costs to ask about an event of a shared line, in events */
#define LINE_ENDS 300u  /* what it costs to look for two positions on a line */
#define TOLD_EVERY_NS 500000000u
#define BOUNDS_NS 10000000u /* for adding up what is known of lines when the time is over */

struct count_job {
    const struct run *run;
    struct shown_count count;
    struct reach *past, *future;
    bool hidden; /* something that nobody saw may order what is not ordered */
    uint64_t first; /* of the order, when it began */
    uint64_t position; /* of the event asked about */
    uint64_t ordinal;
    uint32_t line; /* the one that is counted */
    struct visits *visits;
    uint64_t most_ns, spent_ns, told_ns; /* of work; most_ns 0: any time */
    bool over; /* nothing more is worked out */
};

static void begin(struct count_job *job)
{
    const struct order *order = job->run->order;
    uint64_t position = order_position(order, job->count.at);
    job->count = (struct shown_count){.at = job->count.at};
    job->first = order_first(order);
    job->line = 1;
    job->ordinal = 0;
    job->count.whole = true;
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
    visits_free(job->visits);
    reach_free(job->past);
    reach_free(job->future);
    job->visits = NULL;
    job->past = job->future = NULL;
}

static void *begin_job(struct desk *desk, struct in *in)
{
    const struct run *run = desk->run;
    struct ref at = get_ref(in);
    uint64_t most_ns = in_left(in) ? 1000000u * (uint64_t)get_u32(in) : 0;
    if (!in_done(in))
        return NULL;
    struct count_job *job = memory_zeroed(1, sizeof *job);
    *job = (struct count_job){.run = run, .count.at = at, .most_ns = most_ns};
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

/* Of a shared line; false when the budget is spent. */
static bool ask_visits(struct count_job *job, uint64_t *budget)
{
    if (!job->visits)
        job->visits = visits_new(job->run, job->position, job->past, job->future, job->hidden);
    if (job->ordinal == 0)
        visits_begin(job->visits, job->line);
    job->ordinal = 1;
    return visits_step(job->visits, budget, &job->count);
}

static bool ask_line(struct count_job *job, bool each, uint64_t *budget)
{
    const struct order *order = job->run->order;
    bool shared = order_line_shared(order, job->line);
    if (shared && !each)
        return ask_visits(job, budget);
    if (job->ordinal == 0)
        job->ordinal = order_line_first(order, job->line);
    if (each)
        return ask_each(job, budget);
    ask_ends(job);
    return true;
}

static bool ask_lines(struct count_job *job, uint64_t budget)
{
    const struct order *order = job->run->order;
    bool each = order_figures(order).contradictions > 0;
    for (; job->line <= order_lines(order); job->line++, job->ordinal = 0) {
        if (budget < COMPARISON + LINE_ENDS)
            return false;
        budget -= LINE_ENDS;
        if (!ask_line(job, each, &budget))
            return false;
    }
    return true;
}

static bool reached(struct count_job *job, uint64_t budget)
{
    const struct order *order = job->run->order;
    return reach_step(job->past, budget) && reach_step(job->future, budget) &&
           order_doubts_step(order, order_count(order), budget);
}

/* The searches are not done: how far they have got by now. */
static void ask_bounds(struct count_job *job)
{
    const struct order *order = job->run->order;
    struct share share = share_of(BOUNDS_NS);
    for (; job->line <= order_lines(order) && share_left(share); job->line++) {
        if (order_line_shared(order, job->line))
            continue;
        uint64_t last = reach_on(job->past, job->line), next = reach_on(job->future, job->line);
        if (last != NO_POSITION && last < job->position)
            job->count.before +=
                order_line_from(order, job->line, last) + 1 - order_line_first(order, job->line);
        if (next != NO_POSITION && next > job->position)
            job->count.after +=
                order_line_events(order, job->line) - order_line_from(order, job->line, next);
    }
}

/* Its time is over: what is counted are lower bounds. */
static void give_up(struct count_job *job)
{
    job->count.whole = false;
    if (order_figures(job->run->order).contradictions == 0 && !reached(job, 1))
        ask_bounds(job);
    job->over = true;
}

static bool count_on(struct count_job *job, uint64_t budget)
{
    if (!job->count.known)
        return true;
    if (job->first != order_first(job->run->order)) { /* something was forgotten */
        let_go(job);
        begin(job);
        return !job->count.known;
    }
    return reached(job, budget) && ask_lines(job, budget);
}

static bool step(void *p, uint64_t budget)
{
    struct count_job *job = p;
    uint64_t began = turn_clock_ns();
    if (count_on(job, budget)) {
        job->over = true;
        return true;
    }
    job->spent_ns += turn_clock_ns() - began;
    if (job->most_ns && job->spent_ns >= job->most_ns) {
        give_up(job);
        return true;
    }
    return !job->most_ns && job->spent_ns - job->told_ns >= TOLD_EVERY_NS;
}

static bool put(void *p, struct reply *reply)
{
    struct count_job *job = p;
    struct shown_count count = job->count;
    count.whole &= job->over;
    job->told_ns = job->spent_ns;
    named_note(count.at.line);
    part_begin(reply, PART_COUNT);
    put_count(reply->out, &count);
    part_end(reply);
    return job->over;
}

static void free_job(void *p)
{
    let_go(p);
    free(p);
}

const struct question question_count = {
    .begin = begin_job, .step = step, .put = put, .free = free_job, .most = LIMIT_QUESTIONS};
