/* How events stand to one of them: a byte each, 0 not known, else 1 + enum precedence. */
#include "server/answer/desk.h"
#include "memory/memory.h"
#include "server/run/unseen.h"
#include "wire/asked.h"

#include <stdlib.h>

struct stands_job {
    const struct run *run;
    struct stands_request request;
    struct reach *past, *future; /* of the event asked about, as far as the others go */
    uint64_t about; /* its position; NO_POSITION: it is not there */
    uint64_t last;  /* of all of them */
    bool hidden; /* something that nobody saw may order what is not ordered */
};

static bool is_there(const struct stands_job *job, uint64_t position)
{
    const struct order *order = job->run->order;
    return position >= order_first(order) && position < order_count(order);
}

static void look(struct stands_job *job)
{
    const struct order *order = job->run->order;
    struct ref at = job->request.about;
    bool line = at.line && !(at.line & HIDDEN_LINE) && at.line <= order_lines(order);
    job->about = line ? order_position(order, at) : NO_POSITION;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; job->about != NO_POSITION && i < job->request.count; i++) {
        uint64_t position = job->request.positions[i];
        if (!is_there(job, position))
            continue;
        first = position < first ? position : first;
        job->last = position > job->last ? position : job->last;
    }
    if (first == UINT64_MAX)
        return;
    job->last = order_point_end(
        order, job->last); /* whole points: the way may lead through another member */
    job->past = reach_new(order, job->about, false, order_event(order, first).point);
    job->future = reach_new(order, job->about, true, job->last);
    job->last = job->last > job->about ? job->last : job->about;
    job->hidden = unseen_hiding(job->run) != 0;
}

static void *begin(struct desk *desk, struct in *in)
{
    struct stands_request request;
    get_stands_request(in, &request);
    if (!in_done(in)) {
        stands_request_free(&request);
        return NULL;
    }
    struct stands_job *job = memory_zeroed(1, sizeof *job);
    *job = (struct stands_job){.run = desk->run, .request = request};
    look(job);
    return job;
}

static bool step(void *p, uint64_t budget)
{
    struct stands_job *job = p;
    return !job->past || (reach_step(job->past, budget) && reach_step(job->future, budget) &&
                          order_doubts_step(job->run->order, job->last + 1, budget));
}

static uint8_t stands(const struct stands_job *job, uint64_t position)
{
    if (!job->past || !is_there(job, position))
        return 0;
    bool past = reach_has(job->past, position), future = reach_has(job->future, position);
    if (past || future)
        return 1 + (past && future ? ORDER_SAME : past ? ORDER_BEFORE : ORDER_AFTER);
    bool unknown = job->hidden || order_doubts_between(job->run->order, job->about, position);
    return 1 + (unknown ? ORDER_UNKNOWN : ORDER_CONCURRENT);
}

static bool put(void *p, struct reply *reply)
{
    const struct stands_job *job = p;
    part_begin(reply, PART_STANDS);
    put_u32(reply->out, job->request.count);
    for (uint32_t i = 0; i < job->request.count; i++)
        put_u8(reply->out, stands(job, job->request.positions[i]));
    part_end(reply);
    return true;
}

static void free_job(void *p)
{
    struct stands_job *job = p;
    reach_free(job->past);
    reach_free(job->future);
    stands_request_free(&job->request);
    free(job);
}

const struct question question_stands = {.begin = begin,
                                         .step = step,
                                         .put = put,
                                         .free = free_job,
                                         .most = LIMIT_WINDOWS,
                                         .picture = true};
