#define _GNU_SOURCE
/* Implementation of poet.h: additional stacks of tasks, and their carrier threads. */
#include "clients/libpoet/user_tasks.h"

#include "clients/libpoet/core/heap_channel.h"
#include "clients/libpoet/core/message_text.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/profile/coroutine_stacks.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/thread_profile.h"
#include "wire/task_placement.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The stacks that a task has entered and not left form a chain: below each is the one from which
 * the task entered it. */
struct poet_stack {
    struct coroutine_calls *calls; /* that are open on it, while no task runs it */
    struct traced_thread *by;          /* the task that has it in its chain; NULL none */
    struct poet_stack *below;   /* NULL: the task's own stack */
    uint32_t life;              /* in which it was entered last */
    bool called;                /* it runs a call (POET_STACK_CALLED) */
    uintptr_t from, bytes;      /* its memory; 0 bytes: not known */
    struct poet_stack *next_free;
};

static latch pool_lock;
static struct poet_stack *pool;

poet_stack_t poet_stack(const void *memory, size_t bytes)
{
    if (!thread_recording())
        return NULL;
    int saved = errno;
    latch_lock(&pool_lock);
    struct poet_stack *s = pool;
    if (s)
        pool = s->next_free;
    latch_unlock(&pool_lock);
    struct coroutine_calls *calls = s ? s->calls : NULL;
    s = s ? s : tracer_arena_alloc(sizeof *s);
    if (s)
        *s = (struct poet_stack){
            .calls = calls, .from = (uintptr_t)memory, .bytes = memory ? bytes : 0};
    errno = saved;
    return s;
}

/* A stack that was entered under an earlier server, or by the parent of a child of fork, is in no
 * chain. */
static void stack_renew(struct traced_thread *t, struct poet_stack *s)
{
    if (s->life == t->life)
        return;
    if (s->calls)
        coroutine_stack_forget(s->calls);
    s->by = NULL;
    s->below = NULL;
    s->life = t->life;
}

static void stack_leave(struct traced_thread *t)
{
    struct poet_stack *s = t->stacks.innermost;
    coroutine_stack_leave(t, &s->calls, s->called);
    t->stacks.innermost = s->below;
    s->by = NULL;
    s->below = NULL;
}

static void stack_enter(struct traced_thread *t, struct poet_stack *s, unsigned flags)
{
    s->by = t;
    s->below = t->stacks.innermost;
    s->called = flags & POET_STACK_CALLED;
    t->stacks.innermost = s;
    if (flags & POET_STACK_UNWOUND)
        coroutine_stack_enter_to_end(t, s->calls);
    else
        coroutine_stack_enter(t, s->calls);
}

static void stack_run(struct traced_thread *t, struct poet_stack *s, unsigned flags)
{
    if (s)
        stack_renew(t, s);
    /* another task runs on it: the program's request is wrong */
    if (s && s->by && s->by != t)
        return;
    bool within = !s || s->by, calls = s && flags & POET_STACK_CALLED;
    while (within && t->stacks.innermost && t->stacks.innermost != s)
        stack_leave(t);
    if (within && calls) /* a call within the call that runs there, which ends for that */
        stack_leave(t);
    if (!within || calls)
        stack_enter(t, s, flags);
    if (calls)
        coroutine_stack_call_again(t);
}

/* A task has not entered in this lifetime what it had entered in an earlier one. */
static struct traced_thread *stack_thread(void)
{
    struct traced_thread *t = thread_self();
    if (t && t->stacks.innermost && t->stacks.innermost->life != t->life)
        t->stacks.innermost = NULL;
    return t;
}

void poet_stack_run(poet_stack_t stack, unsigned flags)
{
    struct traced_thread *t = stack_thread();
    if (!t || (t->stacks.innermost == stack && !(flags & POET_STACK_CALLED)))
        return;
    int saved = errno;
    busy_begin(t);
    stack_run(t, stack, flags);
    busy_end(t);
    errno = saved;
}

