/* Where no memory can be shared with the server (a filter forbids to make it, or a limit): a thread of ours empties
 * the queues of the others and sends what was in them.  It takes no signals and calls nothing of the program's.  What it has not sent
 * when the program dies is lost: at most one queue a thread.  The server is told at the begin that this may
 * happen, and at an orderly end that it did not (SENT).
 *
 * What the threads count of it goes there, too (LOSSES): the server cannot look into their queues.
 *
 * A program ends with its last thread, which must not be this one: where the main thread has left by
 * pthread_exit and no other is there any more, this one ends, too, and the C library calls exit(). */
#define _GNU_SOURCE
#include "clients/trace/core/losses.h"
#include "clients/trace/core/sender.h"

#include "clients/trace/calls/threads.h"
#include "clients/trace/core/arena.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/thread.h"
#include "wire/message.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH_SLOTS 4096u /* in one SLOTS, unless a single record is larger */
#define PAUSE_NS 10000000u

struct sent {
    struct sent *next;
    struct queue_head *head; /* NULL: nobody's, to be used again */
    size_t bytes;
    uint64_t tail;
    uint32_t life;
};

static latch lock;
static struct sent *_Atomic queues; /* only ever grows, in front */
static _Atomic uint32_t life; /* the one that is sent for */
static _Atomic uint32_t hurry, rounds; /* futexes: asked to hurry; how often all was sent */
static _Atomic bool left_alone; /* the sender is the last thread, which is in exit() */
static latch emptying; /* around a round over the queues */
static _Atomic bool over; /* the process ends: no batch is sent any more */

