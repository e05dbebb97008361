/* Message queues, of POSIX and of System V: a message is received after it was sent. It is
 * identified by its priority (or type) and text: a list of recent ones, in memory that the
 * processes share, says which are in the queue. If two equal ones are in it, the receive is
 * uncertain. */
#define _GNU_SOURCE
#include "clients/libpoet/ipc/ipc_tracer.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/ipc/ipc_entries.h"
#include "clients/libpoet/ipc/ipc_events.h"
#include "wire/annotation_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

REAL(int, mq_send, (mqd_t, const char *, size_t, unsigned))
REAL(int, mq_timedsend, (mqd_t, const char *, size_t, unsigned, const struct timespec *))
REAL(ssize_t, mq_receive, (mqd_t, char *, size_t, unsigned *))
REAL(ssize_t, mq_timedreceive, (mqd_t, char *, size_t, unsigned *, const struct timespec *))
REAL(int, mq_notify, (mqd_t, const struct sigevent *))

REAL(int, msgsnd, (int, const void *, size_t, int))
REAL(ssize_t, msgrcv, (int, void *, size_t, long, int))

enum { QUEUE = 0x6d71, NEXT, PLACES, SYSV_QUEUE };
#define MOST 64u /* messages that are in the queue at the same time */
#define SYSV_BYTES_MOST 65536u /* of a message that is recorded */

struct mqueue {
    uint64_t key;
    uint64_t *sent; /* serial numbers given */
    const void *site;
    int descriptor; /* of System V: its id */
    bool sysv, unlinked;
    bool waits;
};

#define DELETED " (deleted)"

