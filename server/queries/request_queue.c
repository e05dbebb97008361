#include "server/queries/request_queue.h"

#include "server/queries/window.h"

#include <string.h>

#define STEP_PICTURE 100000u /* budget for the diagram, in events: a few milliseconds */
/* Budget for other requests: they can take longer, but must not delay the diagram. */
#define STEP_OTHERS 4000u

static const struct query *const request_queue_queries[REQUEST_TYPE_LIMIT] = {
#define Q(number, NAME, name) [number] = &question_##name,
    RUN_REQUESTS(Q)
#undef Q
};

/* ---- items ---- */

static void request_queue_remove(struct request_queue *desk, unsigned i, bool answered)
{
    struct request_queue_item item = desk->items[i];
    desk->count--;
    memmove(desk->items + i, desk->items + i + 1, (desk->count - i) * sizeof *desk->items);
    desk->turn -= desk->turn > i;
    if (item.question->leave)
        item.question->leave(desk, item.job, answered);
    else
        item.question->free(item.job);
}

static unsigned request_queue_find(const struct request_queue *desk, uint32_t id)
{
    unsigned i = 0;
    while (i < desk->count && desk->items[i].id != id)
        i++;
    return i;
}

static unsigned count_of(const struct request_queue *desk, const struct query *question)
{
    unsigned count = 0;
    for (unsigned i = 0; i < desk->count; i++)
        count += desk->items[i].question == question;
    return count;
}

static void request_queue_begin_job(struct request_queue *desk, uint32_t id,
                                    const struct query *question, struct decoder *in,
                                    struct encoder *out)
{
    if (desk->count == LIMIT_ASKED || count_of(desk, question) == question->most) {
        response_error(out, id, "too many concurrent requests");
        return;
    }
    void *job = question->begin(desk, in);
    if (job)
        desk->items[desk->count++] = (struct request_queue_item){id, question, job};
}

void request_queue_add(struct request_queue *desk, const struct request_header *asked,
                       struct decoder *in, struct encoder *out)
{
    const struct query *question =
        asked->what < REQUEST_TYPE_LIMIT ? request_queue_queries[asked->what] : NULL;
    struct response reply = {out, asked->id, 0};
    if (request_queue_find(desk, asked->id) < desk->count)
        decoder_fail(in, "request id already in use");
    if (in->error)
        return;
    if (!question) {
        response_error(out, asked->id, "unknown request");
    } else if (question->at_once) {
        question->at_once(desk->run, in, &reply);
        if (!in->error)
            response_finish(&reply);
    } else {
        request_queue_begin_job(desk, asked->id, question, in, out);
    }
}

void request_queue_cancel(struct request_queue *desk, uint32_t id)
{
    unsigned i = request_queue_find(desk, id);
    if (i < desk->count)
        request_queue_remove(desk, i, false);
}

void request_queue_clear(struct request_queue *desk, struct encoder *out)
{
    while (desk->count) {
        if (out)
            response_error(out, desk->items[0].id, "canceled: another run was selected");
        request_queue_remove(desk, 0, false);
    }
    window_free(desk->kept);
    desk->kept = NULL;
}

/* ---- work ---- */

static void request_queue_put_response(struct request_queue *desk, unsigned i, struct encoder *out)
{
    struct response reply = {out, desk->items[i].id, 0};
    if (!desk->items[i].question->put(desk->items[i].job, &reply))
        return;
    response_finish(&reply);
    request_queue_remove(desk, i, true);
}

bool request_queue_has_work(const struct request_queue *desk)
{
    for (unsigned i = 0; i < desk->count; i++)
        if (!desk->items[i].question->stream)
            return true;
    return false;
}

/* Returns the index of the oldest request for the diagram, else of the next of the others in
 * turn. */
static unsigned request_queue_choose_next(struct request_queue *desk)
{
    for (unsigned i = 0; i < desk->count; i++)
        if (desk->items[i].question->picture)
            return i;
    for (unsigned n = 0; n < desk->count; n++) {
        unsigned i = desk->turn < desk->count ? desk->turn : 0;
        desk->turn = i + 1;
        if (!desk->items[i].question->stream)
            return i;
    }
    return desk->count;
}

void request_queue_step(struct request_queue *desk, struct encoder *out)
{
    unsigned i = request_queue_choose_next(desk);
    if (i == desk->count)
        return;
    const struct query *question = desk->items[i].question;
    if (question->step(desk->items[i].job, question->picture ? STEP_PICTURE : STEP_OTHERS))
        request_queue_put_response(desk, i, out);
}

bool request_queue_has_stream(const struct request_queue *desk)
{
    for (unsigned i = 0; i < desk->count; i++)
        if (desk->items[i].question->stream)
            return true;
    return false;
}

void request_queue_refill(struct request_queue *desk, struct encoder *out)
{
    for (unsigned i = 0; i < desk->count; i++)
        if (desk->items[i].question->stream) {
            request_queue_put_response(desk, i, out);
            return;
        }
}