/* Stacks that the task entered from it are left first. */
static void stack_end(struct traced_thread *t, struct poet_stack *s)
{
    while (t->stacks.innermost && t->stacks.innermost != s)
        stack_leave(t);
    if (!t->stacks.innermost)
        return;
    coroutine_stack_end(t);
    t->stacks.innermost = s->below;
    s->by = NULL;
}

void poet_stack_gone(poet_stack_t s)
{
    struct traced_thread *t = stack_thread();
    if (!s)
        return;
    int saved = errno;
    if (t) {
        busy_begin(t);
        stack_renew(t, s);
        if (s->by == t)
            stack_end(t, s);
        busy_end(t);
    }
    if (s->calls)
        coroutine_stack_forget(s->calls);
    latch_lock(&pool_lock);
    s->next_free = pool;
    pool = s;
    latch_unlock(&pool_lock);
    errno = saved;
}

void stack_forget_all(struct traced_thread *t)
{
    for (struct poet_stack *s = t->stacks.innermost, *below; s && s->life == t->life; s = below) {
        below = s->below;
        s->by = NULL;
        s->below = NULL;
    }
    t->stacks.innermost = NULL;
}

/* ---- for libpoet-memory ---- */

uintptr_t poet_heap_stack_end(uintptr_t at)
{
    const struct traced_thread *t = thread_self();
    const struct poet_stack *s = t ? t->stacks.innermost : NULL;
    if (s && s->life == t->life && at - s->from < s->bytes)
        return s->from + s->bytes;
    return t && at - t->stacks.own_from < t->stacks.own_bytes
               ? t->stacks.own_from + t->stacks.own_bytes
               : 0;
}

/* ---- carrier threads ---- */

/* A worker: a system thread under one name and group. Those of a thread form a cycle; it acts as
 * one of them at a time. */
struct carrier_thread {
    struct carrier_thread *next;
    struct task_placement_head *ring; /* NULL: its placements are not reported */
    uint64_t written, room; /* switches; below `room` there is some */
    uint64_t lost; /* lost ones that were not reported yet */
    uint32_t life; /* the lifetime of the ring; 0: none */
    uint32_t on; /* code of the task that is on it; 0: none */
    uint32_t number;
    uint32_t clock;
    char name[PLACEMENT_NAME_BYTES + 1], cluster[PLACEMENT_NAME_BYTES + 1];
};

static __thread struct carrier_thread *carrier_mine __attribute__((tls_model("initial-exec")));
static _Atomic uint32_t next_carrier = 1;

/* ---- all carriers ---- */

static pthread_key_t at_end;
static _Atomic int has_key; /* 1: a thread is creating it */

static void carrier_unmap_ring(struct carrier_thread *c)
{
    if (c->ring)
        munmap(c->ring, PLACEMENT_MAP_BYTES);
    c->ring = NULL;
}

/* Called when the thread ends: leaves its rings to the server. */
static void carrier_thread_exit(void *p)
{
    struct carrier_thread *c = p;
    carrier_mine = NULL;
    do {
        if (c->ring && c->life == atomic_load(&tracer.lifetime.number))
            atomic_store(&c->ring->done, 1);
        carrier_unmap_ring(c);
        c = c->next;
    } while (c != p);
}

/* (If two threads come at the same time, one of them is reported from its next switch on.) */
static struct carrier_thread *carrier_create(void)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&has_key, &none, 1))
        atomic_store(&has_key, pthread_key_create(&at_end, carrier_thread_exit) == 0 ? 2 : 0);
    bool may = atomic_load(&has_key) == 2 && atomic_load(&next_carrier) < LIMIT_CARRIERS;
    struct carrier_thread *c = may ? tracer_arena_alloc(sizeof *c) : NULL;
    if (c)
        c->next = c;
    return c && pthread_setspecific(at_end, c) == 0 ? c : NULL;
}

/* ---- its ring ---- */