/* Returns the line of the queue, with the name that the kernel has for it. */
static poet_line_t mqueue_line(const struct mqueue *q)
{
    char link[32], name[NAME_MAX + sizeof DELETED];
    poet_line_t line = ipc_event_line_known(q->key);
    if (line)
        return line;
    if (q->sysv) {
        snprintf(name, sizeof name, "System V queue %d", q->descriptor);
        return ipc_event_line(IPC_OBJECT_QUEUE, q->key, name);
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", q->descriptor);
    ssize_t n = readlink(link, name, sizeof name - 1);
    name[n > 0 ? n : 0] = 0;
    char *deleted = strstr(name, DELETED);
    if (deleted && q->unlinked)
        *deleted = 0;
    return ipc_event_line(q->unlinked ? IPC_OBJECT_UNLINKED_QUEUE : IPC_OBJECT_QUEUE, q->key, name);
}

/* Returns an entry of the list: a hash of the message, or 0. */
static uint64_t *mqueue_slot(const struct mqueue *q, uint64_t serial)
{
    return poet_counter(key_mix(q->key, PLACES + serial % MOST), true);
}

static uint64_t mqueue_digest(const char *text, size_t bytes, unsigned priority)
{
    uint64_t h = key_mix(QUEUE + priority, bytes);
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u; /* FNV-1a (Fowler, Noll and Vo) */
    return h | 1;
}

static void mqueue_begin(struct mqueue *q, mqd_t mqd, short events, bool timed, const void *site)
{
    struct stat st;
    *q = (struct mqueue){.site = site, .descriptor = mqd};
    if (!ipc_entry_is_traced(site) || !ipc_entry_is_own_process())
        return;
    int saved = errno;
    ipc_inside_library = true;
    if (fstat(mqd, &st) == 0) {
        q->unlinked = st.st_nlink == 0;
        q->key = key_mix(key_mix(QUEUE ^ poet_host_id(), st.st_dev), st.st_ino);
        q->sent = poet_counter(key_mix(q->key, NEXT), true);
    }
    struct pollfd p = {.fd = mqd, .events = events};
    q->waits = q->sent && !(fcntl(mqd, F_GETFL) & O_NONBLOCK) && poll_result_query(&p, 1, 0) == 0;
    if (q->waits && events == POLLOUT)
        poet_untraced("a write that blocked until a reader made room");
    if (q->waits)
        ipc_event_about(events == POLLOUT ? (timed ? TIMED_FULL : FULL)
                        : timed           ? TIMED_EMPTY
                                          : EMPTY,
                        mqueue_line(q), 0, site);
    ipc_inside_library = false;
    errno = saved;
}

/* Returns whether a call of System V may have to wait: for a message of its type, or for space. */
static bool mqueue_sysv_waits(const struct msqid_ds *is, bool writes, size_t bytes, long type)
{
    return writes ? is->__msg_cbytes + bytes > is->msg_qbytes || is->msg_qnum >= is->msg_qbytes
                  : is->msg_qnum == 0 || type != 0;
}

static void mqueue_annotate_sysv(poet_event_t event, const struct msqid_ds *is, long type)
{
    unsigned long count = is->msg_qnum;
    const char *many = count == 1 ? "" : "s";
    if (type > 0)
        poet_annotate(event, TEXT_OF_OBJECT "%lu message%s, one of type %ld needed", count, many,
                      type);
    else
        poet_annotate(event, TEXT_OF_OBJECT "%lu message%s", count, many);
}

/* writes: then `bytes` counts, else the type */
static void mqueue_begin_sysv(struct mqueue *q, int id, bool writes, size_t bytes, long type,
                              int flags, const void *site)
{
    struct msqid_ds is;
    *q = (struct mqueue){.site = site, .descriptor = id, .sysv = true};
    if (!ipc_entry_is_traced(site) || !ipc_entry_is_own_process() || bytes > SYSV_BYTES_MOST ||
        flags & MSG_COPY)
        return;
    int saved = errno;
    ipc_inside_library = true;
    q->key = key_mix(SYSV_QUEUE ^ poet_host_id(), (uint64_t)(unsigned)id);
    q->sent = poet_counter(key_mix(q->key, NEXT), true);
    q->waits = q->sent && !(flags & IPC_NOWAIT) && msgctl(id, IPC_STAT, &is) == 0 &&
               mqueue_sysv_waits(&is, writes, bytes, type);
    if (q->waits && writes)
        poet_untraced("a write that blocked until a reader made room");
    if (q->waits)
        mqueue_annotate_sysv(ipc_event_about(writes ? FULL : EMPTY, mqueue_line(q), 0, site), &is,
                             type);
    ipc_inside_library = false;
    errno = saved;
}

/* ---- sending ---- */

struct mqueue_sending {
    struct mqueue queue;
    uint64_t serial, is;
    bool recorded, recording; /* it is recorded; recording is in progress */
};

/* A thread's pending send. Kept by value, not on the stack, which a handler may leave by a jump. */
static __thread struct mqueue_sending mqueue_current_send
    __attribute__((tls_model("initial-exec")));

/* It can be received as soon as it is sent: its entry is filled in before. */
static void mqueue_begin_send(struct mqueue_sending *s, const struct mqueue *queue,
                              const char *text, size_t bytes, unsigned priority)
{
    *s = (struct mqueue_sending){.queue = *queue};
    if (!queue->sent || !poet_current_line()) { /* a thread that is not recorded */
        s->queue.sent = NULL;
        return;
    }
    ipc_inside_library = true;
    s->is = mqueue_digest(text, bytes, priority);
    s->serial = __atomic_add_fetch(s->queue.sent, 1, __ATOMIC_SEQ_CST);
    uint64_t *at = mqueue_slot(&s->queue, s->serial);
    if (at)
        STORE(at, s->is);
    ipc_inside_library = false;
}

static void mqueue_record_sent(struct mqueue_sending *s)
{
    if (!s->recorded)
        poet_record(&(poet_record_t){.type = event_type(SENT),
                                     .about = mqueue_line(&s->queue),
                                     .flags = POET_SEND,
                                     .site = s->queue.site,
                                     .high = s->queue.key,
                                     .low = &s->serial,
                                     .keys = 1});
    s->recorded = true;
}

void mqueues_forked(void) { mqueue_current_send = (struct mqueue_sending){.recorded = false}; }

bool mqueues_interrupted(void)
{
    struct mqueue_sending *s = &mqueue_current_send;
    if (!s->queue.sent || s->recorded)
        return true;
    if (s->recording)
        return false;
    bool was_inside = ipc_inside_library;
    ipc_inside_library = true;
    const uint64_t *at = mqueue_slot(&s->queue, s->serial);
    if (at && LOAD(at) != s->is)
        mqueue_record_sent(s);
    ipc_inside_library = was_inside;
    return true;
}

static void mqueue_end_send(struct mqueue_sending *s, int e)
{
    s->recording = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t *at = s->queue.sent ? mqueue_slot(&s->queue, s->serial) : NULL;
    if (!at)
        return;
    if (e == 0)
        mqueue_record_sent(s);
    else
        __atomic_compare_exchange_n(at, &s->is, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (e != 0 && s->queue.waits)
        ipc_event_about(WOKEN, mqueue_line(&s->queue), 0, s->queue.site);
}

static void mqueue_leave_send(const struct mqueue_sending *outer, int e)
{
    QUIETLY(mqueue_end_send(&mqueue_current_send, e));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mqueue_current_send = *outer;
}

static void mqueue_send_cancelled(void *p) { mqueue_leave_send(p, -1); }

/* a handler may have interrupted another send */
#define SEND(begin, text, bytes, priority, call)                                                   \
    struct mqueue_sending outer = mqueue_current_send;                                             \
    struct mqueue queue;                                                                           \
    int e;                                                                                         \
    begin;                                                                                         \
    mqueue_begin_send(&mqueue_current_send, &queue, text, bytes, priority);                        \
    pthread_cleanup_push(mqueue_send_cancelled, &outer);                                           \
    e = call;                                                                                      \
    pthread_cleanup_pop(0);                                                                        \
    mqueue_leave_send(&outer, e);                                                                  \
    return e

API int mq_send(mqd_t mqd, const char *text, size_t bytes, unsigned priority)
{
    find_mq_send();
    SEND(mqueue_begin(&queue, mqd, POLLOUT, false, SITE), text, bytes, priority,
         real_mq_send(mqd, text, bytes, priority));
}

API int mq_timedsend(mqd_t mqd, const char *text, size_t bytes, unsigned priority,
                     const struct timespec *until)
{
    find_mq_timedsend();
    SEND(mqueue_begin(&queue, mqd, POLLOUT, true, SITE), text, bytes, priority,
         real_mq_timedsend(mqd, text, bytes, priority, until));
}

/* ---- receiving ---- */

/* Returns the only message in the list that equals this one; 0: none, or several. */
static uint64_t mqueue_find_sent(const struct mqueue *q, uint64_t is)
{
    uint64_t newest = LOAD(q->sent), found = 0;
    uint64_t *at = NULL;
    for (uint64_t serial = newest; serial > 0 && newest - serial < MOST; serial--) {
        uint64_t *here = mqueue_slot(q, serial);
        if (!here || LOAD(here) != is)
            continue;
        if (found)
            return 0;
        found = serial;
        at = here;
    }
    return found && __atomic_compare_exchange_n(at, &is, 0, false, __ATOMIC_SEQ_CST,
                                                __ATOMIC_SEQ_CST)
               ? found
               : 0;
}

/* Of several equal messages the oldest is removed, though it may have been another: their number
 * stays right. */
static void mqueue_forget_one(const struct mqueue *q, uint64_t is)
{
    uint64_t newest = LOAD(q->sent), first = newest < MOST ? 1 : newest - MOST + 1;
    for (uint64_t serial = first; serial <= newest; serial++) {
        uint64_t *here = mqueue_slot(q, serial), there = is;
        if (here &&
            __atomic_compare_exchange_n(here, &there, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return;
    }
}

static void mqueue_end_receive(const struct mqueue *q, const char *text, ssize_t n,
                               unsigned priority)
{
    if (!q->sent || (n < 0 && !q->waits))
        return;
    poet_line_t line = mqueue_line(q);
    if (n < 0) {
        ipc_event_about(WOKEN, line, 0, q->site);
        return;
    }
    uint64_t is = mqueue_digest(text, (size_t)n, priority), serial = mqueue_find_sent(q, is);
    if (!serial)
        mqueue_forget_one(q, is);
    poet_record(&(poet_record_t){.type = event_type(RECEIVED),
                                 .about = line,
                                 .site = q->site,
                                 .flags = serial ? POET_RECEIVE : POET_DOUBT_STREAM,
                                 .high = q->key,
                                 .low = &serial,
                                 .keys = serial ? 1 : 0});
}

#define RECEIVE(mqd, text, priority, timed, call)                                                  \
    struct mqueue q;                                                                               \
    unsigned given = 0;                                                                            \
    mqueue_begin(&q, mqd, POLLIN, timed, SITE);                                                    \
    ssize_t n = call;                                                                              \
    if (n >= 0 && (priority))                                                                      \
        *(priority) = given;                                                                       \
    QUIETLY(mqueue_end_receive(&q, text, n, given));                                               \
    return n

API ssize_t mq_receive(mqd_t mqd, char *text, size_t bytes, unsigned *priority)
{
    find_mq_receive();
    RECEIVE(mqd, text, priority, false, real_mq_receive(mqd, text, bytes, &given));
}

API ssize_t mq_timedreceive(mqd_t mqd, char *text, size_t bytes, unsigned *priority,
                            const struct timespec *until)
{
    find_mq_timedreceive();
    RECEIVE(mqd, text, priority, true, real_mq_timedreceive(mqd, text, bytes, &given, until));
}

/* The type of a message counts as its priority. */
struct sysv_message {
    long type;
    char text[];
};

API int msgsnd(int id, const void *message, size_t bytes, int flags)
{
    const struct sysv_message *m = message;
    find_msgsnd();
    if (!m || m->type <= 0)
        return real_msgsnd(id, message, bytes, flags);
    SEND(mqueue_begin_sysv(&queue, id, true, bytes, 0, flags, SITE), m->text, bytes,
         (unsigned)m->type, real_msgsnd(id, message, bytes, flags));
}

API ssize_t msgrcv(int id, void *message, size_t bytes, long type, int flags)
{
    struct mqueue q;
    const struct sysv_message *m = message;
    find_msgrcv();
    mqueue_begin_sysv(&q, id, false, 0, type, flags, SITE);
    ssize_t n = real_msgrcv(id, message, bytes, type, flags);
    if (q.sent)
        QUIETLY(mqueue_end_receive(&q, n < 0 ? NULL : m->text, n, n < 0 ? 0 : (unsigned)m->type));
    return n;
}

API int mq_notify(mqd_t mqd, const struct sigevent *event)
{
    find_mq_notify();
    if (event && ipc_entry_is_traced(SITE))
        QUIETLY(poet_untraced("mq_notify"));
    return real_mq_notify(mqd, event);
}
