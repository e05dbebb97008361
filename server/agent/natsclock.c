#include "server/agent/natsclock.h"

#include "memory/memory.h"
#include "server/loop/turn.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define ASK_NS 1000000000u /* between two questions */
#define ASK_SOON_NS 50000000u /* between the first ones, and where another agent came */
#define ASK_SOON 8u
#define ASKED_KEPT 8u /* questions to which answers are taken */
#define SETTLES_NS 300000000u /* between two times that they are waited for */
#define SETTLES 3u /* questions, each time */
#define FIRST_MS 100u /* for the first answer to each */
#define NEXT_MS 10u /* for another one */
#define ANSWERS_MOST (1u << 20) /* bytes, until they are looked at */

static void send(natsConnection *nc, const char *to, const char *answer_to, const struct out *body)
{
    if (!body->failed && answer_to)
        natsConnection_PublishRequest(nc, to, answer_to, body->data, (int)body->size);
    else if (!body->failed)
        natsConnection_Publish(nc, to, body->data, (int)body->size);
}

static struct in body_of(const natsMsg *msg)
{
    return in_from((const uint8_t *)natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg));
}

/* ---- of an agent ---- */

static void on_question(natsConnection *nc, natsSubscription *subscription, natsMsg *msg,
                        void *host)
{
    struct nats_answer answer = {.heard = turn_clock_ns(), .host = host};
    struct in in = body_of(msg);
    (void)subscription;
    if (get_nats_question(&in, &answer.asked) && natsMsg_GetReply(msg)) {
        struct out body = {0};
        answer.said = turn_clock_ns();
        put_nats_answer(&body, &answer);
        send(nc, natsMsg_GetReply(msg), NULL, &body);
        out_free(&body);
    }
    natsMsg_Destroy(msg);
}

natsSubscription *natsclock_answer(const struct natslink *link, const char *run, const char *host)
{
    natsSubscription *subscription = NULL;
    char *subject = nats_clock_subject(run), *is = memory_copied(host);
    natsStatus s = natsConnection_Subscribe(&subscription, link->nc, subject, on_question, is);
    if (s != NATS_OK || natsSubscription_SetOnCompleteCB(subscription, free, is) != NATS_OK)
        free(is);
    free(subject);
    return subscription;
}

/* ---- of a reader ---- */

struct natsclock {
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
    struct out answers;
};

static bool was_asked(const struct natsclock *c, uint64_t asked)
{
    for (unsigned i = 0; i < ASKED_KEPT; i++)
        if (c->asked[i] == asked)
            return asked != 0;
    return false;
}

static void on_answer(natsConnection *nc, natsSubscription *subscription, natsMsg *msg,
                      void *context)
{
    struct natsclock *c = context;
    uint64_t here = turn_clock_ns();
    struct nats_answer answer;
    struct in in = body_of(msg);
    (void)nc, (void)subscription;
    bool good = get_nats_answer(&in, &answer);
    pthread_mutex_lock(&c->lock);
    if (good && was_asked(c, answer.asked) && c->answers.size < ANSWERS_MOST) {
        out_begin(&c->answers, MESSAGE_ANSWERED);
        put_string(&c->answers, answer.host);
        put_u64(&c->answers, answer.asked);
        put_u64(&c->answers, answer.heard);
        put_u64(&c->answers, answer.said);
        put_u64(&c->answers, here);
        out_end(&c->answers);
        c->count++;
        pthread_cond_signal(&c->answered);
    }
    pthread_mutex_unlock(&c->lock);
    if (good)
        free(answer.host);
    natsMsg_Destroy(msg);
}

static void let_go(void *context)
{
    struct natsclock *c = context;
    pthread_mutex_lock(&c->lock);
    bool last = --c->users == 0;
    pthread_mutex_unlock(&c->lock);
    if (!last)
        return;
    natsInbox_Destroy(c->inbox);
    out_free(&c->answers);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->answered);
    free(c->subject);
    free(c);
}

struct natsclock *natsclock_new(const struct natslink *link, const char *run)
{
    struct natsclock *c = memory_zeroed(1, sizeof *c);
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
    if (c->subscription && natsSubscription_SetOnCompleteCB(c->subscription, let_go, c) == NATS_OK)
        c->users++;
    return c;
}

void natsclock_soon(struct natsclock *c)
{
    if (c)
        c->soon = ASK_SOON;
}

static void ask(struct natsclock *c, uint64_t now)
{
    struct out body = {0};
    pthread_mutex_lock(&c->lock);
    c->asked[c->next++ % ASKED_KEPT] = now;
    pthread_mutex_unlock(&c->lock);
    c->asked_ns = now;
    c->soon -= c->soon > 0;
    put_nats_question(&body, now);
    send(c->nc, c->subject, c->inbox, &body);
    out_free(&body);
}

void natsclock_go_on(struct natsclock *c, struct out *out)
{
    uint64_t now = turn_clock_ns();
    if (!c || !c->subscription)
        return;
    if (now - c->asked_ns >= (c->soon ? ASK_SOON_NS : ASK_NS))
        ask(c, now);
    pthread_mutex_lock(&c->lock);
    put_bytes(out, c->answers.data, c->answers.size);
    c->answers.size = 0;
    pthread_mutex_unlock(&c->lock);
}

/* False: there was none. */
static bool await_answer(struct natsclock *c, unsigned ms)
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

void natsclock_settle(struct natsclock *c)
{
    if (!c || !c->subscription || turn_clock_ns() - c->settled_ns < SETTLES_NS)
        return;
    bool any = true;
    for (unsigned i = 0; i < SETTLES && any; i++) {
        ask(c, turn_clock_ns());
        any = await_answer(c, FIRST_MS);
        while (any && await_answer(c, NEXT_MS))
            ;
    }
    c->settled_ns = turn_clock_ns();
}

void natsclock_free(struct natsclock *c)
{
    if (!c)
        return;
    natsSubscription_Destroy(c->subscription); /* an answer may be under way */
    let_go(c);
}
