/* The taker: a thread that goes round over the queues of all programs. */
#define _GNU_SOURCE
#include "server/loop/turn.h"
#include "memory/memory.h"
#include "server/taking/round.h"
#include "server/taking/carrying.h"
#include "server/taking/entering.h"
#include "server/taking/summing.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REST_LEAST_NS 100000u /* between two rounds */
#define REST_MOST_NS 10000000u /* so often a queue is looked at */
#define IDLE_ROUNDS 1000u /* then what is kept for the next burst is let go */
#define FULL_WANTED 64u /* of 256: how full the fullest queue is to be at the next round */
#define TELL_BYTES (32u << 10) /* that wait: the loop is told at once */

struct taker {
    /* the door */
    pthread_mutex_t lock;
    pthread_cond_t served;
    uint64_t next, serving; /* numbers, as they are drawn */
    /* in the door */
    struct program *programs, *last; /* in the order of their coming, as their lines are to be */
    struct program *turn;            /* the next one; NULL the first */
    size_t count;
    struct desk desk;
    /* the thread */
    void (*tell)(void *context);
    void *context;
    pthread_t thread;
    bool runs;
    int wake;
    _Atomic bool stop;
};

/* ---- the door ---- */

void taker_enter(struct taker *taker)
{
    pthread_mutex_lock(&taker->lock);
    uint64_t mine = taker->next++;
    while (taker->serving != mine)
        pthread_cond_wait(&taker->served, &taker->lock);
    pthread_mutex_unlock(&taker->lock);
}

void taker_leave(struct taker *taker)
{
    pthread_mutex_lock(&taker->lock);
    taker->serving++;
    pthread_cond_broadcast(&taker->served);
    pthread_mutex_unlock(&taker->lock);
}

/* ---- programs ---- */

struct program *program_new(struct taker *taker, struct taking *taking)
{
    struct program *program = memory_zeroed(1, sizeof *program);
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

void program_free(struct taker *taker, struct program *program, struct queue **retired)
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
        struct queue *queue = program->queues;
        program->queues = queue->next;
        queue->next = *retired;
        *retired = queue;
    }
    while (program->regions) {
        struct region *region = program->regions;
        program->regions = region->next;
        region_free(region);
    }
    while (program->rings) {
        struct ring *ring = program->rings;
        program->rings = ring->next;
        ring_free(ring);
    }
    while (program->carried) {
        struct carried *ring = program->carried;
        program->carried = ring->next;
        carried_free(ring);
    }
    taker->count--;
    program->taking->programs--;
    free(program);
}

enum taken taker_round(struct taker *taker, struct program *program)
{
    return round_over(program, &taker->desk);
}

void taker_sums(struct taker *taker, struct program *program, bool last)
{
    if (last)
        entering_last(program, &taker->desk.ticks);
    if (last)
        carrying_round(program, &taker->desk.ticks);
    summing_now(program, &taker->desk.ticks, last);
}

void taker_aim(struct taker *taker, const struct taking *taking)
{
    for (struct program *p = taker->programs; p; p = p->next)
        for (struct queue *q = p->taking == taking ? p->queues : NULL; q; q = q->next)
            q->goal = atomic_load(&q->head->head);
}

/* Of who is not believed any more nothing is waited for. */
bool taker_reached(const struct taker *taker, const struct taking *taking)
{
    if (taking->unwritten)
        return true;
    for (const struct program *p = taker->programs; p; p = p->next)
        for (const struct queue *q = p->taking != taking || p->error ? NULL : p->queues; q;
             q = q->next)
            if ((int64_t)(q->goal - q->tail) > 0)
                return false;
    return true;
}

size_t taker_queues(const struct taker *taker)
{
    size_t count = 0;
    for (const struct program *p = taker->programs; p; p = p->next)
        count += p->queue_count;
    return count;
}

/* ---- going round ---- */

