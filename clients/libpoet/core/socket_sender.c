/* Used if no memory can be shared with the server (because of a seccomp filter or a limit): a
 * thread of libpoet's own empties the queues of the others and sends their content. It takes no
 * signals and calls nothing of the program's. What it has not sent when the program dies is lost:
 * at most one queue for each thread. The server is informed at the beginning that this may happen,
 * and at an orderly end that it did not (SENT). Counts of lost events are sent, too (LOSSES), since
 * the server cannot read the queues. A program ends with its last thread, which must not be this
 * one: if the main thread has left by pthread_exit and no other is left, this one ends, too, and
 * the C library calls exit(). */
#define _GNU_SOURCE
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/socket_sender.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/thread.h"
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

struct sent_queue {
    struct sent_queue *next;
    struct queue_head *head; /* NULL: unused, may be reused */
    size_t bytes;
    uint64_t tail;
    uint32_t life;
};

static latch lock;
static struct sent_queue *_Atomic queues; /* only ever grows, in front */
static _Atomic uint32_t life; /* the lifetime that it sends for */
static _Atomic uint32_t socket_sender_hurry,
    rounds; /* futexes: requests to hurry; how often all was sent */
static _Atomic bool left_alone; /* the sender is the last thread, which is in exit() */
static latch socket_sender_round_latch; /* held during a round over the queues */
static _Atomic bool socket_sender_is_over; /* the process ends: no more batches are sent */

