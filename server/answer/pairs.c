/* How two events stand to each other, and why. */
#include "server/answer/desk.h"
#include "server/answer/event.h"
#include "server/run/unseen.h"
#include "memory/memory.h"
#include "wire/ref.h"

#include <stdlib.h>

struct pairs {
    const struct run *run;
    uint64_t
        first; /* of the order, when the pair was begun: what is forgotten since is not there */
    bool why;       /* the chain of one pair is wanted */
    struct pair {
        struct ref a, b;
        uint8_t answer; /* 1 + a precedence, 0: one of them is not known */
        uint32_t reasons;
    } *pairs;
    size_t count, room, at;
    bool begun;
    struct comparison *comparison;
    struct chain *chain;
};

static void free_job(void *p)
{
    struct pairs *job = p;
    comparison_free(job->comparison);
    chain_free(job->chain);
    free(job->pairs);
    free(job);
}

static struct pairs *read_pairs(const struct run *run, struct in *in, bool why)
{
    struct pairs *job = memory_zeroed(1, sizeof *job);
    *job = (struct pairs){.run = run, .why = why, .comparison = comparison_new(run->order)};
    while (in_left(in) && (!why || job->count == 0)) {
        struct pair pair = {.a = get_ref(in)};
        pair.b = get_ref(in);
        job->pairs = grow(job->pairs, &job->room, job->count + 1, sizeof *job->pairs);
        job->pairs[job->count++] = pair;
    }
    if (in_done(in))
        return job;
    free_job(job);
    return NULL;
}

static void *begin_order(struct desk *desk, struct in *in)
{
    return read_pairs(desk->run, in, false);
}

static void *begin_why(struct desk *desk, struct in *in) { return read_pairs(desk->run, in, true); }

static bool exists(const struct run *run, struct ref at)
{
    uint32_t lines =
        at.line & HIDDEN_LINE ? order_hidden_lines(run->order) : order_lines(run->order);
    uint32_t line = at.line & ~HIDDEN_LINE;
    return line && line <= lines && at.number &&
           at.number <= order_line_highest(run->order, at.line);
}

static void begin(struct pairs *job, const struct pair *pair)
{
    chain_free(job->chain);
    job->chain = NULL;
    job->first = order_first(job->run->order);
    job->begun = true;
    comparison_begin(job->comparison, pair->a, pair->b);
}

static bool step_pair(struct pairs *job, struct pair *pair, uint64_t budget)
{
    if (!job->begun || job->first != order_first(job->run->order))
        begin(job, pair);
    if (!job->chain && !comparison_step(job->comparison, budget))
        return false;
    enum precedence answer = comparison_answer(job->comparison);
    pair->reasons = comparison_reasons(job->comparison);
    if (answer == ORDER_CONCURRENT && (pair->reasons = unseen_hiding(job->run)) != 0)
        answer = ORDER_UNKNOWN;
    else if (answer == ORDER_CONCURRENT)
        pair->reasons = unseen_mechanisms(job->run);
    pair->answer = (uint8_t)(1 + answer);
    if (!job->why || answer != ORDER_BEFORE)
        return true;
    if (!job->chain)
        job->chain = chain_new(job->run->order, pair->a, pair->b);
    return chain_step(job->chain, budget);
}

static bool step(void *p, uint64_t budget)
{
    struct pairs *job = p;
    uint64_t spent = 0;
    for (; job->at < job->count && spent < budget; spent += 1000) {
        struct pair *pair = &job->pairs[job->at];
        if (exists(job->run, pair->a) && exists(job->run, pair->b) && !step_pair(job, pair, budget))
            return false;
        job->begun = false;
        job->at++;
    }
    return job->at == job->count;
}

static bool put_order(void *p, struct reply *reply)
{
    const struct pairs *job = p;
    part_begin(reply, PART_ORDER);
    for (size_t i = 0; i < job->count; i++) {
        put_u8(reply->out, job->pairs[i].answer);
        put_u32(reply->out, job->pairs[i].reasons);
    }
    part_end(reply);
    return true;
}

static bool put_why(void *p, struct reply *reply)
{
    struct pairs *job = p;
    struct ref *chain = NULL;
    size_t count = job->chain ? chain_find(job->chain, &chain) : 0;
    part_begin(reply, PART_CHAIN);
    put_u8(reply->out, job->count && job->pairs[0].answer);
    put_u32(reply->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_ref(reply->out, chain[i]);
    part_end(reply);
    for (size_t i = 0; i < count; i++) /* for those who want to read it */
        answer_event(reply, job->run, chain[i]);
    free(chain);
    return true;
}

const struct question question_order = {.begin = begin_order,
                                        .step = step,
                                        .put = put_order,
                                        .free = free_job,
                                        .most = LIMIT_QUESTIONS};
const struct question question_why = {
    .begin = begin_why, .step = step, .put = put_why, .free = free_job, .most = LIMIT_QUESTIONS};
