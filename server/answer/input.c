/* The recorded input of a run, a thread after the other: to repeat it. */
#include "memory/memory.h"
#include "server/answer/desk.h"
#include "server/run/inputs.h"

#include <stdlib.h>

#define PART_BYTES_MOST 65536u

struct input_job {
    const struct run *run;
    bool whole; /* else only how much there is */
    size_t thread, at;
};

static void *begin_job(struct desk *desk, struct in *in)
{
    bool whole = get_u8(in);
    if (!in_done(in))
        return NULL;
    struct input_job *job = memory_zeroed(1, sizeof *job);
    job->whole = whole;
    job->run = desk->run;
    return job;
}

static bool step(void *job, uint64_t budget) { return true; }

/* A part of what one thread has; the first of each says the rest of it. */
static bool put(void *p, struct reply *reply)
{
    struct input_job *job = p;
    if (job->thread >= inputs_threads(job->run))
        return true;
    const struct inputs_thread *t = inputs_thread(job->run, job->thread);
    size_t size = job->whole ? t->size - job->at : 0;
    size = size < PART_BYTES_MOST ? size : PART_BYTES_MOST;
    part_begin(reply, PART_INPUT);
    put_u32(reply->out, t->line);
    put_u64(reply->out, job->at ? 0 : t->calls);
    put_u64(reply->out, job->at ? 0 : t->passed);
    put_u8(reply->out, !job->at);
    put_u8(reply->out, (uint8_t)(t->cut | t->streams << 1));
    put_u32(reply->out, (uint32_t)size);
    put_bytes(reply->out, t->bytes + job->at, size);
    part_end(reply);
    job->at += size;
    if (!job->whole || job->at >= t->size)
        job->thread++, job->at = 0;
    return job->thread >= inputs_threads(job->run);
}

const struct question question_input = {
    .begin = begin_job, .step = step, .put = put, .free = free, .most = 1, .stream = true};
