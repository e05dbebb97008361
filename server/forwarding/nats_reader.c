#define _GNU_SOURCE
#include "server/forwarding/nats_reader.h"

#include "base/alloc.h"
#include "server/forwarding/nats_clock.h"
#include "server/forwarding/nats_connection.h"
#include "server/eventloop/event_loop.h"
#include "server/tracefile/agent_positions.h"
#include "wire/limits.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 100 /* what the server says is looked at so often, and whether we are to end */
#define AGAIN_LEAST_MS 100
#define AGAIN_MOST_MS 5000
#define LEAVE_SECONDS 4

struct nats_journal { /* of an agent */
    uint8_t id[FORWARD_ID_BYTES];
    uint64_t next; /* the next chunk to be sent to the server */
    bool ends, complete; /* all was delivered; the server has reported that its run has ended */
    bool broken; /* chunks are missing */
    struct nats_assembly assembly;
    uint64_t begun; /* message that it begins with */
};

struct nats_reader {
    pthread_t thread;
    pthread_mutex_t lock; /* over link, to be closed */
    atomic_bool stop;
    struct nats_address where;
    char *stream, *subjects;
    struct nats_connection link;
    natsSubscription *subscription;
    struct nats_clock *clock;
    uint64_t next; /* message of the stream */
    int64_t made_ns; /* when the stream was */
    int fd;
    bool gone; /* the server has hung up on us */
    bool reported;
    struct encoder in, out;
    struct nats_journal *journals;
    size_t count, room;
};

static bool nats_reader_is_stopped(const struct nats_reader *r)
{
    return atomic_load(&r->stop) || r->gone;
}

/* ---- the server ---- */

static void nats_reader_apply_message(struct nats_reader *r, unsigned type, const uint8_t *body,
                                      size_t size)
{
    struct decoder in = decoder_init(body, size);
    if (type == MESSAGE_ERROR)
        r->gone = true; /* it has said so in its log */
    if (type != MESSAGE_COMPLETE)
        return;
    uint32_t stream = decode_u32(&in);
    if (!in.error && stream < r->count)
        r->journals[stream].complete = r->journals[stream].ends = true;
}

