/* The capture thread, which polls the queues of all programs. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/program_poll.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REST_LEAST_NS 100000u /* between two rounds */
#define REST_MOST_NS 10000000u /* so often a queue is looked at */
#define IDLE_ROUNDS 1000u /* after so many, buffers kept for the next burst are freed */
#define FULL_WANTED 64u /* of 256: how full the fullest queue is to be at the next round */
#define TELL_BYTES (32u << 10) /* undelivered: the loop is woken immediately */

struct capture_thread {
    /* the capture lock */
    pthread_mutex_t lock;
    pthread_cond_t served;
    uint64_t next, serving; /* numbers, as they are drawn */
    /* protected by the capture lock */
    struct captured_program *programs,
        *last; /* in the order of their coming, as their lines are to be */
    struct captured_program *turn;            /* the next one; NULL the first */
    size_t count;
    struct poll_buffers buffers;
    /* the thread */
    void (*tell)(void *context);
    void *context;
    pthread_t thread;
    bool runs;
    int wake;
    _Atomic bool stop;
};

/* ---- the capture lock ---- */

void capture_lock(struct capture_thread *taker)
{
    pthread_mutex_lock(&taker->lock);
    uint64_t mine = taker->next++;
    while (taker->serving != mine)
        pthread_cond_wait(&taker->served, &taker->lock);
    pthread_mutex_unlock(&taker->lock);
}

void capture_unlock(struct capture_thread *taker)
{
    pthread_mutex_lock(&taker->lock);
    taker->serving++;
    pthread_cond_broadcast(&taker->served);
    pthread_mutex_unlock(&taker->lock);
}

/* ---- programs ---- */

struct captured_program *captured_program_new(struct capture_thread *taker, struct capture *taking)
{
    struct captured_program *program = xcalloc(1, sizeof *program);
    program->taking = taking;
    program->session = taking->sessions++;
    taking->programs++;
    program->previous = taker->last;
    if (program->previous)
        program->previous->next = program;
    else
        taker->programs = program;
    taker->last = program;
    taker->count++;
    return program;
}

void captured_program_free(struct capture_thread *taker, struct captured_program *program,
                           struct shared_queue **retired)
{
    if (taker->turn == program)
        taker->turn = program->next;
    if (program->previous)
        program->previous->next = program->next;
    else
        taker->programs = program->next;
    if (program->next)
        program->next->previous = program->previous;
    else
        taker->last = program->previous;
    while (program->queues) {
        struct shared_queue *queue = program->queues;
        program->queues = queue->next;
        queue->next = *retired;
        *retired = queue;
    }
    while (program->regions) {
        struct region_reader *region = program->regions;
        program->regions = region->next;
        region_reader_free(region);
    }
    while (program->rings) {
        struct ring_reader *ring = program->rings;
        program->rings = ring->next;
        ring_reader_free(ring);
    }
    while (program->carried) {
        struct placement_ring *ring = program->carried;
        program->carried = ring->next;
        placement_ring_free(ring);
    }
    taker->count--;
    program->taking->programs--;
    free(program);
}

enum poll_result capture_poll_program(struct capture_thread *taker,
                                      struct captured_program *program)
{
    return program_poll(program, &taker->buffers);
}

void capture_read_profiles(struct capture_thread *taker, struct captured_program *program,
                           bool last)
{
    program_poll_profiles(program, &taker->buffers, last);
}

void capture_set_target(struct capture_thread *taker, const struct capture *taking)
{
    for (struct captured_program *p = taker->programs; p; p = p->next)
        for (struct shared_queue *q = p->taking == taking ? p->queues : NULL; q; q = q->next)
            q->goal = atomic_load(&q->head->head);
}

/* Programs that were rejected are not waited for. */
bool capture_target_reached(const struct capture_thread *taker, const struct capture *taking)
{
    if (taking->unwritten)
        return true;
    for (const struct captured_program *p = taker->programs; p; p = p->next)
        for (const struct shared_queue *q = p->taking != taking || p->error ? NULL : p->queues; q;
             q = q->next)
            if ((int64_t)(q->goal - q->tail) > 0)
                return false;
    return true;
}

size_t capture_queue_count(const struct capture_thread *taker)
{
    size_t count = 0;
    for (const struct captured_program *p = taker->programs; p; p = p->next)
        count += p->queue_count;
    return count;
}

/* ---- going round ---- */

