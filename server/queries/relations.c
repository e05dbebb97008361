/* Relations of requested events to one event: a byte each, 0 if unknown, else 1 + enum
 * causal_relation. */
#include "server/queries/request_queue.h"
#include "base/alloc.h"
#include "server/run/untraced_reasons.h"
#include "wire/request_body.h"

#include <stdlib.h>

struct relations_job {
    const struct run *run;
    struct relations_request request;
    /* Past and future of the one event, as far as the requested ones require. */
    struct cone *past, *future;
    uint64_t about; /* position of the one event; NO_POSITION: it does not exist */
    uint64_t last;  /* last position of all these events */
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

static void free_job(void *p)
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
                                      .free = free_job,
                                      .most = LIMIT_WINDOWS,
                                      .picture = true};
