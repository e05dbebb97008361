/* Order of pairs of events, and its explanation. */
#include "server/queries/request_queue.h"
#include "server/queries/event_answer.h"
#include "server/run/untraced_reasons.h"
#include "base/alloc.h"
#include "wire/event_id.h"

#include <stdlib.h>

struct compare_pairs_job {
    const struct run *run;
    /* First position of the order when the pair was begun: once events are discarded, it begins
     * again. */
    uint64_t first;
    bool why; /* the causal chain of a pair is requested */
    struct compared_pair {
        struct event_id a, b;
        uint8_t answer; /* 1 + an enum causal_relation; 0: one of the events is not known */
        uint32_t reasons;
    } *pairs;
    size_t count, room, at;
    bool begun;
    struct comparison *comparison;
    struct causal_chain *chain;
};

static void free_job(void *p)
{
    struct compare_pairs_job *job = p;
    comparison_free(job->comparison);
    causal_chain_free(job->chain);
    free(job->pairs);
    free(job);
}

static struct compare_pairs_job *read_pairs(const struct run *run, struct decoder *in, bool why)
{
    struct compare_pairs_job *job = xcalloc(1, sizeof *job);
    *job = (struct compare_pairs_job){
        .run = run, .why = why, .comparison = comparison_new(run->order)};
    while (decoder_remaining(in) && (!why || job->count == 0)) {
        struct compared_pair pair = {.a = decode_event_id(in)};
        pair.b = decode_event_id(in);
        job->pairs = array_reserve(job->pairs, &job->room, job->count + 1, sizeof *job->pairs);
        job->pairs[job->count++] = pair;
    }
    if (decoder_finish(in))
        return job;
    free_job(job);
    return NULL;
}

static void *begin_order(struct request_queue *queue, struct decoder *in)
{
    return read_pairs(queue->run, in, false);
}

static void *compare_pairs_begin_chain(struct request_queue *queue, struct decoder *in)
{
    return read_pairs(queue->run, in, true);
}

static bool compare_pairs_event_exists(const struct run *run, struct event_id at)
{
    uint32_t lines =
        at.line & HIDDEN_LINE ? order_hidden_lines(run->order) : order_line_count(run->order);
    uint32_t line = at.line & ~HIDDEN_LINE;
    return line && line <= lines && at.number &&
           at.number <= order_line_highest(run->order, at.line);
}

static void compare_pairs_begin_pair(struct compare_pairs_job *job,
                                     const struct compared_pair *pair)
{
    causal_chain_free(job->chain);
    job->chain = NULL;
    job->first = order_first(job->run->order);
    job->begun = true;
    comparison_begin(job->comparison, pair->a, pair->b);
}

static bool step_pair(struct compare_pairs_job *job, struct compared_pair *pair, uint64_t budget)
{
    if (!job->begun || job->first != order_first(job->run->order))
        compare_pairs_begin_pair(job, pair);
    if (!job->chain && !comparison_step(job->comparison, budget))
        return false;
    enum causal_relation answer = comparison_answer(job->comparison);
    pair->reasons = comparison_reasons(job->comparison);
    if (answer == ORDER_CONCURRENT &&
        (pair->reasons = untraced_reasons_hiding_order(job->run)) != 0)
        answer = ORDER_UNKNOWN;
    else if (answer == ORDER_CONCURRENT)
        pair->reasons = untraced_reasons_mechanisms(job->run);
    pair->answer = (uint8_t)(1 + answer);
    if (!job->why || answer != ORDER_BEFORE)
        return true;
    if (!job->chain)
        job->chain = causal_chain_new(job->run->order, pair->a, pair->b);
    return causal_chain_step(job->chain, budget);
}

static bool compare_pairs_step(void *p, uint64_t budget)
{
    struct compare_pairs_job *job = p;
    uint64_t spent = 0;
    for (; job->at < job->count && spent < budget; spent += 1000) {
        struct compared_pair *pair = &job->pairs[job->at];
        if (compare_pairs_event_exists(job->run, pair->a) &&
            compare_pairs_event_exists(job->run, pair->b) && !step_pair(job, pair, budget))
            return false;
        job->begun = false;
        job->at++;
    }
    return job->at == job->count;
}

static bool compare_pairs_put_order(void *p, struct response *reply)
{
    const struct compare_pairs_job *job = p;
    response_chunk_begin(reply, RESPONSE_ORDER);
    for (size_t i = 0; i < job->count; i++) {
        encode_u8(reply->out, job->pairs[i].answer);
        encode_u32(reply->out, job->pairs[i].reasons);
    }
    response_chunk_end(reply);
    return true;
}

static bool compare_pairs_put_chain(void *p, struct response *reply)
{
    struct compare_pairs_job *job = p;
    struct event_id *chain = NULL;
    size_t count = job->chain ? causal_chain_find(job->chain, &chain) : 0;
    response_chunk_begin(reply, RESPONSE_CHAIN);
    encode_u8(reply->out, job->count && job->pairs[0].answer);
    encode_u32(reply->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        encode_event_id(reply->out, chain[i]);
    response_chunk_end(reply);
    for (size_t i = 0; i < count; i++) /* the viewer displays these events */
        event_answer_query(reply, job->run, chain[i]);
    free(chain);
    return true;
}

const struct query query_order = {.begin = begin_order,
                                  .step = compare_pairs_step,
                                  .put = compare_pairs_put_order,
                                  .free = free_job,
                                  .most = LIMIT_QUERIES};
const struct query query_causal_chain = {.begin = compare_pairs_begin_chain,
                                         .step = compare_pairs_step,
                                         .put = compare_pairs_put_chain,
                                         .free = free_job,
                                         .most = LIMIT_QUERIES};
