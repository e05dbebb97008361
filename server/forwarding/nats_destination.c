/* A destination that stores batches: nats://HOST:PORT, a stream of JetStream for each run
 * (nats_message.h).
 *
 * A separate thread waits for responses; it gets orders from the loop's thread and notifies it
 * by ev_async.  A message is sent when the one before it on its subject is stored, since its
 * sequence number is expected there: so of two agents with the same journal only one can
 * continue. */
#define _GNU_SOURCE
#include "server/forwarding/nats_worker.h"

#include "base/alloc.h"
#include "server/transport/tls_channel.h"
#include "server/eventloop/loop_turn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEAVE_SECONDS 4 /* for the thread to end */

static void nats_dispatch_event(struct nats_destination *n, const struct nats_event *news)
{
    n->here = news->what == NATS_CONNECTED || (n->here && news->what != NATS_DISCONNECTED);
    if (news->what == NATS_CONNECTED)
        n->hears->here(n->context);
    else if (news->what == NATS_DISCONNECTED)
        n->hears->disconnected(n->context, news->why);
    else if (news->what == NATS_EXPECTS_CHUNK)
        n->hears->expects(n->context, news->stream, news->chunk);
    else if (news->what == NATS_STREAM_COMPLETE)
        n->hears->complete(n->context, news->stream, news->chunk);
    else
        n->hears->room(n->context);
}

static struct nats_event *nats_receive_event(struct nats_destination *n)
{
    pthread_mutex_lock(&n->lock);
    struct nats_event *news = n->news;
    n->news = n->newest = NULL;
    pthread_mutex_unlock(&n->lock);
    return news;
}

static void nats_on_event(struct ev_loop *loop, ev_async *async, int events)
{
    struct nats_destination *n = async->data;
    (void)loop, (void)events;
    loop_turn_set_activity("what is forwarded");
    for (struct nats_event *news = nats_receive_event(n), *next; news; news = next) {
        next = news->next;
        nats_dispatch_event(n, news);
        free(news->why);
        free(news);
    }
}

static void nats_push_order(struct nats_destination *n, struct nats_order *order)
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

static void nats_offer_stream(struct destination *to, uint32_t stream, const uint8_t *id,
                              const char *name)
{
    struct nats_destination *n = (struct nats_destination *)to;
    if (!n->here)
        return;
    struct nats_order *order = xcalloc(1, sizeof *order);
    order->stream = stream;
    order->run = xstrdup(name);
    memcpy(order->message.id, id, FORWARD_ID_BYTES);
    nats_push_order(n, order);
}

static bool nats_publish_batch(struct destination *to, const struct forwarded_batch *batch)
{
    struct nats_destination *n = (struct nats_destination *)to;
    pthread_mutex_lock(&n->lock);
    bool full = n->waiting >= NATS_ORDERS_MAX;
    n->full |= full;
    pthread_mutex_unlock(&n->lock);
    if (!n->here || full)
        return false;
    struct nats_order *order = xmalloc(sizeof *order + batch->packed_bytes);
    *order = (struct nats_order){.stream = batch->stream};
    order->message.batch = *batch;
    order->message.batch.packed = order->packed;
    order->message.ends = batch->ends;
    memcpy(order->packed, batch->packed, batch->packed_bytes);
    nats_push_order(n, order);
    return true;
}

static void close_nats(struct destination *to)
{
    struct nats_destination *n = (struct nats_destination *)to;
    struct timespec until;
    pthread_mutex_lock(&n->lock);
    n->stop = true;
    if (n->link.nc)
        natsConnection_Close(n->link.nc);
    pthread_cond_signal(&n->wake);
    pthread_mutex_unlock(&n->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LEAVE_SECONDS;
    ev_async_stop(n->loop, &n->wakeup);
    if (pthread_timedjoin_np(n->thread, NULL, &until) != 0)
        return; /* it asks for a name still; the process ends before it */
    for (struct nats_event *news = nats_receive_event(n), *next; news; news = next) {
        next = news->next;
        free(news->why);
        free(news);
    }
    free(n->subjects);
    free(n->host);
    nats_address_free(&n->where);
    pthread_mutex_destroy(&n->lock);
    pthread_cond_destroy(&n->wake);
    free(n);
}

static bool nats_start_worker(struct nats_destination *n)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before); /* signals are the loop's, also of libnats's threads */
    bool good = pthread_create(&n->thread, NULL, nats_worker_run, n) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static struct destination *open_nats(struct ev_loop *loop, const char *where, const char *host,
                                     const struct destination_callbacks *hears, void *context,
                                     struct error *error)
{
    struct nats_address read;
    if (!tls_is_available()) { /* nor is zstd, which packs what is sent */
        tls_new(-1, false, NULL, error);
        return NULL;
    }
    if (!nats_address_parse(&read, where, error))
        return NULL;
    struct nats_destination *n = xcalloc(1, sizeof *n);
    *n = (struct nats_destination){.to = {&destination_nats},
                                   .loop = loop,
                                   .where = read,
                                   .host = xstrdup(host),
                                   .hears = hears,
                                   .context = context};
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->wake, &clock);
    pthread_condattr_destroy(&clock);
    ev_async_init(&n->wakeup, nats_on_event);
    n->wakeup.data = n;
    ev_async_start(loop, &n->wakeup);
    if (nats_start_worker(n))
        return &n->to;
    ev_async_stop(loop, &n->wakeup);
    error_set(error, "%s: cannot start a thread", n->where.shown);
    nats_address_free(&n->where);
    free(n->host);
    free(n);
    return NULL;
}

const struct destination_kind destination_nats = {open_nats, nats_offer_stream, nats_publish_batch,
                                                  close_nats};
