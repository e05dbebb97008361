/* The thread that speaks with NATS for an agent: it takes orders from the loop's and tells it
 * news. */
#define _GNU_SOURCE
#include "server/forwarding/nats_worker.h"

#include "base/alloc.h"
#include "server/forwarding/nats_clock.h"
#include "server/eventloop/loop_turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static void order_free(struct nats_order *order)
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
        order_free(order);
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
        order_free(order);
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

void *nats_worker_run(void *context)
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
