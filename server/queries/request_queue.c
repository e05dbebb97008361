#include "server/queries/request_queue.h"

#include "server/queries/window.h"

#include <string.h>

#define STEP_PICTURE 100000u /* budget for the diagram, in events: a few milliseconds */
/* Budget for other requests: they can take longer, but must not delay the diagram. */
#define STEP_OTHERS 4000u

static const struct query *const request_queue_queries[REQUEST_TYPE_LIMIT] = {
#define Q(number, NAME, name) [number] = &query_##name,
    RUN_REQUESTS(Q)
#undef Q
};

/* ---- items ---- */

static void request_queue_remove(struct request_queue *queue, unsigned i, bool answered)
{
    struct request_queue_item item = queue->items[i];
    queue->count--;
    memmove(queue->items + i, queue->items + i + 1, (queue->count - i) * sizeof *queue->items);
    queue->turn -= queue->turn > i;
    if (item.query->leave)
        item.query->leave(queue, item.job, answered);
    else
        item.query->free(item.job);
}

static unsigned request_queue_find(const struct request_queue *queue, uint32_t id)
{
    unsigned i = 0;
    while (i < queue->count && queue->items[i].id != id)
        i++;
    return i;
}

static unsigned count_of(const struct request_queue *queue, const struct query *query)
{
    unsigned count = 0;
    for (unsigned i = 0; i < queue->count; i++)
        count += queue->items[i].query == query;
    return count;
}

static void request_queue_begin_job(struct request_queue *queue, uint32_t id,
                                    const struct query *query, struct decoder *in,
                                    struct encoder *out)
{
    if (queue->count == LIMIT_REQUESTS || count_of(queue, query) == query->most) {
        response_error(out, id, "too many concurrent requests");
        return;
    }
    void *job = query->begin(queue, in);
    if (job)
        queue->items[queue->count++] = (struct request_queue_item){id, query, job};
}

void request_queue_add(struct request_queue *queue, const struct request_header *asked,
                       struct decoder *in, struct encoder *out)
{
    const struct query *query =
        asked->what < REQUEST_TYPE_LIMIT ? request_queue_queries[asked->what] : NULL;
    struct response reply = {out, asked->id, 0};
    if (request_queue_find(queue, asked->id) < queue->count)
        decoder_fail(in, "request id already in use");
    if (in->error)
        return;
    if (!query) {
        response_error(out, asked->id, "unknown request");
    } else if (query->at_once) {
        query->at_once(queue->run, in, &reply);
        if (!in->error)
            response_finish(&reply);
    } else {
        request_queue_begin_job(queue, asked->id, query, in, out);
    }
}

void request_queue_cancel(struct request_queue *queue, uint32_t id)
{
    unsigned i = request_queue_find(queue, id);
    if (i < queue->count)
        request_queue_remove(queue, i, false);
}

void request_queue_clear(struct request_queue *queue, struct encoder *out)
{
    while (queue->count) {
        if (out)
            response_error(out, queue->items[0].id, "canceled: another run was selected");
        request_queue_remove(queue, 0, false);
    }
    window_free(queue->kept);
    queue->kept = NULL;
}

/* ---- work ---- */

static void request_queue_put_response(struct request_queue *queue, unsigned i, struct encoder *out)
{
    struct response reply = {out, queue->items[i].id, 0};
    if (!queue->items[i].query->put(queue->items[i].job, &reply))
        return;
    response_finish(&reply);
    request_queue_remove(queue, i, true);
}

bool request_queue_has_work(const struct request_queue *queue)
{
    for (unsigned i = 0; i < queue->count; i++)
        if (!queue->items[i].query->stream)
            return true;
    return false;
}

/* Returns the index of the oldest request for the diagram; else, every other time, of the oldest
 * one for the overview; else of the next of the others in turn. */
static unsigned request_queue_choose_next(struct request_queue *queue)
{
    for (unsigned i = 0; i < queue->count; i++)
        if (queue->items[i].query->picture)
            return i;
    queue->overview_next = !queue->overview_next;
    for (unsigned i = 0; i < queue->count && !queue->overview_next; i++)
        if (queue->items[i].query->overview)
            return i;
    for (unsigned n = 0; n < queue->count; n++) {
        unsigned i = queue->turn < queue->count ? queue->turn : 0;
        queue->turn = i + 1;
        if (!queue->items[i].query->stream)
            return i;
    }
    return queue->count;
}

void request_queue_step(struct request_queue *queue, struct encoder *out)
{
    unsigned i = request_queue_choose_next(queue);
    if (i == queue->count)
        return;
    const struct query *query = queue->items[i].query;
    if (query->step(queue->items[i].job, query->picture ? STEP_PICTURE : STEP_OTHERS))
        request_queue_put_response(queue, i, out);
}

bool request_queue_has_stream(const struct request_queue *queue)
{
    for (unsigned i = 0; i < queue->count; i++)
        if (queue->items[i].query->stream)
            return true;
    return false;
}

void request_queue_refill(struct request_queue *queue, struct encoder *out)
{
    for (unsigned i = 0; i < queue->count; i++)
        if (queue->items[i].query->stream) {
            request_queue_put_response(queue, i, out);
            return;
        }
}
