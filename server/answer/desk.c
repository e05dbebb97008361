#include "server/answer/desk.h"

#include "server/answer/window.h"

#include <string.h>

#define STEP_PICTURE 100000u /* events: a few milliseconds */
#define STEP_OTHERS 4000u /* what is not a picture may take longer, but must not hold one up */

static const struct question *const questions[ASK_LIMIT] = {
#define Q(number, NAME, name) [number] = &question_##name,
    RUN_QUESTIONS(Q)
#undef Q
};

/* ---- what is there ---- */

static void leave(struct desk *desk, unsigned i, bool answered)
{
    struct desk_item item = desk->items[i];
    desk->count--;
    memmove(desk->items + i, desk->items + i + 1, (desk->count - i) * sizeof *desk->items);
    desk->turn -= desk->turn > i;
    if (item.question->leave)
        item.question->leave(desk, item.job, answered);
    else
        item.question->free(item.job);
}

static unsigned find(const struct desk *desk, uint32_t id)
{
    unsigned i = 0;
    while (i < desk->count && desk->items[i].id != id)
        i++;
    return i;
}

static unsigned count_of(const struct desk *desk, const struct question *question)
{
    unsigned count = 0;
    for (unsigned i = 0; i < desk->count; i++)
        count += desk->items[i].question == question;
    return count;
}

static void begin(struct desk *desk, uint32_t id, const struct question *question, struct in *in,
                  struct out *out)
{
    if (desk->count == LIMIT_ASKED || count_of(desk, question) == question->most) {
        reply_refuse(out, id, "too many such questions at once");
        return;
    }
    void *job = question->begin(desk, in);
    if (job)
        desk->items[desk->count++] = (struct desk_item){id, question, job};
}

void desk_ask(struct desk *desk, const struct asked *asked, struct in *in, struct out *out)
{
    const struct question *question = asked->what < ASK_LIMIT ? questions[asked->what] : NULL;
    struct reply reply = {out, asked->id, 0};
    if (find(desk, asked->id) < desk->count)
        in_fail(in, "an id that is in use");
    if (in->error)
        return;
    if (!question) {
        reply_refuse(out, asked->id, "the server does not know such a question");
    } else if (question->at_once) {
        question->at_once(desk->run, in, &reply);
        if (!in->error)
            reply_done(&reply);
    } else {
        begin(desk, asked->id, question, in, out);
    }
}

void desk_cancel(struct desk *desk, uint32_t id)
{
    unsigned i = find(desk, id);
    if (i < desk->count)
        leave(desk, i, false);
}

void desk_clear(struct desk *desk, struct out *out)
{
    while (desk->count) {
        if (out)
            reply_refuse(out, desk->items[0].id, "another run was selected");
        leave(desk, 0, false);
    }
    window_free(desk->kept);
    desk->kept = NULL;
}

/* ---- working ---- */

static void put(struct desk *desk, unsigned i, struct out *out)
{
    struct reply reply = {out, desk->items[i].id, 0};
    if (!desk->items[i].question->put(desk->items[i].job, &reply))
        return;
    reply_done(&reply);
    leave(desk, i, true);
}

bool desk_waits(const struct desk *desk)
{
    for (unsigned i = 0; i < desk->count; i++)
        if (!desk->items[i].question->stream)
            return true;
    return false;
}

/* The oldest picture, else whose turn it is of the others. */
static unsigned choose(struct desk *desk)
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

void desk_step(struct desk *desk, struct out *out)
{
    unsigned i = choose(desk);
    if (i == desk->count)
        return;
    const struct question *question = desk->items[i].question;
    if (question->step(desk->items[i].job, question->picture ? STEP_PICTURE : STEP_OTHERS))
        put(desk, i, out);
}

bool desk_streams(const struct desk *desk)
{
    for (unsigned i = 0; i < desk->count; i++)
        if (desk->items[i].question->stream)
            return true;
    return false;
}

void desk_refill(struct desk *desk, struct out *out)
{
    for (unsigned i = 0; i < desk->count; i++)
        if (desk->items[i].question->stream) {
            put(desk, i, out);
            return;
        }
}
