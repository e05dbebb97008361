#define _GNU_SOURCE
#include "clients/trace/carrier.h"

#include "clients/trace/core/allowed.h"
#include "clients/trace/core/arena.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/forbid.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/text.h"
#include "clients/trace/poet.h"
#include "wire/span.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct carrier {
    struct span_head *ring; /* NULL: nothing is told of it */
    uint64_t written, room; /* switches; below `room` there is some */
    uint64_t lost; /* that are not told yet to be lost */
    uint32_t life; /* for which that is so; 0: none */
    uint32_t on; /* code of the task that is on it; 0: none */
    uint32_t number;
    uint32_t clock;
    char name[SPAN_NAME_BYTES + 1], cluster[SPAN_NAME_BYTES + 1];
};

static __thread struct carrier *mine __attribute__((tls_model("initial-exec")));
static _Atomic uint32_t next_carrier = 1;

/* ---- those that there are ---- */

static pthread_key_t at_end;
static _Atomic int has_key; /* 1: somebody makes it */

static void give_up(struct carrier *c)
{
    if (c->ring)
        munmap(c->ring, SPAN_MAP_BYTES);
    c->ring = NULL;
}

/* The thread ends: its ring is the server's. */
static void leave(void *p)
{
    struct carrier *c = p;
    mine = NULL;
    if (c->ring && c->life == atomic_load(&live))
        atomic_store(&c->ring->done, 1);
    give_up(c);
}

/* (Where two threads come at once, one of them is told of from its next switch on.) */
static struct carrier *take(void)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&has_key, &none, 1))
        atomic_store(&has_key, pthread_key_create(&at_end, leave) == 0 ? 2 : 0);
    bool may = atomic_load(&has_key) == 2 && atomic_load(&next_carrier) < LIMIT_CARRIERS;
    struct carrier *c = may ? arena_take(sizeof *c) : NULL;
    return c && pthread_setspecific(at_end, c) == 0 ? c : NULL;
}

/* ---- its ring ---- */

/* fd -1: it has its ring. */
static bool hand_over(const struct carrier *c, int fd, uint32_t life)
{
    uint8_t bytes[MESSAGE_FRAME_BYTES + 32 + 2 * SPAN_NAME_BYTES];
    struct out out = {.data = bytes, .room = sizeof bytes};
    out_begin(&out, MESSAGE_SPAN);
    put_told_span(&out, &(struct told_span){c->number, (uint32_t)syscall(SYS_gettid), fd >= 0,
                                            text_within(c->name, SPAN_NAME_BYTES),
                                            text_within(c->cluster, SPAN_NAME_BYTES)});
    out_end(&out);
    return fd < 0 ? server_send(&out, life) : server_send_with(&out, fd, life);
}

static struct span_head *make_ring(const struct carrier *c, uint32_t life)
{
    int fd = queue_memory(SPAN_MAP_BYTES);
    struct span_head *ring = /* all of it is there at once: no switch is to wait for a page */
        fd < 0
            ? MAP_FAILED
            : mmap(NULL, SPAN_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (ring != MAP_FAILED) {
        *ring = (struct span_head){
            .magic = SPAN_MAGIC, .version = SPAN_VERSION, .carrier = c->number, .clock = c->clock};
        if (!hand_over(c, fd, life)) {
            munmap(ring, SPAN_MAP_BYTES);
            ring = MAP_FAILED;
        }
    }
    if (fd >= 0)
        close(fd);
    return ring == MAP_FAILED ? NULL : ring;
}

/* In another process, and for another server, it is another one. */
static void begin(struct carrier *c, uint32_t life, uint32_t clock)
{
    give_up(c);
    c->life = life;
    c->on = 0;
    c->written = c->lost = 0;
    c->room = SPAN_SWITCHES;
    c->clock = clock;
    if (!server_spans || server_sends || !server_may_share() || !allowed(ALLOWED_QUEUES) ||
        forbid_quiet() || atomic_load(&next_carrier) >= LIMIT_CARRIERS)
        return;
    c->number = atomic_fetch_add(&next_carrier, 1);
    c->ring = make_ring(c, life);
}

/* For a task that is on it, or will be. */
static __attribute__((noinline, cold)) struct carrier *begin_life(struct thread *by)
{
    sigset_t all, before;
    int saved = errno, cancelling;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    busy_begin(by);
    struct carrier *c = mine = mine ? mine : take();
    if (c)
        begin(c, by->life, by->queue->clock);
    busy_end(by);
    pthread_setcancelstate(cancelling, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return c;
}

/* ---- switches ---- */

static inline bool is_task(const struct thread *t)
{
    return t && !t->task && t->life == atomic_load_explicit(&live, memory_order_relaxed);
}

static inline uint64_t stamp(const struct carrier *c)
{
    return LIKELY(c->clock == QUEUE_CLOCK_TICKS &&
                  atomic_load_explicit(&clock_ticks, memory_order_relaxed))
               ? CLOCK_TICKS()
               : clock_instead(c->clock);
}

static __attribute__((noinline)) bool look_for_room(struct carrier *c)
{
    c->room = atomic_load_explicit(&c->ring->taken, memory_order_acquire) + SPAN_SWITCHES;
    return c->written + 1 < c->room; /* and one that says what was lost */
}

#define AHEAD 8 /* two lines of a cache: the server, which read them, had them last */

static inline void put(struct carrier *c, uint64_t time, uint64_t task)
{
    struct span_switch *all = span_switches(c->ring);
    __builtin_prefetch(&all[(c->written + AHEAD) % SPAN_SWITCHES], 1);
    all[c->written % SPAN_SWITCHES] = (struct span_switch){time, task};
    atomic_store_explicit(&c->ring->written, ++c->written, memory_order_release);
}

static __attribute__((noinline, cold)) void say_lost(struct carrier *c)
{
    put(c, c->lost, SPAN_LOST);
    c->lost = 0;
}

void carrier_switch(struct thread *from, struct thread *to)
{
    uint32_t begins = is_task(to) ? line_index(to->own) : 0;
    struct thread *by = begins ? to : from;
    struct carrier *c = mine;
    if (!begins && !is_task(from))
        return;
    if (!LIKELY(c && c->life == by->life) && !(c = begin_life(by)))
        return;
    if (!c->ring || c->on == begins)
        return;
    c->on = begins;
    if (!LIKELY(c->written + 1 < c->room) && !look_for_room(c)) {
        c->lost++;
        return;
    }
    if (!LIKELY(!c->lost))
        say_lost(c);
    put(c, stamp(c), begins);
}

/* ---- what it is called ---- */

static void call_it(char *to, const char *name)
{
    size_t size = name ? text_size(name, SPAN_NAME_BYTES) : 0;
    if (size)
        memcpy(to, name, size);
    to[size] = 0;
}

void poet_processor(const char *name, const char *cluster)
{
    int saved = errno;
    struct carrier *c = mine = mine ? mine : take();
    if (c) {
        call_it(c->name, name);
        call_it(c->cluster, cluster);
        if (c->ring && c->life == atomic_load(&live) && !forbid_quiet())
            hand_over(c, -1, c->life);
    }
    errno = saved;
}
