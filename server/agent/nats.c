/* A destination that keeps: nats://HOST:PORT, a stream of JetStream for each run (natsmessage.h).
 *
 * What waits for answers is a thread of its own, which takes orders from the loop's and tells it news by ev_async.  A
 * message goes when the one before it on its subject is kept, since its number is expected there: so two agents that
 * hold the same journal for theirs cannot both go on. */
#define _GNU_SOURCE
#include "server/agent/natskeeper.h"

#include "memory/memory.h"
#include "server/far/tls.h"
#include "server/loop/turn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEAVE_SECONDS 4 /* for the thread to end */

static void hear(struct nats *n, const struct news *news)
{
    n->here = news->what == HERE || (n->here && news->what != AWAY);
    if (news->what == HERE)
        n->hears->here(n->context);
    else if (news->what == AWAY)
        n->hears->away(n->context, news->why);
    else if (news->what == EXPECTS)
        n->hears->expects(n->context, news->stream, news->chunk);
    else if (news->what == COMPLETE)
        n->hears->complete(n->context, news->stream, news->chunk);
    else
        n->hears->room(n->context);
}

static struct news *take_news(struct nats *n)
{
    pthread_mutex_lock(&n->lock);
    struct news *news = n->news;
    n->news = n->newest = NULL;
    pthread_mutex_unlock(&n->lock);
    return news;
}

static void on_told(struct ev_loop *loop, ev_async *async, int events)
{
    struct nats *n = async->data;
    (void)loop, (void)events;
    turn_doing("what is forwarded");
    for (struct news *news = take_news(n), *next; news; news = next) {
        next = news->next;
        hear(n, news);
        free(news->why);
        free(news);
    }
}

static void put_order(struct nats *n, struct order *order)
{
    pthread_mutex_lock(&n->lock);
    if (n->last)
        n->last->next = order;
    else
        n->first = order;
    n->last = order;
    n->waiting += order->message.batch.packed_bytes;
    pthread_cond_signal(&n->wake);
    pthread_mutex_unlock(&n->lock);
}

static void offer(struct destination *to, uint32_t stream, const uint8_t *id, const char *name)
{
    struct nats *n = (struct nats *)to;
    if (!n->here)
        return;
    struct order *order = memory_zeroed(1, sizeof *order);
    order->stream = stream;
    order->run = memory_copied(name);
    memcpy(order->message.id, id, FORWARD_ID_BYTES);
    put_order(n, order);
}

static bool publish(struct destination *to, const struct forwarded_batch *batch)
{
    struct nats *n = (struct nats *)to;
    pthread_mutex_lock(&n->lock);
    bool full = n->waiting >= ORDERS_MOST;
    n->full |= full;
    pthread_mutex_unlock(&n->lock);
    if (!n->here || full)
        return false;
    struct order *order = memory_bytes(sizeof *order + batch->packed_bytes);
    *order = (struct order){.stream = batch->stream};
    order->message.batch = *batch;
    order->message.batch.packed = order->packed;
    order->message.ends = batch->ends;
    memcpy(order->packed, batch->packed, batch->packed_bytes);
    put_order(n, order);
    return true;
}

static void close_nats(struct destination *to)
{
    struct nats *n = (struct nats *)to;
    struct timespec until;
    pthread_mutex_lock(&n->lock);
    n->stop = true;
    if (n->link.nc)
        natsConnection_Close(n->link.nc);
    pthread_cond_signal(&n->wake);
    pthread_mutex_unlock(&n->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LEAVE_SECONDS;
    ev_async_stop(n->loop, &n->told);
    if (pthread_timedjoin_np(n->thread, NULL, &until) != 0)
        return; /* it asks for a name still; the process ends before it */
    for (struct news *news = take_news(n), *next; news; news = next) {
        next = news->next;
        free(news->why);
        free(news);
    }
    free(n->subjects);
    free(n->host);
    nats_where_free(&n->where);
    pthread_mutex_destroy(&n->lock);
    pthread_cond_destroy(&n->wake);
    free(n);
}

static bool start(struct nats *n)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before); /* signals are the loop's, also of libnats's threads */
    bool good = pthread_create(&n->thread, NULL, natskeeper_run, n) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static struct destination *open_nats(struct ev_loop *loop, const char *where, const char *host,
                                     const struct destination_hears *hears, void *context,
                                     struct error *error)
{
    struct nats_where read;
    if (!tls_is_there()) { /* nor is zstd, which packs what is sent */
        tls_new(-1, false, NULL, error);
        return NULL;
    }
    if (!nats_where_read(&read, where, error))
        return NULL;
    struct nats *n = memory_zeroed(1, sizeof *n);
    *n = (struct nats){.to = {&destination_nats},
                       .loop = loop,
                       .where = read,
                       .host = memory_copied(host),
                       .hears = hears,
                       .context = context};
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->wake, &clock);
    pthread_condattr_destroy(&clock);
    ev_async_init(&n->told, on_told);
    n->told.data = n;
    ev_async_start(loop, &n->told);
    if (start(n))
        return &n->to;
    ev_async_stop(loop, &n->told);
    error_set(error, "%s: no thread can be started", n->where.shown);
    nats_where_free(&n->where);
    free(n->host);
    free(n);
    return NULL;
}

const struct destination_kind destination_nats = {open_nats, offer, publish, close_nats};
