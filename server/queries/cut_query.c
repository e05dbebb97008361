/* Cuts: a part of a run as a trace file of its own (server/cuts/cut_writer.h), as bytes that the
 * client writes. */
#include "base/alloc.h"
#include "server/cuts/cut_request.h"
#include "server/cuts/cut_writer.h"
#include "server/queries/query.h"
#include "server/queries/request_queue.h"
#include "wire/cut_messages.h"

#include <stdlib.h>

#define ENOUGH (64u << 10) /* bytes of a part of the response */

struct cut_job {
    struct cut_writer *writer; /* NULL: the request cannot be answered */
    struct error error;
    struct encoder bytes;
    bool done;
};

static void *cut_query_begin(struct request_queue *queue, struct decoder *in)
{
    struct cut_request request;
    struct cut_selection selection;
    decode_cut_request(in, &request);
    if (!decoder_finish(in)) {
        cut_request_free(&request);
        return NULL;
    }
    struct cut_job *job = xcalloc(1, sizeof *job);
    if (!queue->run->processes.count)
        error_set(&job->error, "the run has no program");
    else if (cut_request_begin(queue->run, &request, &selection, &job->error))
        job->writer = cut_writer_new(queue->run, &selection);
    job->done = !job->writer;
    cut_request_free(&request);
    return job;
}

static bool cut_query_step(void *p, uint64_t budget)
{
    struct cut_job *job = p;
    if (!job->done)
        job->done = cut_writer_step(job->writer, budget, &job->bytes);
    if (!job->done && cut_writer_problem(job->writer)) {
        error_set(&job->error, "%s", cut_writer_problem(job->writer));
        job->done = true;
    }
    return job->done || job->bytes.size >= ENOUGH;
}

static void cut_query_put_result(const struct cut_job *job, struct response *reply)
{
    struct cut_figures f = job->writer ? cut_writer_figures(job->writer) : (struct cut_figures){0};
    struct cut_result result = {.problem = (char *)(uintptr_t)job->error.text,
                                .events = f.events,
                                .left_out = f.left_out,
                                .lines = f.lines,
                                .threads_left_out = f.threads_left_out,
                                .threads_continuing = f.threads_continuing};
    if (f.renumbered) {
        result.renumbered = xcalloc(f.lines, sizeof *result.renumbered);
        for (uint32_t i = 0; i < f.lines; i++)
            result.renumbered[i] = cut_writer_line(job->writer, i + 1);
        result.renumbered_count = f.lines;
    }
    response_chunk_begin(reply, RESPONSE_CUT_RESULT);
    encode_cut_result(reply->out, &result);
    response_chunk_end(reply);
    free(result.renumbered);
}

static bool cut_query_put(void *p, struct response *reply)
{
    struct cut_job *job = p;
    if (job->bytes.size && !*job->error.text) {
        response_chunk_begin(reply, RESPONSE_CUT_BYTES);
        encode_bytes(reply->out, job->bytes.data, job->bytes.size);
        response_chunk_end(reply);
    }
    job->bytes.size = 0;
    if (job->done)
        cut_query_put_result(job, reply);
    return job->done;
}

static void cut_query_free(void *p)
{
    struct cut_job *job = p;
    cut_writer_free(job->writer);
    encoder_free(&job->bytes);
    free(job);
}

const struct query query_cut = {.begin = cut_query_begin,
                                .step = cut_query_step,
                                .put = cut_query_put,
                                .free = cut_query_free,
                                .most = 1};
