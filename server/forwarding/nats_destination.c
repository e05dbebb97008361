/* A destination that stores batches: nats://HOST:PORT, a stream of JetStream for each run
 * (nats_message.h).
 *
 * A separate thread waits for responses; it gets orders from the loop's thread and notifies it
 * by ev_async.  A message is sent when the one before it on its subject is stored, since its
 * sequence number is expected there: so of two agents with the same journal only one can
 * continue. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/eventloop/event_loop.h"
#include "server/forwarding/destination.h"
#include "server/forwarding/nats_clock.h"
#include "server/forwarding/nats_connection.h"
#include "server/forwarding/nats_message.h"
#include "server/transport/tls_channel.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NATS_ORDERS_MAX (8u << 20) /* bytes that wait to go out */

struct nats_order { /* what is to be done: a stream is offered, or a batch published */
    struct nats_order *next;
    char *run; /* NULL: a batch */
    uint32_t stream;
    struct nats_message message;
    uint8_t packed[];
};

enum nats_event_kind {
    NATS_CONNECTED,
    NATS_DISCONNECTED,
    NATS_EXPECTS_CHUNK,
    NATS_STREAM_COMPLETE,
    NATS_HAS_SPACE
};
struct nats_event {
    struct nats_event *next;
    enum nats_event_kind what;
    uint32_t stream;
    uint64_t chunk;
    char *why;
};

struct nats_subject_state { /* of the thread alone */
    char *run, *stream, *subject; /* NULL: not offered */
    natsSubscription *clock; /* requests about its run; NULL: another one has them */
    uint8_t id[FORWARD_ID_BYTES];
    uint64_t last; /* number in JetStream of its last message; 0 none */
};

struct nats_destination {
    struct destination to;
    struct ev_loop *loop;
    ev_async wakeup;
    const struct destination_callbacks *hears;
    void *context;
    struct nats_address where;
    char *host;
    bool here;
    pthread_t thread;
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t wake;
    struct nats_order *first, *last;
    size_t waiting; /* bytes */
    bool full, stop;
    struct nats_event *news, *newest;
    struct nats_connection link; /* of the thread; closed by the loop's at the end */
    struct nats_subject_state *subjects;
    size_t count, room;
};

/* ---- the worker ----
 *
 * The thread that speaks with NATS for an agent takes orders from the loop's and tells it news. */

#define MESSAGE_MOST (512u << 10)
#define MESSAGE_LEAST 512u
#define HEADERS_BYTES 512u /* what libnats adds */
#define AGAIN_LEAST_MS 100u
#define AGAIN_MOST_MS 5000u
#define LOOK_MS 1000u /* whether it is still there */

/* ---- what it tells ---- */

static void nats_worker_report_event(struct nats_destination *n, struct nats_event event)
{
    struct nats_event *news = xmalloc(sizeof *news);
    *news = event;
    pthread_mutex_lock(&n->lock);
    if (n->newest)
        n->newest->next = news;
    else
        n->news = news;
    n->newest = news;
    bool stop = n->stop;
    pthread_mutex_unlock(&n->lock);
    if (!stop)
        ev_async_send(n->loop, &n->wakeup);
}

/* ---- orders ---- */