/* fd -1: the server has its ring. */
static bool carrier_send_ring(const struct carrier_thread *c, int fd, uint32_t life)
{
    uint8_t bytes[MESSAGE_FRAME_BYTES + 32 + 2 * PLACEMENT_NAME_BYTES];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    encoder_begin_message(&out, MESSAGE_CARRIER);
    encode_carrier(&out,
                   &(struct carrier_message){c->number, (uint32_t)syscall(SYS_gettid), fd >= 0,
                                             message_text_limit(c->name, PLACEMENT_NAME_BYTES),
                                             message_text_limit(c->cluster, PLACEMENT_NAME_BYTES)});
    encoder_end_message(&out);
    return fd < 0 ? server_send(&out, life) : server_send_with(&out, fd, life);
}

static struct task_placement_head *carrier_make_ring(const struct carrier_thread *c, uint32_t life)
{
    int fd = queue_memory(PLACEMENT_MAP_BYTES);
    /* all pages are there at once: no switch must wait for a page fault */
    struct task_placement_head *ring = fd < 0
                                           ? MAP_FAILED
                                           : mmap(NULL, PLACEMENT_MAP_BYTES, PROT_READ | PROT_WRITE,
                                                  MAP_SHARED | MAP_POPULATE, fd, 0);
    if (ring != MAP_FAILED) {
        *ring = (struct task_placement_head){.magic = PLACEMENT_MAGIC,
                                             .version = PLACEMENT_VERSION,
                                             .carrier = c->number,
                                             .clock = c->clock};
        if (!carrier_send_ring(c, fd, life)) {
            munmap(ring, PLACEMENT_MAP_BYTES);
            ring = MAP_FAILED;
        }
    }
    if (fd >= 0)
        close(fd);
    return ring == MAP_FAILED ? NULL : ring;
}

/* Begins again in another process, or for another server. */
static void carrier_begin(struct carrier_thread *c, uint32_t life, uint32_t clock)
{
    carrier_unmap_ring(c);
    c->life = life;
    c->on = 0;
    c->written = c->lost = 0;
    c->room = PLACEMENT_SWITCHES;
    c->clock = clock;
    if (tracer.server.needs_socket || !server_may_share() || !seccomp_allows(ALLOWED_QUEUES) ||
        seccomp_is_quiet() || atomic_load(&next_carrier) >= LIMIT_CARRIERS)
        return;
    c->number = atomic_fetch_add(&next_carrier, 1);
    c->ring = carrier_make_ring(c, life);
}

/* Returns the carrier for a task that is on it, or will be. */
static __attribute__((noinline, cold)) struct carrier_thread *
carrier_begin_lifetime(struct traced_thread *by)
{
    sigset_t all, before;
    int saved = errno, cancelling;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    busy_begin(by);
    struct carrier_thread *c = carrier_mine = carrier_mine ? carrier_mine : carrier_create();
    if (c)
        carrier_begin(c, by->life, by->queue->clock);
    busy_end(by);
    pthread_setcancelstate(cancelling, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return c;
}

/* ---- switches ---- */

static inline bool carrier_is_task(const struct traced_thread *t)
{
    return t && !t->task &&
           t->life == atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed);
}

static inline uint64_t carrier_timestamp(const struct carrier_thread *c)
{
    return LIKELY(c->clock == QUEUE_CLOCK_TICKS &&
                  atomic_load_explicit(&tracer.clock.has_ticks, memory_order_relaxed))
               ? CLOCK_TICKS()
               : tracer_clock_now_in_unit(c->clock);
}

static __attribute__((noinline)) bool carrier_check_space(struct carrier_thread *c)
{
    c->room = atomic_load_explicit(&c->ring->taken, memory_order_acquire) + PLACEMENT_SWITCHES;
    return c->written + 1 < c->room; /* and one that says what was lost */
}

#define AHEAD 8 /* two cache lines ahead: the server has read them on another core */