static void nats_reader_read_replies(struct nats_reader *r)
{
    uint8_t bytes[4096];
    ssize_t n;
    while ((n = recv(r->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        encode_bytes(&r->in, bytes, (size_t)n);
    r->gone |= n == 0 || (errno != EAGAIN && errno != EINTR);
    size_t used = 0, length;
    unsigned type;
    const char *error;
    while (used < r->in.size && frame_read(r->in.data + used, r->in.size - used,
                                           LIMIT_MESSAGE_BYTES, &type, &length, &error) > 0) {
        nats_reader_apply_message(r, type, r->in.data + used + MESSAGE_FRAME_BYTES, length);
        used += MESSAGE_FRAME_BYTES + length;
    }
    encoder_consume(&r->in, used);
}

/* Waits until the server has taken all, which it may put off while its order is behind. */
static void nats_reader_send_positions(struct nats_reader *r)
{
    while (r->out.size && !nats_reader_is_stopped(r)) {
        ssize_t n = send(r->fd, r->out.data, r->out.size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            encoder_consume(&r->out, (size_t)n);
        else if (errno != EAGAIN && errno != EINTR)
            r->gone = true;
        struct pollfd wait = {.fd = r->fd, .events = POLLIN | (r->out.size ? POLLOUT : 0)};
        if (r->out.size)
            poll(&wait, 1, LOOK_MS);
        nats_reader_read_replies(r);
    }
}

/* ---- messages of agents ---- */

/* Where all journals so far have ended, the next one belongs to another run of that name, whenever
 * it is read. */
static void wait_for_end(struct nats_reader *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->journals[i].ends)
            return;
    for (size_t i = 0; i < r->count; i++) {
        while (!r->journals[i].complete && !nats_reader_is_stopped(r)) {
            struct pollfd wait = {.fd = r->fd, .events = POLLIN};
            poll(&wait, 1, LOOK_MS);
            nats_reader_read_replies(r);
        }
    }
}

static struct nats_journal *add_journal(struct nats_reader *r, const uint8_t *id, uint64_t next,
                                        bool ends)
{
    r->journals = array_reserve_zeroed(r->journals, &r->room, r->count + 1, sizeof *r->journals);
    struct nats_journal *journal = &r->journals[r->count];
    *journal = (struct nats_journal){.next = next, .ends = ends};
    memcpy(journal->id, id, FORWARD_ID_BYTES);
    encoder_begin_message(&r->out, MESSAGE_STREAM);
    encode_forwarded_stream(&r->out, (uint32_t)r->count++, id, r->where.run);
    encoder_end_message(&r->out);
    return journal;
}

static struct nats_journal *journal_of(struct nats_reader *r, const uint8_t *id)
{
    for (size_t i = 0; i < r->count; i++)
        if (memcmp(r->journals[i].id, id, FORWARD_ID_BYTES) == 0)
            return &r->journals[i];
    if (r->count == FORWARD_STREAMS_MOST)
        return NULL;
    wait_for_end(r);
    nats_clock_request_soon(r->clock);
    return add_journal(r, id, 0, false);
}

/* Returns the message from which a restarted server must continue reading: all before it were
 * delivered. */
static uint64_t nats_reader_safe_position(const struct nats_reader *r)
{
    uint64_t next = r->next;
    for (size_t i = 0; i < r->count; i++) {
        const struct nats_journal *journal = &r->journals[i];
        if (journal->assembly.parts && !journal->broken && journal->begun < next)
            next = journal->begun;
    }
    return next;
}

static void nats_reader_apply_batch(struct nats_reader *r, struct nats_message *message)
{
    struct forwarded_batch *batch = &message->batch;
    struct nats_journal *journal = journal_of(r, message->id);
    if (journal && message->part == 0)
        journal->begun = r->next - 1;
    if (!journal || journal->broken || !nats_assemble(&journal->assembly, message))
        return;
    if (batch->first + batch->count <= journal->next)
        return;
    if (batch->first > journal->next) {
        server_log(
            "%s: the stream %s has lost chunks %llu to %llu of an agent; its events are truncated "
            "there; configure the stream to keep all (no limits, discard new)",
            r->where.shown, r->stream, (unsigned long long)journal->next,
            (unsigned long long)batch->first - 1);
        journal->broken = true;
        return;
    }
    journal->next = batch->first + batch->count;
    journal->ends |= message->ends;
    if (batch->first == 0 ||
        message->ends) { /* what is known of clocks when its run is over is all */
        nats_clock_sync(r->clock);
        nats_clock_step(r->clock, &r->out);
    }
    batch->stream = (uint32_t)(journal - r->journals);
    encoder_begin_message(&r->out, MESSAGE_STREAM_POSITION);
    encode_u64(&r->out, nats_reader_safe_position(r));
    encode_u64(&r->out, (uint64_t)r->made_ns);
    encoder_end_message(&r->out);
    encoder_begin_message(&r->out, MESSAGE_FORWARD);
    encode_forwarded_batch(&r->out, batch);
    encode_bytes(&r->out, batch->packed, batch->packed_bytes);
    encoder_end_message(&r->out);
    nats_reader_send_positions(r);
}

static void nats_reader_receive_message(struct nats_reader *r, natsMsg *msg)
{
    jsMsgMetaData *meta = NULL;
    if (natsMsg_GetMetaData(&meta, msg) != NATS_OK)
        return; /* none of a stream's */
    uint64_t number = meta->Sequence.Stream;
    jsMsgMetaData_Destroy(meta);
    if (number < r->next)
        return;
    r->next = number + 1;
    struct nats_message message;
    struct decoder in =
        decoder_init((const uint8_t *)natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg));
    if (decode_nats_message(&in, &message))
        nats_reader_apply_batch(r, &message);
    else
        server_log("%s: the stream %s: message %llu %s: dropped", r->where.shown, r->stream,
                   (unsigned long long)number, in.error);
}

/* ---- the stream ---- */

/* One that is not that which was read before is read from its begin: what is known of it is
 * dropped. */
static void nats_reader_check_stream(struct nats_reader *r, const jsStreamInfo *info)
{
    if ((r->made_ns && r->made_ns != info->Created) || r->next > info->State.LastSeq + 1)
        r->next = 1;
    r->made_ns = info->Created;
}

static bool nats_reader_subscribe(struct nats_reader *r, char *why)
{
    struct nats_connection link;
    if (!nats_connection_open(&link, &r->where, why))
        return false;
    pthread_mutex_lock(&r->lock);
    r->link = link;
    pthread_mutex_unlock(&r->lock);
    jsSubOptions options;
    jsErrCode code = 0;
    jsStreamInfo *info = NULL;
    natsStatus s = js_GetStreamInfo(&info, link.js, r->stream, NULL, &code);
    if (s == NATS_OK)
        nats_reader_check_stream(r, info);
    jsStreamInfo_Destroy(info);
    jsSubOptions_Init(&options);
    options.Stream = r->stream;
    options.Ordered = true;
    options.Config.DeliverPolicy = js_DeliverByStartSequence;
    options.Config.OptStartSeq = r->next;
    if (s == NATS_OK)
        s = js_SubscribeSync(&r->subscription, link.js, r->subjects, NULL, &options, &code);
    if (s != NATS_OK)
        nats_connection_error_text(why, &r->where, r->stream, s,
                                   s == NATS_NOT_FOUND ? JSStreamNotFoundErr : code);
    else
        r->clock = nats_clock_new(&link, r->where.run);
    return s == NATS_OK;
}

static void nats_reader_disconnect(struct nats_reader *r)
{
    natsSubscription_Destroy(r->subscription);
    nats_clock_free(r->clock);
    r->subscription = NULL;
    r->clock = NULL;
    pthread_mutex_lock(&r->lock);
    struct nats_connection link = r->link;
    r->link = (struct nats_connection){0};
    pthread_mutex_unlock(&r->lock);
    nats_connection_close(&link);
}

static void nats_reader_read_messages(struct nats_reader *r, char *why)
{
    natsStatus s = NATS_OK;
    while (!nats_reader_is_stopped(r) && (s == NATS_OK || s == NATS_TIMEOUT)) {
        natsMsg *msg = NULL;
        s = natsSubscription_NextMsg(&msg, r->subscription, LOOK_MS);
        if (s == NATS_OK)
            nats_reader_receive_message(r, msg);
        natsMsg_Destroy(msg);
        nats_clock_step(r->clock, &r->out);
        nats_reader_send_positions(r);
        nats_reader_read_replies(r);
    }
    nats_connection_error_text(why, &r->where, r->stream, s, 0);
}

static void nats_reader_log_once(struct nats_reader *r, const char *why)
{
    if (!r->reported && !nats_reader_is_stopped(r))
        server_log("%s; retrying", why);
    r->reported = true;
}

static void pause_for(struct nats_reader *r, int ms)
{
    for (; ms > 0 && !nats_reader_is_stopped(r); ms -= LOOK_MS) {
        struct pollfd wait = {.fd = r->fd, .events = POLLIN};
        if (poll(&wait, 1, LOOK_MS) > 0)
            nats_reader_read_replies(r);
    }
}

static void *nats_reader_run(void *context)
{
    struct nats_reader *r = context;
    char why[NATS_WHY_BYTES] = "";
    int wait = AGAIN_LEAST_MS;
    nats_reader_send_positions(r);
    while (!nats_reader_is_stopped(r)) {
        if (nats_reader_subscribe(r, why)) {
            server_log("%s: the stream %s is read from its message %llu on", r->where.shown,
                       r->stream, (unsigned long long)r->next);
            r->reported = false;
            wait = AGAIN_LEAST_MS;
            nats_reader_read_messages(r, why);
        }
        nats_reader_disconnect(r);
        nats_reader_log_once(r, why);
        pause_for(r, wait);
        wait = wait * 2 < AGAIN_MOST_MS ? wait * 2 : AGAIN_MOST_MS;
    }
    nats_ReleaseThreadMemory();
    return NULL;
}

/* ---- life ---- */

static void nats_reader_release(struct nats_reader *r)
{
    close(r->fd);
    for (size_t i = 0; i < r->count; i++)
        encoder_free(&r->journals[i].assembly.packed);
    free(r->journals);
    encoder_free(&r->in);
    encoder_free(&r->out);
    free(r->stream);
    free(r->subjects);
    nats_address_free(&r->where);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* Where a server before this one got to. */
static void nats_reader_restore_positions(struct nats_reader *r,
                                          const struct agent_positions *known)
{
    encoder_begin_message(&r->out, MESSAGE_AGENT);
    encode_forwarded_agent(&r->out, r->stream);
    encoder_end_message(&r->out);
    for (size_t i = 0; i < known->count && r->count < FORWARD_STREAMS_MOST; i++) {
        const struct agent_position *reached = &known->items[i];
        if (!reached->message.next || strcmp(reached->run, r->where.run) != 0)
            continue;
        add_journal(r, reached->id, reached->next, reached->ended);
        if (reached->message.next > r->next) {
            r->next = reached->message.next;
            r->made_ns = reached->message.stream_ns;
        }
    }
}

struct nats_reader *nats_reader_new(const char *from, int fd, const struct agent_positions *known,
                                    struct error *error)
{
    struct nats_reader *r = xcalloc(1, sizeof *r);
    r->fd = fd;
    r->next = 1;
    pthread_mutex_init(&r->lock, NULL);
    bool good = nats_address_parse(&r->where, from, error);
    if (good && !r->where.run) {
        error_set(error, "%s: missing run; use %s#RUN (RUN is the programs' POET_RUN)",
                  r->where.shown, r->where.shown);
        good = false;
    }
    if (good) {
        sigset_t all, before;
        r->stream = nats_stream(r->where.run);
        r->subjects = nats_subject(r->where.run, NULL);
        nats_reader_restore_positions(r, known);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the loop's */
        good = pthread_create(&r->thread, NULL, nats_reader_run, r) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (!good)
            error_set(error, "%s: cannot start a thread", r->where.shown);
    }
    if (good)
        return r;
    nats_reader_release(r);
    return NULL;
}

void nats_reader_free(struct nats_reader *r)
{
    struct timespec until;
    if (!r)
        return;
    atomic_store(&r->stop, true);
    pthread_mutex_lock(&r->lock);
    if (r->link.nc)
        natsConnection_Close(r->link.nc);
    pthread_mutex_unlock(&r->lock);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LEAVE_SECONDS;
    if (pthread_clockjoin_np(r->thread, NULL, CLOCK_MONOTONIC, &until) == 0)
        nats_reader_release(r); /* else it asks for a name still; the process ends before it */
}