static struct timespec in_ms(unsigned ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static void nats_order_free(struct nats_order *order)
{
    if (order)
        free(order->run);
    free(order);
}

static void drop_orders(struct nats_destination *n)
{
    while (n->first) {
        struct nats_order *order = n->first;
        n->first = order->next;
        nats_order_free(order);
    }
    n->last = NULL;
    n->waiting = 0;
}

/* NULL: there is none for a while. */
static struct nats_order *next_order(struct nats_destination *n)
{
    struct timespec until = in_ms(LOOK_MS);
    pthread_mutex_lock(&n->lock);
    while (!n->first && !n->stop && pthread_cond_timedwait(&n->wake, &n->lock, &until) == 0)
        ;
    struct nats_order *order = n->stop ? NULL : n->first;
    bool room = false;
    if (order) {
        n->first = order->next;
        n->last = n->first ? n->last : NULL;
        n->waiting -= order->message.batch.packed_bytes;
        room = n->full && n->waiting < NATS_ORDERS_MAX / 2;
        n->full &= !room;
    }
    pthread_mutex_unlock(&n->lock);
    if (room)
        nats_worker_report_event(n, (struct nats_event){.what = NATS_HAS_SPACE});
    return order;
}

/* ---- JetStream ---- */

/* The stream of a run, made if there is none. */
static bool have_stream(struct nats_destination *n, const struct nats_subject_state *subject,
                        char *why)
{
    jsStreamConfig config;
    jsErrCode code = 0;
    jsStreamInfo *info = NULL;
    natsStatus s = js_GetStreamInfo(&info, n->link.js, subject->stream, NULL, &code);
    if (s == NATS_NOT_FOUND || code == JSStreamNotFoundErr) {
        char *all = nats_subject(subject->run, NULL);
        const char *subjects[] = {all};
        jsStreamConfig_Init(&config);
        config.Name = subject->stream;
        config.Subjects = subjects;
        config.SubjectsLen = 1;
        config.Storage = js_FileStorage;
        config.Discard = js_DiscardNew; /* what is full says so */
        code = 0;
        s = js_AddStream(&info, n->link.js, &config, NULL, &code);
        free(all);
    }
    jsStreamInfo_Destroy(info);
    if (s == NATS_OK)
        return true;
    nats_connection_error_text(why, &n->where, subject->stream, s, code);
    return false;
}

static void nats_worker_format_subject(struct nats_subject_state *subject)
{
    free(subject->run);
    free(subject->stream);
    free(subject->subject);
    natsSubscription_Destroy(subject->clock);
    *subject = (struct nats_subject_state){0};
}

/* Its journals of one run answer once. */
static bool is_answered(const struct nats_destination *n, const char *run)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->subjects[i].clock && strcmp(n->subjects[i].run, run) == 0)
            return true;
    return false;
}

/* Asks how far a stream got. */
static bool offer_it(struct nats_destination *n, struct nats_order *order, char *why)
{
    n->subjects =
        array_reserve_zeroed(n->subjects, &n->room, (size_t)order->stream + 1, sizeof *n->subjects);
    n->count = order->stream >= n->count ? order->stream + 1 : n->count;
    struct nats_subject_state *subject = &n->subjects[order->stream];
    nats_worker_format_subject(subject);
    memcpy(subject->id, order->message.id, FORWARD_ID_BYTES);
    subject->run = xstrdup(order->run);
    subject->stream = nats_stream(order->run);
    subject->subject = nats_subject(order->run, order->message.id);
    if (!have_stream(n, subject, why))
        return false;
    if (!is_answered(n, order->run))
        subject->clock = nats_clock_answer(&n->link, order->run, n->host);
    natsMsg *found = NULL;
    jsErrCode code = 0;
    struct nats_message message = {0};
    natsStatus s =
        js_GetLastMsg(&found, n->link.js, subject->stream, subject->subject, NULL, &code);
    if (s == NATS_OK) {
        struct decoder in = decoder_init((const uint8_t *)natsMsg_GetData(found),
                                         (size_t)natsMsg_GetDataLength(found));
        subject->last = natsMsg_GetSequence(found);
        bool good = decode_nats_message(&in, &message);
        if (!good)
            snprintf(why, NATS_WHY_BYTES, "%s: the stream %s: message %llu %s", n->where.shown,
                     subject->stream, (unsigned long long)subject->last, in.error);
        natsMsg_Destroy(found);
        if (!good)
            return false;
    } else if (s != NATS_NOT_FOUND && code != JSNoMessageFoundErr) {
        nats_connection_error_text(why, &n->where, subject->stream, s, code);
        return false;
    }
    bool whole = s == NATS_OK && message.ends && message.part + 1 == message.parts;
    nats_worker_report_event(
        n, (struct nats_event){.what = whole ? NATS_STREAM_COMPLETE : NATS_EXPECTS_CHUNK,
                               .stream = order->stream,
                               .chunk = s == NATS_OK ? nats_next(&message) : 0});
    return true;
}

static bool publish_part(struct nats_destination *n, struct nats_subject_state *subject,
                         const struct encoder *body, char *why)
{
    natsMsg *msg = NULL;
    jsPubAck *ack = NULL;
    jsPubOptions options;
    jsErrCode code = 0;
    jsPubOptions_Init(&options);
    options.ExpectStream = subject->stream;
    options.ExpectLastSubjectSeq = subject->last;
    options.ExpectNoMessage = !subject->last;
    natsStatus s =
        natsMsg_Create(&msg, subject->subject, NULL, (const char *)body->data, (int)body->size);
    if (s == NATS_OK)
        s = js_PublishMsg(&ack, n->link.js, msg, &options, &code);
    if (s == NATS_OK)
        subject->last = ack->Sequence;
    else
        nats_connection_error_text(why, &n->where, subject->stream, s, code);
    jsPubAck_Destroy(ack);
    natsMsg_Destroy(msg);
    return s == NATS_OK;
}