static inline void carrier_append(struct carrier_thread *c, uint64_t time, uint32_t task,
                                  uint32_t left)
{
    struct task_switch *all = placement_switches(c->ring);
    __builtin_prefetch(&all[(c->written + AHEAD) % PLACEMENT_SWITCHES], 1);
    all[c->written % PLACEMENT_SWITCHES] = (struct task_switch){time, task, left};
    atomic_store_explicit(&c->ring->written, ++c->written, memory_order_release);
}

static __attribute__((noinline, cold)) void carrier_append_lost(struct carrier_thread *c)
{
    carrier_append(c, c->lost, PLACEMENT_LOST, 0);
    c->lost = 0;
}

/* Returns 1 + the call context in which a task is, if its calls are measured; else 0. */
static inline uint32_t carrier_context(const struct traced_thread *t)
{
    bool measures = t && t->profile && t->queue &&
                    atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_CALLS;
    return UNLIKELY(measures) ? 1 + region_current_context(t) : 0;
}

void carrier_switch(struct traced_thread *from, struct traced_thread *to)
{
    uint32_t begins = carrier_is_task(to) ? trace_line_index(to->own) : 0;
    struct traced_thread *by = begins ? to : from;
    struct carrier_thread *c = carrier_mine;
    if (!begins && !carrier_is_task(from))
        return;
    if (UNLIKELY(!c || c->life != by->life) && !(c = carrier_begin_lifetime(by)))
        return;
    if (!c->ring || c->on == begins)
        return;
    uint32_t left = c->on && carrier_is_task(from) ? carrier_context(from) : 0;
    c->on = begins;
    if (UNLIKELY(c->written + 1 >= c->room) && !carrier_check_space(c)) {
        c->lost++;
        return;
    }
    if (UNLIKELY(c->lost))
        carrier_append_lost(c);
    carrier_append(c, carrier_timestamp(c), begins, left);
}

/* ---- names ---- */

static void carrier_copy_name(char *to, const char *name)
{
    size_t size = name ? message_text_size(name, PLACEMENT_NAME_BYTES) : 0;
    if (size)
        memcpy(to, name, size);
    to[size] = 0;
}

#define THREAD_WORKERS 64u /* further ones share one, and its name changes */

/* Returns the thread's worker of that name, which it may have been before; NULL: none. */
static struct carrier_thread *carrier_named(const struct carrier_thread *wanted)
{
    struct carrier_thread *mine = carrier_mine, *c = mine;
    unsigned count = 0;
    if (!mine)
        return carrier_create();
    do {
        if (strcmp(c->name, wanted->name) == 0 && strcmp(c->cluster, wanted->cluster) == 0)
            return c;
        c = c->next;
        count++;
    } while (c != mine);
    bool ran = mine->life && *mine->name; /* else it gets its name now */
    c = ran && count < THREAD_WORKERS ? tracer_arena_alloc(sizeof *c) : NULL;
    if (!c)
        return mine;
    c->next = mine->next;
    mine->next = c;
    return c;
}

/* A task that is on the thread continues on the new worker. */
static void carrier_become(struct carrier_thread *c)
{
    struct traced_thread *on = carrier_mine && carrier_mine->on ? thread_self() : NULL;
    if (on)
        carrier_switch(on, NULL);
    carrier_mine = c;
    if (on)
        carrier_switch(NULL, on);
}

void poet_worker_thread(const char *name, const char *group)
{
    struct carrier_thread wanted;
    int saved = errno;
    carrier_copy_name(wanted.name, name);
    carrier_copy_name(wanted.cluster, group);
    struct carrier_thread *c = carrier_named(&wanted);
    bool renamed =
        c && (strcmp(c->name, wanted.name) != 0 || strcmp(c->cluster, wanted.cluster) != 0);
    if (renamed) {
        memcpy(c->name, wanted.name, sizeof c->name);
        memcpy(c->cluster, wanted.cluster, sizeof c->cluster);
        if (c->ring && c->life == atomic_load(&tracer.lifetime.number) && !seccomp_is_quiet())
            carrier_send_ring(c, -1, c->life);
    }
    if (c && c != carrier_mine)
        carrier_become(c);
    errno = saved;
}