/* What the threads count beside their events. */
static struct figures {
    uint64_t waited_ns, dropped, unfollowed;
} ended, told; /* by threads whose queues are gone; what the server has been told */
static sigset_t signals_before; /* of who began the sender */

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t seen, long ns)
{
    struct timespec most = {ns / 1000000000, ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

/* How many slots from the tail on make whole records, at most a batch. */
static uint64_t whole_records(const struct sent *q, const struct slot *slots, uint64_t there)
{
    uint64_t mask = q->head->slots - 1, count = 0;
    while (count < there) {
        uint64_t next = count + 1 + slot_follow(slots[(q->tail + count) & mask].payload_bytes);
        if (count && next > BATCH_SLOTS)
            break;
        count = next;
    }
    return count;
}

static bool send_batch(struct sent *q, struct out *out, uint64_t there)
{
    const struct slot *slots = (const struct slot *)((const char *)q->head + QUEUE_HEAD_BYTES);
    uint64_t count = whole_records(q, slots, there), mask = q->head->slots - 1;
    out->size = 0;
    out_begin(out, MESSAGE_SLOTS);
    put_u32(out, q->head->thread);
    for (uint64_t i = 0; i < count; i++)
        put_bytes(out, &slots[(q->tail + i) & mask], SLOT_BYTES);
    out_end(out);
    if (!server_send(out, q->life))
        return false;
    q->tail += count;
    atomic_store_explicit(&q->head->tail, q->tail, memory_order_release);
    atomic_fetch_add(&q->head->moved, 1);
    if (atomic_load(&q->head->waiting))
        futex_wake(&q->head->moved);
    return true;
}

static void add_figures(struct figures *sum, const struct sent *q)
{
    sum->waited_ns += atomic_load(&q->head->waited_ns);
    sum->dropped += atomic_load(&q->head->dropped);
    sum->unfollowed += atomic_load(&q->head->unfollowed);
}

/* A signal handler may end the process: nothing here allocates. */
#define NOTE_BYTES (MESSAGE_FRAME_BYTES + sizeof(struct told_losses))

/* All from the begin of this life on, with what is dropped now. */
static void send_figures(uint64_t dropped_now)
{
    uint32_t mine = atomic_load(&live);
    ended.dropped += dropped_now;
    struct figures all = ended;
    for (const struct sent *q = atomic_load(&queues); q; q = q->next)
        if (q->head && q->life == mine)
            add_figures(&all, q);
    if (memcmp(&all, &told, sizeof all) == 0)
        return;
    uint8_t message[NOTE_BYTES];
    struct out out = {.data = message, .room = sizeof message};
    out_begin(&out, MESSAGE_LOSSES);
    put_told_losses(&out, &(struct told_losses){all.waited_ns, all.dropped, all.unfollowed, 0, 0});
    out_end(&out);
    if (server_send(&out, mine))
        told = all;
}

static bool send_sent(bool all)
{
    uint8_t message[NOTE_BYTES];
    struct out out = {.data = message, .room = sizeof message};
    out_begin(&out, MESSAGE_SENT);
    put_told_sent(&out, &(struct told_sent){all});
    out_end(&out);
    return server_send(&out, atomic_load(&live));
}

/* Events that are in the queues and will not be sent any more. */
static uint64_t unsent(void)
{
    uint64_t events = 0;
    for (const struct sent *q = atomic_load(&queues); q; q = q->next)
        if (q->head && q->life == atomic_load(&live))
            events += lost_untaken(q->head, q->tail, atomic_load(&q->head->head));
    return events;
}

/* All that is there, queue by queue; those of threads that have ended are given back. */
static void send_round(struct out *out)
{
    latch_take(&emptying);
    for (struct sent *q = atomic_load(&queues); q; q = q->next) {
        if (!q->head)
            continue;
        bool done = atomic_load_explicit(&q->head->done, memory_order_acquire);
        uint64_t head = atomic_load_explicit(&q->head->head, memory_order_acquire);
        while (q->tail < head && !atomic_load(&over) && send_batch(q, out, head - q->tail))
            ; /* of an earlier life nothing is sent any more */
        bool mine = q->life == atomic_load(&live);
        if (!done || (mine && q->tail < head))
            continue;
        if (mine)
            add_figures(&ended, q);
        munmap(q->head, q->bytes);
        latch_take(&lock);
        q->head = NULL;
        latch_give(&lock);
    }
    send_figures(0);
    latch_give(&emptying);
}

/* The main thread stays as a zombie until all others have ended. */
static bool is_last(void)
{
    char text[1024];
    if (life_threads())
        return false;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *at =
        strrchr(text, ')'); /* the end of the name: then the state, 3, and the threads, 20 */
    if (!at || strncmp(at, ") Z ", 4) != 0)
        return false;
    for (int field = 2; at && field < 20; field++)
        at = strchr(at + 1, ' ');
    return at && atoi(at) == 2;
}

static void *send_all_queues(void *argument)
{
    struct out out = {0};
    uint32_t mine = (uint32_t)(uintptr_t)argument;
    while (atomic_load(&live) == mine && !out.failed) {
        uint32_t seen = atomic_load(&hurry);
        bool last = is_last(); /* then all that there will be is there */
        send_round(&out);
        atomic_fetch_add(&rounds, 1);
        futex_wake(&rounds);
        if (last) {
            atomic_store(&left_alone, true);
            pthread_sigmask(SIG_SETMASK, &signals_before,
                            NULL); /* it is the program's thread now */
            break;
        }
        futex_wait(&hurry, seen, PAUSE_NS);
    }
    atomic_compare_exchange_strong(&life, &mine, 0);
    out_free(&out);
    return NULL;
}

bool sender_begin(void)
{
    sigset_t all;
    pthread_t thread;
    uint32_t now = atomic_load(&live);
    latch_take(&emptying);
    ended = told = (struct figures){0};
    latch_give(&emptying);
    if (!send_sent(false))
        return false;
    atomic_store(&life, now);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &signals_before);
    bool made = real.create(&thread, NULL, send_all_queues, (void *)(uintptr_t)now) == 0;
    pthread_sigmask(SIG_SETMASK, &signals_before, NULL);
    if (made)
        real.detach(thread);
    return made;
}

bool sender_add(struct queue_head *head, size_t bytes)
{
    latch_take(&lock);
    struct sent *q = atomic_load(&queues);
    while (q && q->head)
        q = q->next;
    if (q) {
        q->bytes = bytes;
        q->tail = 0;
        q->life = atomic_load(&live);
        q->head = head;
    }
    latch_give(&lock);
    if (q)
        return true;
    q = arena_take(sizeof *q);
    if (!q)
        return false;
    latch_take(&lock);
    *q = (struct sent){atomic_load(&queues), head, bytes, 0, atomic_load(&live)};
    atomic_store(&queues, q);
    latch_give(&lock);
    return true;
}

void sender_wake(void)
{
    atomic_fetch_add(&hurry, 1);
    futex_wake(&hurry);
}

void sender_flush(unsigned most_ms)
{
    if (atomic_load(&left_alone)) { /* what exit handlers did here */
        struct out out = {0};
        send_round(&out);
        out_free(&out);
        return;
    }
    uint64_t begin = clock_now(), most = most_ms * 1000000ull;
    uint32_t first = atomic_load(&rounds); /* the round under way may have passed us by */
    while (atomic_load(&life) && atomic_load(&rounds) - first < 2 && clock_now() - begin < most) {
        uint32_t seen = atomic_load(&rounds);
        sender_wake();
        if (atomic_load(&rounds) == seen)
            futex_wait(&rounds, seen, PAUSE_NS);
    }
}

void sender_leave(unsigned most_ms)
{
    sender_flush(most_ms);
    atomic_store(&over, true); /* what has not gone by now is lost, and said to be */
    latch_take(&emptying);
    send_figures(unsent());
    send_sent(true);
    latch_give(&emptying);
}

void sender_pause(unsigned most_ms)
{
    sender_flush(most_ms);
    if (life_threads() <= 1 && !unsent()) /* other threads go on to record until they are gone */
        send_sent(true);
}

void sender_stay(void) { send_sent(false); }

void sender_forked(void)
{
    atomic_store(&queues, NULL);
    atomic_store(&life, 0);
    atomic_store(&left_alone, false);
    atomic_store(&over, false);
    latch_reset(&lock);
    latch_reset(&emptying);
}