/* One round over one program, the next in turn; all that there is, or a part. */
static enum taken take_next(struct taker *taker, bool *much, unsigned *full)
{
    enum taken taken = TAKEN_ALL;
    taker_enter(taker);
    struct program *program = taker->turn ? taker->turn : taker->programs;
    if (program) {
        taker->turn = program->next;
        taken = taker_round(taker, program);
        *full = program->full > *full ? program->full : *full;
        *much |= hand_ahead(&program->taking->hand) > TELL_BYTES;
    }
    taker_leave(taker);
    return taken;
}

static size_t count_programs(struct taker *taker)
{
    taker_enter(taker);
    size_t count = taker->count;
    taker_leave(taker);
    return count;
}

void taker_settle(struct taker *taker, uint64_t ns)
{
    struct share share = share_of(ns);
    bool more = true, much = false;
    unsigned full = 0;
    while (more && share_left(share)) {
        more = false;
        for (size_t n = count_programs(taker); n && share_left(share); n--)
            more |= take_next(taker, &much, &full) == TAKEN_MORE;
    }
}

/* A queue that is still small when it is emptied again stays in the processors' caches, and its thread need neither
 * wake us nor go on in a larger one. */
uint64_t taker_rest_ns(uint64_t last_ns, unsigned full)
{
    uint64_t most = 2 * last_ns < REST_MOST_NS ? 2 * last_ns : REST_MOST_NS,
             next = full ? last_ns * FULL_WANTED / full : most;
    next = next < most ? next : most;
    return next > REST_LEAST_NS ? next : REST_LEAST_NS;
}

static void rest(struct taker *taker, uint64_t ns)
{
    uint64_t ignored;
    struct pollfd p = {.fd = taker->wake, .events = POLLIN};
    struct timespec time = {0, (long)ns};
    if (ppoll(&p, 1, &time, NULL) == 1 && read(taker->wake, &ignored, sizeof ignored) < 0)
        return;
}

static void *take_all(void *argument)
{
    struct taker *taker = argument;
    uint64_t ns = REST_LEAST_NS;
    unsigned idle = 0; /* rounds without anything */
    while (!atomic_load(&taker->stop)) {
        bool more = false, much = false;
        unsigned full = 0;
        for (size_t n = count_programs(taker); n && !atomic_load(&taker->stop); n--)
            more |= take_next(taker, &much, &full) == TAKEN_MORE;
        if (much)
            taker->tell(taker->context);
        idle = full ? 0 : idle + 1;
        if (idle == IDLE_ROUNDS)
            buffers_rest();
        ns = taker_rest_ns(ns, full);
        if (!more)
            rest(taker, ns);
    }
    return NULL;
}

/* ---- life ---- */

struct taker *taker_new(void (*tell)(void *context), void *context)
{
    struct taker *taker = memory_zeroed(1, sizeof *taker);
    sigset_t all, before;
    pthread_mutex_init(&taker->lock, NULL);
    pthread_cond_init(&taker->served, NULL);
    desk_begin(&taker->desk);
    taker->tell = tell;
    taker->context = context;
    taker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    taker->runs = taker->wake >= 0 && pthread_create(&taker->thread, NULL, take_all, taker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return taker;
}

bool taker_runs(const struct taker *taker) { return taker->runs; }

void taker_wake(struct taker *taker)
{
    uint64_t one = 1;
    if (write(taker->wake, &one, sizeof one) < 0)
        return; /* it is awake */
}

void taker_stop(struct taker *taker)
{
    if (!taker->runs)
        return;
    atomic_store(&taker->stop, true);
    taker_wake(taker);
    pthread_join(taker->thread, NULL);
    taker->runs = false;
}

void taker_free(struct taker *taker)
{
    taker_stop(taker);
    if (taker->wake >= 0)
        close(taker->wake);
    desk_end(&taker->desk);
    pthread_cond_destroy(&taker->served);
    pthread_mutex_destroy(&taker->lock);
    free(taker);
}