/* What the threads count beside their events. */
static struct sender_counts {
    uint64_t waited_ns, dropped, unfollowed;
} ended, reported; /* by threads with queues that are gone; what was sent to the server */
static sigset_t signals_before; /* of the thread that began the sender */

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t seen, long ns)
{
    struct timespec most = {ns / 1000000000, ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

/* Returns how many slots from the tail on make whole records, at most a batch. */
static uint64_t whole_records(const struct sent_queue *q, const struct ring_slot *slots,
                              uint64_t there)
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

static bool socket_sender_send_batch(struct sent_queue *q, struct encoder *out, uint64_t there)
{
    const struct ring_slot *slots =
        (const struct ring_slot *)((const char *)q->head + QUEUE_HEAD_BYTES);
    uint64_t count = whole_records(q, slots, there), mask = q->head->slots - 1;
    out->size = 0;
    encoder_begin_message(out, MESSAGE_SLOTS);
    encode_u32(out, q->head->thread);
    for (uint64_t i = 0; i < count; i++)
        encode_bytes(out, &slots[(q->tail + i) & mask], SLOT_BYTES);
    encoder_end_message(out);
    if (!server_send(out, q->life))
        return false;
    q->tail += count;
    atomic_store_explicit(&q->head->tail, q->tail, memory_order_release);
    atomic_fetch_add(&q->head->moved, 1);
    if (atomic_load(&q->head->waiting))
        futex_wake(&q->head->moved);
    return true;
}

static void socket_sender_add_counts(struct sender_counts *sum, const struct sent_queue *q)
{
    sum->waited_ns += atomic_load(&q->head->waited_ns);
    sum->dropped += atomic_load(&q->head->dropped);
    sum->unfollowed += atomic_load(&q->head->unfollowed);
}

/* A signal handler may end the process: nothing here allocates. */
#define NOTE_BYTES (MESSAGE_FRAME_BYTES + sizeof(struct losses_message))

/* Sends all counts since the beginning of this lifetime, plus what is dropped now. */
static void socket_sender_send_counts(uint64_t dropped_now)
{
    uint32_t mine = atomic_load(&tracer.lifetime.number);
    ended.dropped += dropped_now;
    struct sender_counts all = ended;
    for (const struct sent_queue *q = atomic_load(&queues); q; q = q->next)
        if (q->head && q->life == mine)
            socket_sender_add_counts(&all, q);
    if (memcmp(&all, &reported, sizeof all) == 0)
        return;
    uint8_t message[NOTE_BYTES];
    struct encoder out = {.data = message, .room = sizeof message};
    encoder_begin_message(&out, MESSAGE_LOSSES);
    encode_losses(&out,
                  &(struct losses_message){all.waited_ns, all.dropped, all.unfollowed, 0, 0, 0});
    encoder_end_message(&out);
    if (server_send(&out, mine))
        reported = all;
}

static bool socket_sender_send_sent(bool all)
{
    uint8_t message[NOTE_BYTES];
    struct encoder out = {.data = message, .room = sizeof message};
    encoder_begin_message(&out, MESSAGE_SENT);
    encode_sent(&out, &(struct sent_message){all});
    encoder_end_message(&out);
    return server_send(&out, atomic_load(&tracer.lifetime.number));
}

/* Returns the number of events that are in the queues and will not be sent any more. */
static uint64_t socket_sender_count_unsent(void)
{
    uint64_t events = 0;
    for (const struct sent_queue *q = atomic_load(&queues); q; q = q->next)
        if (q->head && q->life == atomic_load(&tracer.lifetime.number))
            events += lost_events_count_untaken(q->head, q->tail, atomic_load(&q->head->head));
    return events;
}

/* Sends the content of all queues, one by one; frees those of threads that have ended. */
static void socket_sender_send_round(struct encoder *out)
{
    latch_lock(&socket_sender_round_latch);
    for (struct sent_queue *q = atomic_load(&queues); q; q = q->next) {
        if (!q->head)
            continue;
        bool done = atomic_load_explicit(&q->head->done, memory_order_acquire);
        uint64_t head = atomic_load_explicit(&q->head->head, memory_order_acquire);
        /* nothing of an earlier lifetime is sent any more */
        while (q->tail < head && !atomic_load(&socket_sender_is_over) &&
               socket_sender_send_batch(q, out, head - q->tail))
            ;
        bool mine = q->life == atomic_load(&tracer.lifetime.number);
        if (!done || (mine && q->tail < head))
            continue;
        if (mine)
            socket_sender_add_counts(&ended, q);
        munmap(q->head, q->bytes);
        latch_lock(&lock);
        q->head = NULL;
        latch_unlock(&lock);
    }
    socket_sender_send_counts(0);
    latch_unlock(&socket_sender_round_latch);
}

/* The main thread stays as a zombie until all others have ended. */
static bool is_last(void)
{
    char text[1024];
    if (atomic_load(&tracer.threads.recorded))
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

static void *socket_sender_send_all_queues(void *argument)
{
    struct encoder out = {0};
    uint32_t mine = (uint32_t)(uintptr_t)argument;
    while (atomic_load(&tracer.lifetime.number) == mine && !out.failed) {
        uint32_t seen = atomic_load(&socket_sender_hurry);
        bool last = is_last(); /* then no more will be recorded */
        socket_sender_send_round(&out);
        atomic_fetch_add(&rounds, 1);
        futex_wake(&rounds);
        if (last) {
            atomic_store(&left_alone, true);
            /* it is the program's thread now */
            pthread_sigmask(SIG_SETMASK, &signals_before, NULL);
            break;
        }
        futex_wait(&socket_sender_hurry, seen, PAUSE_NS);
    }
    atomic_compare_exchange_strong(&life, &mine, 0);
    encoder_free(&out);
    return NULL;
}

bool socket_sender_begin(void)
{
    sigset_t all;
    pthread_t thread;
    uint32_t now = atomic_load(&tracer.lifetime.number);
    latch_lock(&socket_sender_round_latch);
    ended = reported = (struct sender_counts){0};
    latch_unlock(&socket_sender_round_latch);
    if (!socket_sender_send_sent(false))
        return false;
    atomic_store(&life, now);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &signals_before);
    bool made = real_functions.create(&thread, NULL, socket_sender_send_all_queues,
                                      (void *)(uintptr_t)now) == 0;
    pthread_sigmask(SIG_SETMASK, &signals_before, NULL);
    if (made)
        real_functions.detach(thread);
    return made;
}

bool socket_sender_add(struct queue_head *head, size_t bytes)
{
    latch_lock(&lock);
    struct sent_queue *q = atomic_load(&queues);
    while (q && q->head)
        q = q->next;
    if (q) {
        q->bytes = bytes;
        q->tail = 0;
        q->life = atomic_load(&tracer.lifetime.number);
        q->head = head;
    }
    latch_unlock(&lock);
    if (q)
        return true;
    q = tracer_arena_alloc(sizeof *q);
    if (!q)
        return false;
    latch_lock(&lock);
    *q = (struct sent_queue){atomic_load(&queues), head, bytes, 0,
                             atomic_load(&tracer.lifetime.number)};
    atomic_store(&queues, q);
    latch_unlock(&lock);
    return true;
}

void socket_sender_wake(void)
{
    atomic_fetch_add(&socket_sender_hurry, 1);
    futex_wake(&socket_sender_hurry);
}

void socket_sender_flush(unsigned most_ms)
{
    if (atomic_load(&left_alone)) { /* from exit handlers that ran here */
        struct encoder out = {0};
        socket_sender_send_round(&out);
        encoder_free(&out);
        return;
    }
    uint64_t begin = tracer_clock_now(), most = most_ms * 1000000ull;
    uint32_t first = atomic_load(&rounds); /* the current round may have passed these slots */
    while (atomic_load(&life) && atomic_load(&rounds) - first < 2 &&
           tracer_clock_now() - begin < most) {
        uint32_t seen = atomic_load(&rounds);
        socket_sender_wake();
        if (atomic_load(&rounds) == seen)
            futex_wait(&rounds, seen, PAUSE_NS);
    }
}

void socket_sender_finish(unsigned most_ms)
{
    socket_sender_flush(most_ms);
    /* what was not sent by now is lost, and reported as lost */
    atomic_store(&socket_sender_is_over, true);
    latch_lock(&socket_sender_round_latch);
    socket_sender_send_counts(socket_sender_count_unsent());
    socket_sender_send_sent(true);
    latch_unlock(&socket_sender_round_latch);
}

void socket_sender_pause(unsigned most_ms)
{
    socket_sender_flush(most_ms);
    /* other threads record until they are gone */
    if (atomic_load(&tracer.threads.recorded) <= 1 && !socket_sender_count_unsent())
        socket_sender_send_sent(true);
}

void socket_sender_resume(void) { socket_sender_send_sent(false); }

void socket_sender_forked(void)
{
    atomic_store(&queues, NULL);
    atomic_store(&life, 0);
    atomic_store(&left_alone, false);
    atomic_store(&socket_sender_is_over, false);
    latch_reset(&lock);
    latch_reset(&socket_sender_round_latch);
}
