/* Recorded input of a run, thread by thread, for replay. */
#include "base/alloc.h"
#include "server/queries/request_queue.h"
#include "server/run/input_store.h"

#include <stdlib.h>

#define PART_BYTES_MOST 65536u

struct input_job {
    const struct run *run;
    bool whole; /* false: only the amount of data */
    size_t thread, at;
};

static void *begin_job(struct request_queue *queue, struct decoder *in)
{
    bool whole = decode_u8(in);
    if (!decoder_finish(in))
        return NULL;
    struct input_job *job = xcalloc(1, sizeof *job);
    job->whole = whole;
    job->run = queue->run;
    return job;
}

static bool input_query_step(void *job, uint64_t budget) { return true; }

/* Appends a part of the input of one thread; the first part has the header. */
static bool input_query_put(void *p, struct response *reply)
{
    struct input_job *job = p;
    if (job->thread >= input_store_threads(job->run))
        return true;
    const struct input_store_thread *t = input_store_thread(job->run, job->thread);
    size_t size = job->whole ? t->size - job->at : 0;
    size = size < PART_BYTES_MOST ? size : PART_BYTES_MOST;
    response_chunk_begin(reply, RESPONSE_INPUT);
    encode_u32(reply->out, t->line);
    encode_u64(reply->out, job->at ? 0 : t->calls);
    encode_u64(reply->out, job->at ? 0 : t->passed);
    encode_u8(reply->out, !job->at);
    encode_u8(reply->out, (uint8_t)(t->cut | t->streams << 1));
    encode_u32(reply->out, (uint32_t)size);
    encode_bytes(reply->out, t->bytes + job->at, size);
    response_chunk_end(reply);
    job->at += size;
    if (!job->whole || job->at >= t->size)
        job->thread++, job->at = 0;
    return job->thread >= input_store_threads(job->run);
}

const struct query query_input = {.begin = begin_job,
                                  .step = input_query_step,
                                  .put = input_query_put,
                                  .free = free,
                                  .most = 1,
                                  .stream = true};