/* One round over one program, the next in turn; all that there is, or a part. */
static enum poll_result capture_thread_poll_next(struct capture_thread *taker, bool *much,
                                                 unsigned *full)
{
    enum poll_result taken = POLL_DRAINED;
    capture_lock(taker);
    struct captured_program *program = taker->turn ? taker->turn : taker->programs;
    if (program) {
        taker->turn = program->next;
        taken = capture_poll_program(taker, program);
        *full = program->full > *full ? program->full : *full;
        *much |= handoff_queue_lag(&program->taking->hand) > TELL_BYTES;
    }
    capture_unlock(taker);
    return taken;
}

static size_t count_programs(struct capture_thread *taker)
{
    capture_lock(taker);
    size_t count = taker->count;
    capture_unlock(taker);
    return count;
}

void capture_sync(struct capture_thread *taker, uint64_t ns)
{
    struct loop_share share = loop_share_new(ns);
    bool more = true, much = false;
    unsigned full = 0;
    while (more && loop_share_left(share)) {
        more = false;
        for (size_t n = count_programs(taker); n && loop_share_left(share); n--)
            more |= capture_thread_poll_next(taker, &much, &full) == POLL_MORE;
    }
}

/* A queue that is still small when it is emptied again stays in the processors' caches, and its
 * thread need neither wake the capture thread nor continue in a larger one. */
uint64_t capture_sleep_ns(uint64_t last_ns, unsigned full)
{
    uint64_t most = 2 * last_ns < REST_MOST_NS ? 2 * last_ns : REST_MOST_NS,
             next = full ? last_ns * FULL_WANTED / full : most;
    next = next < most ? next : most;
    return next > REST_LEAST_NS ? next : REST_LEAST_NS;
}

static void capture_thread_sleep(struct capture_thread *taker, uint64_t ns)
{
    uint64_t ignored;
    struct pollfd p = {.fd = taker->wake, .events = POLLIN};
    struct timespec time = {0, (long)ns};
    if (ppoll(&p, 1, &time, NULL) == 1 && read(taker->wake, &ignored, sizeof ignored) < 0)
        return;
}

static void *capture_thread_poll_all(void *argument)
{
    struct capture_thread *taker = argument;
    uint64_t ns = REST_LEAST_NS;
    unsigned idle = 0; /* rounds without anything */
    while (!atomic_load(&taker->stop)) {
        bool more = false, much = false;
        unsigned full = 0;
        for (size_t n = count_programs(taker); n && !atomic_load(&taker->stop); n--)
            more |= capture_thread_poll_next(taker, &much, &full) == POLL_MORE;
        if (much)
            taker->tell(taker->context);
        idle = full ? 0 : idle + 1;
        if (idle == IDLE_ROUNDS)
            handoff_buffers_trim();
        ns = capture_sleep_ns(ns, full);
        if (!more)
            capture_thread_sleep(taker, ns);
    }
    return NULL;
}

/* ---- life ---- */

struct capture_thread *capture_thread_new(void (*tell)(void *context), void *context)
{
    struct capture_thread *taker = xcalloc(1, sizeof *taker);
    sigset_t all, before;
    pthread_mutex_init(&taker->lock, NULL);
    pthread_cond_init(&taker->served, NULL);
    poll_buffers_begin(&taker->buffers);
    taker->tell = tell;
    taker->context = context;
    taker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    taker->runs = taker->wake >= 0 &&
                  pthread_create(&taker->thread, NULL, capture_thread_poll_all, taker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return taker;
}

bool capture_thread_is_running(const struct capture_thread *taker) { return taker->runs; }

void capture_thread_wake(struct capture_thread *taker)
{
    uint64_t one = 1;
    if (write(taker->wake, &one, sizeof one) < 0)
        return; /* it is awake */
}

void capture_thread_stop(struct capture_thread *taker)
{
    if (!taker->runs)
        return;
    atomic_store(&taker->stop, true);
    capture_thread_wake(taker);
    pthread_join(taker->thread, NULL);
    taker->runs = false;
}

void capture_thread_free(struct capture_thread *taker)
{
    capture_thread_stop(taker);
    if (taker->wake >= 0)
        close(taker->wake);
    poll_buffers_end(&taker->buffers);
    pthread_cond_destroy(&taker->served);
    pthread_mutex_destroy(&taker->lock);
    free(taker);
}
