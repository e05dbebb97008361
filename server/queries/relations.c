/* Relations of events: the order of pairs of events, with its explanation, and that of requested
 * events to one event. */
#include "base/alloc.h"
#include "server/queries/event_answer.h"
#include "server/queries/request_queue.h"
#include "server/run/untraced_reasons.h"
#include "wire/event_types.h"
#include "wire/request.h"

#include <stdlib.h>

/* ---- pairs of events ---- */

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

static void compare_pairs_free(void *p)
{
    struct compare_pairs_job *job = p;
    comparison_free(job->comparison);
    causal_chain_free(job->chain);
    free(job->pairs);
    free(job);
}

static struct compare_pairs_job *compare_pairs_read(const struct run *run, struct decoder *in,
                                                    bool why)
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
    compare_pairs_free(job);
    return NULL;
}

static void *compare_pairs_begin_order(struct request_queue *queue, struct decoder *in)
{
    return compare_pairs_read(queue->run, in, false);
}

static void *compare_pairs_begin_chain(struct request_queue *queue, struct decoder *in)
{
    return compare_pairs_read(queue->run, in, true);
}

static bool relations_event_exists(const struct run *run, struct event_id at)
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

static bool compare_pairs_step_pair(struct compare_pairs_job *job, struct compared_pair *pair,
                                    uint64_t budget)
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
        if (relations_event_exists(job->run, pair->a) &&
            relations_event_exists(job->run, pair->b) &&
            !compare_pairs_step_pair(job, pair, budget))
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

const struct query query_order = {.begin = compare_pairs_begin_order,
                                  .step = compare_pairs_step,
                                  .put = compare_pairs_put_order,
                                  .free = compare_pairs_free,
                                  .most = LIMIT_QUERIES};
const struct query query_causal_chain = {.begin = compare_pairs_begin_chain,
                                         .step = compare_pairs_step,
                                         .put = compare_pairs_put_chain,
                                         .free = compare_pairs_free,
                                         .most = LIMIT_QUERIES};

/* ---- many events and one: a byte each, 0 if unknown, else 1 + enum causal_relation ---- */

struct relations_job {
    const struct run *run;
    struct relations_request request;
    /* Past and future of the one event, as far as the requested ones require. */
    struct cone *past, *future;
    uint64_t about; /* position of the one event; NO_POSITION: it does not exist */
    uint64_t last; /* last position of all these events */
    bool hidden; /* untraced synchronization may order what is unordered */
};

static bool relations_is_in_log(const struct relations_job *job, uint64_t position)
{
    const struct order *order = job->run->order;
    return position >= order_first(order) && position < order_count(order);
}

static void relations_find_events(struct relations_job *job)
{
    const struct order *order = job->run->order;
    struct event_id at = job->request.about;
    bool line = at.line && !(at.line & HIDDEN_LINE) && at.line <= order_line_count(order);
    job->about = line ? order_position(order, at) : NO_POSITION;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; job->about != NO_POSITION && i < job->request.count; i++) {
        uint64_t position = job->request.positions[i];
        if (!relations_is_in_log(job, position))
            continue;
        first = position < first ? position : first;
        job->last = position > job->last ? position : job->last;
    }
    if (first == UINT64_MAX)
        return;
    /* Whole synchronization points: a path can lead through another member. */
    job->last = order_point_end(order, job->last);
    job->past = cone_new(order, job->about, false, order_event(order, first).point);
    job->future = cone_new(order, job->about, true, job->last);
    job->last = job->last > job->about ? job->last : job->about;
    job->hidden = untraced_reasons_hiding_order(job->run) != 0;
}

static void *relations_begin(struct request_queue *queue, struct decoder *in)
{
    struct relations_request request;
    decode_relations_request(in, &request);
    if (!decoder_finish(in)) {
        relations_request_free(&request);
        return NULL;
    }
    struct relations_job *job = xcalloc(1, sizeof *job);
    *job = (struct relations_job){.run = queue->run, .request = request};
    relations_find_events(job);
    return job;
}

static bool relations_step(void *p, uint64_t budget)
{
    struct relations_job *job = p;
    return !job->past || (cone_step(job->past, budget) && cone_step(job->future, budget) &&
                          order_uncertainty_step(job->run->order, job->last + 1, budget));
}

static uint8_t relations_relation_code(const struct relations_job *job, uint64_t position)
{
    if (!job->past || !relations_is_in_log(job, position))
        return 0;
    bool past = cone_contains(job->past, position), future = cone_contains(job->future, position);
    if (past || future)
        return 1 + (past && future ? ORDER_SAME : past ? ORDER_BEFORE : ORDER_AFTER);
    bool unknown = job->hidden || order_uncertainty_between(job->run->order, job->about, position);
    return 1 + (unknown ? ORDER_UNKNOWN : ORDER_CONCURRENT);
}

static bool relations_put(void *p, struct response *reply)
{
    const struct relations_job *job = p;
    response_chunk_begin(reply, RESPONSE_RELATIONS);
    encode_u32(reply->out, job->request.count);
    for (uint32_t i = 0; i < job->request.count; i++)
        encode_u8(reply->out, relations_relation_code(job, job->request.positions[i]));
    response_chunk_end(reply);
    return true;
}

static void relations_free(void *p)
{
    struct relations_job *job = p;
    cone_free(job->past);
    cone_free(job->future);
    relations_request_free(&job->request);
    free(job);
}

const struct query query_relations = {.begin = relations_begin,
                                      .step = relations_step,
                                      .put = relations_put,
                                      .free = relations_free,
                                      .most = LIMIT_WINDOWS,
                                      .picture = true};
