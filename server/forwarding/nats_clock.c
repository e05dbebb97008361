#include "server/forwarding/nats_clock.h"

#include "base/alloc.h"
#include "server/eventloop/event_loop.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define ASK_NS 1000000000u /* between two requests */
#define ASK_SOON_NS 50000000u /* between the first ones, and where another agent came */
#define ASK_SOON 8u
#define ASKED_KEPT 8u /* requests to which responses are taken */
#define SETTLES_NS 300000000u /* between two times that they are waited for */
#define SETTLES 3u /* requests, each time */
#define FIRST_MS 100u /* for the first answer to each */
#define NEXT_MS 10u /* for another one */
#define ANSWERS_MOST (1u << 20) /* bytes, until they are looked at */

static void nats_clock_send_message(natsConnection *nc, const char *to, const char *answer_to,
                                    const struct encoder *body)
{
    if (!body->failed && answer_to)
        natsConnection_PublishRequest(nc, to, answer_to, body->data, (int)body->size);
    else if (!body->failed)
        natsConnection_Publish(nc, to, body->data, (int)body->size);
}

static struct decoder body_of(const natsMsg *msg)
{
    return decoder_init((const uint8_t *)natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg));
}

/* ---- of an agent ---- */

static void on_request(natsConnection *nc, natsSubscription *subscription, natsMsg *msg, void *host)
{
    struct nats_answer answer = {.received = loop_clock_ns(), .host = host};
    struct decoder in = body_of(msg);
    (void)subscription;
    if (decode_nats_request(&in, &answer.asked) && natsMsg_GetReply(msg)) {
        struct encoder body = {0};
        answer.replied = loop_clock_ns();
        encode_nats_response(&body, &answer);
        nats_clock_send_message(nc, natsMsg_GetReply(msg), NULL, &body);
        encoder_free(&body);
    }
    natsMsg_Destroy(msg);
}

natsSubscription *nats_clock_answer(const struct nats_connection *link, const char *run,
                                    const char *host)
{
    natsSubscription *subscription = NULL;
    char *subject = nats_clock_subject(run), *is = xstrdup(host);
    natsStatus s = natsConnection_Subscribe(&subscription, link->nc, subject, on_request, is);
    if (s != NATS_OK || natsSubscription_SetOnCompleteCB(subscription, free, is) != NATS_OK)
        free(is);
    free(subject);
    return subscription;
}

/* ---- of a reader ---- */

struct nats_clock {
    natsConnection *nc;
    natsSubscription *subscription;
    char *subject;
    natsInbox *inbox;
    uint64_t asked_ns;
    unsigned soon;
    uint64_t settled_ns;
    pthread_cond_t answered;
    pthread_mutex_t lock; /* over what follows */
    unsigned users; /* the reader, and libnats's thread */
    uint64_t asked[ASKED_KEPT];
    unsigned next;
    uint64_t count; /* of answers */
    struct encoder answers;
};

static bool nats_clock_was_requested(const struct nats_clock *c, uint64_t asked)
{
    for (unsigned i = 0; i < ASKED_KEPT; i++)
        if (c->asked[i] == asked)
            return asked != 0;
    return false;
}

static void on_answer(natsConnection *nc, natsSubscription *subscription, natsMsg *msg,
                      void *context)
{
    struct nats_clock *c = context;
    uint64_t here = loop_clock_ns();
    struct nats_answer answer;
    struct decoder in = body_of(msg);
    (void)nc, (void)subscription;
    bool good = decode_nats_response(&in, &answer);
    pthread_mutex_lock(&c->lock);
    if (good && nats_clock_was_requested(c, answer.asked) && c->answers.size < ANSWERS_MOST) {
        encoder_begin_message(&c->answers, MESSAGE_AGENT_CLOCK);
        encode_string(&c->answers, answer.host);
        encode_u64(&c->answers, answer.asked);
        encode_u64(&c->answers, answer.received);
        encode_u64(&c->answers, answer.replied);
        encode_u64(&c->answers, here);
        encoder_end_message(&c->answers);
        c->count++;
        pthread_cond_signal(&c->answered);
    }
    pthread_mutex_unlock(&c->lock);
    if (good)
        free(answer.host);
    natsMsg_Destroy(msg);
}

static void nats_clock_release(void *context)
{
    struct nats_clock *c = context;
    pthread_mutex_lock(&c->lock);
    bool last = --c->users == 0;
    pthread_mutex_unlock(&c->lock);
    if (!last)
        return;
    natsInbox_Destroy(c->inbox);
    encoder_free(&c->answers);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->answered);
    free(c->subject);
    free(c);
}

struct nats_clock *nats_clock_new(const struct nats_connection *link, const char *run)
{
    struct nats_clock *c = xcalloc(1, sizeof *c);
    c->nc = link->nc;
    c->subject = nats_clock_subject(run);
    c->soon = ASK_SOON;
    c->users = 1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&c->answered, &clock);
    pthread_condattr_destroy(&clock);
    if (natsInbox_Create(&c->inbox) == NATS_OK)
        natsConnection_Subscribe(&c->subscription, c->nc, c->inbox, on_answer, c);
    if (c->subscription &&
        natsSubscription_SetOnCompleteCB(c->subscription, nats_clock_release, c) == NATS_OK)
        c->users++;
    return c;
}

void nats_clock_request_soon(struct nats_clock *c)
{
    if (c)
        c->soon = ASK_SOON;
}

static void nats_clock_request_time(struct nats_clock *c, uint64_t now)
{
    struct encoder body = {0};
    pthread_mutex_lock(&c->lock);
    c->asked[c->next++ % ASKED_KEPT] = now;
    pthread_mutex_unlock(&c->lock);
    c->asked_ns = now;
    c->soon -= c->soon > 0;
    encode_nats_request(&body, now);
    nats_clock_send_message(c->nc, c->subject, c->inbox, &body);
    encoder_free(&body);
}

void nats_clock_step(struct nats_clock *c, struct encoder *out)
{
    uint64_t now = loop_clock_ns();
    if (!c || !c->subscription)
        return;
    if (now - c->asked_ns >= (c->soon ? ASK_SOON_NS : ASK_NS))
        nats_clock_request_time(c, now);
    pthread_mutex_lock(&c->lock);
    encode_bytes(out, c->answers.data, c->answers.size);
    c->answers.size = 0;
    pthread_mutex_unlock(&c->lock);
}

/* False: there was none. */
static bool await_answer(struct nats_clock *c, unsigned ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&c->lock);
    uint64_t before = c->count;
    while (c->count == before && pthread_cond_timedwait(&c->answered, &c->lock, &until) == 0)
        ;
    bool any = c->count != before;
    pthread_mutex_unlock(&c->lock);
    return any;
}

void nats_clock_sync(struct nats_clock *c)
{
    if (!c || !c->subscription || loop_clock_ns() - c->settled_ns < SETTLES_NS)
        return;
    bool any = true;
    for (unsigned i = 0; i < SETTLES && any; i++) {
        nats_clock_request_time(c, loop_clock_ns());
        any = await_answer(c, FIRST_MS);
        while (any && await_answer(c, NEXT_MS))
            ;
    }
    c->settled_ns = loop_clock_ns();
}

void nats_clock_free(struct nats_clock *c)
{
    if (!c)
        return;
    natsSubscription_Destroy(c->subscription); /* an answer may be under way */
    nats_clock_release(c);
}