static bool publish_it(struct nats_destination *n, struct nats_order *order, char *why)
{
    struct nats_subject_state *subject =
        order->stream < n->count ? &n->subjects[order->stream] : NULL;
    if (!subject || !subject->subject)
        return true; /* from before it was away: it comes again */
    struct nats_message *message = &order->message;
    int64_t payload = natsConnection_GetMaxPayload(n->link.nc);
    size_t most =
        payload < MESSAGE_MOST + HEADERS_BYTES ? (size_t)payload - HEADERS_BYTES : MESSAGE_MOST;
    message->parts =
        payload < HEADERS_BYTES + MESSAGE_LEAST ? 0 : nats_parts(message->batch.packed_bytes, most);
    memcpy(message->id, subject->id, FORWARD_ID_BYTES);
    bool good = message->parts > 0;
    if (!good)
        snprintf(why, NATS_WHY_BYTES, "%s: max_payload is too small; increase it", n->where.shown);
    struct encoder body = {0};
    for (message->part = 0; good && message->part < message->parts; message->part++) {
        body.size = 0;
        encode_nats_message(&body, message, most);
        good = publish_part(n, subject, &body, why);
    }
    encoder_free(&body);
    uint64_t next = message->batch.first + message->batch.count;
    if (good)
        nats_worker_report_event(n, (struct nats_event){.what = NATS_EXPECTS_CHUNK,
                                                        .stream = order->stream,
                                                        .chunk = next});
    if (good && message->ends)
        nats_worker_report_event(n, (struct nats_event){.what = NATS_STREAM_COMPLETE,
                                                        .stream = order->stream,
                                                        .chunk = next});
    return good;
}

/* Serves orders until the connection is lost, or the destination is closed. */
static void nats_worker_serve_orders(struct nats_destination *n, char *why)
{
    bool good = true, stop = false;
    while (good && !stop) {
        struct nats_order *order = next_order(n);
        if (order)
            good = order->run ? offer_it(n, order, why) : publish_it(n, order, why);
        else if (natsConnection_IsClosed(n->link.nc)) {
            good = false;
            snprintf(why, NATS_WHY_BYTES, "%s: connection closed by NATS server", n->where.shown);
        }
        nats_order_free(order);
        pthread_mutex_lock(&n->lock);
        stop = n->stop;
        pthread_mutex_unlock(&n->lock);
    }
}

static bool connect_it(struct nats_destination *n, char *why)
{
    struct nats_connection link;
    if (!nats_connection_open(&link, &n->where, why))
        return false;
    pthread_mutex_lock(&n->lock);
    n->link = link;
    pthread_mutex_unlock(&n->lock);
    return true;
}

static void nats_worker_disconnect(struct nats_destination *n)
{
    pthread_mutex_lock(&n->lock);
    struct nats_connection link = n->link;
    n->link = (struct nats_connection){0};
    drop_orders(n);
    n->full = false;
    pthread_mutex_unlock(&n->lock);
    for (size_t i = 0; i < n->count; i++)
        nats_worker_format_subject(&n->subjects[i]);
    nats_connection_close(&link);
}

/* Returns true if the destination is being closed. */
static bool pause_for(struct nats_destination *n, unsigned ms)
{
    struct timespec until = in_ms(ms);
    pthread_mutex_lock(&n->lock);
    while (!n->stop && pthread_cond_timedwait(&n->wake, &n->lock, &until) == 0)
        ;
    bool stop = n->stop;
    pthread_mutex_unlock(&n->lock);
    return stop;
}

static void *nats_worker_run(void *context)
{
    struct nats_destination *n = context;
    unsigned wait = AGAIN_LEAST_MS;
    char why[NATS_WHY_BYTES];
    do {
        uint64_t begun = loop_clock_ns();
        why[0] = 0;
        if (connect_it(n, why)) {
            nats_worker_report_event(n, (struct nats_event){.what = NATS_CONNECTED});
            nats_worker_serve_orders(n, why);
        }
        nats_worker_disconnect(n);
        nats_worker_report_event(
            n, (struct nats_event){.what = NATS_DISCONNECTED, .why = xstrdup(why)});
        bool long_ago = loop_clock_ns() - begun > (uint64_t)AGAIN_MOST_MS * 1000000u;
        wait = long_ago ? AGAIN_LEAST_MS : wait * 2 < AGAIN_MOST_MS ? wait * 2 : AGAIN_MOST_MS;
    } while (!pause_for(n, wait));
    nats_ReleaseThreadMemory();
    return NULL;
}

/* ---- the loop's side ---- */

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
