#define _GNU_SOURCE
#include "clients/libpoet/races/race_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define STACKS_MOST 1024u
#define COUNT_AGAIN 1024u /* a count of conflicts that is full continues from here */
#define FIRST_BYTES ((uintptr_t)8 << 20) /* of the stack of the first thread */

static __thread struct race_thread race_thread_state;
__thread struct race_thread *race_thread_mine __attribute__((tls_model("initial-exec")));
__thread struct race_now race_now __attribute__((tls_model("initial-exec")));

/* Stacks of threads, the newest in place of the oldest. */
static struct race_stack {
    _Atomic uintptr_t from, end;
    _Atomic poet_line_t thread;
} race_stacks[STACKS_MOST];
static _Atomic unsigned race_stack_count;
static _Atomic uint32_t race_threads; /* of the system, so far */

#pragma weak __libc_stack_end
extern void *__libc_stack_end;

/* Finds the stack of the calling thread, with its thread-local variables. That of the first thread
 * has no known beginning; to ask for it would read files. */
static void race_thread_find_stack(struct race_thread *t)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t bytes = 0;
    if (getpid() == gettid()) {
        t->stack_end = &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
        t->stack = t->stack_end > FIRST_BYTES ? t->stack_end - FIRST_BYTES : t->stack_end;
        return;
    }
    int saved = errno;
    if (!poet_may_find_stack()) { /* likely it is of the default size, below its own data */
        stack = (void *)((uintptr_t)__builtin_thread_pointer() - FIRST_BYTES);
        bytes = FIRST_BYTES;
    } else if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &bytes);
        pthread_attr_destroy(&attributes);
    }
    errno = saved;
    t->stack = (uintptr_t)stack;
    t->stack_end = t->stack + bytes;
    /* another thread may have had it before, and no other one uses this one's yet */
    access_shadow_clear(t->stack, bytes);
}

struct race_thread *race_thread_begin(void)
{
    struct race_thread *t = race_thread_mine = &race_thread_state;
    if (t->stack_end || t->inside)
        return t;
    t->inside = true;
    uint32_t number = atomic_fetch_add_explicit(&race_threads, 1, memory_order_relaxed) + 1;
    t->system_thread = number <= UINT16_MAX ? (uint16_t)number : 0;
    if (access_shadow_reserve())
        race_thread_find_stack(t);
    t->inside = false;
    return t;
}

static void race_thread_note_stack(const struct race_thread *t)
{
    if (!t->stack_end)
        return;
    struct race_stack *s =
        &race_stacks[atomic_fetch_add_explicit(&race_stack_count, 1, memory_order_relaxed) %
                     STACKS_MOST];
    atomic_store(&s->end, 0);
    atomic_store(&s->from, t->stack);
    atomic_store(&s->thread, t->position.thread);
    atomic_store(&s->end, t->stack_end);
}

poet_line_t race_thread_of_stack(uintptr_t address)
{
    unsigned count = atomic_load_explicit(&race_stack_count, memory_order_relaxed);
    unsigned most = count < STACKS_MOST ? count : STACKS_MOST;
    for (unsigned i = 1; i <= most; i++) { /* the newest first */
        const struct race_stack *s = &race_stacks[(count - i) % STACKS_MOST];
        uintptr_t from = atomic_load(&s->from), end = atomic_load(&s->end);
        if (address >= from && address < end)
            return atomic_load(&s->thread);
    }
    return 0;
}

void race_thread_note_unexamined(struct race_thread *t, unsigned why)
{
    static _Atomic uint64_t counts[UNEXAMINED_CONFLICTS + 1];
    uint64_t count = atomic_fetch_add_explicit(&counts[why], 1, memory_order_relaxed) + 1;
    bool inside = t->inside;
    if (count & (count - 1))
        return;
    t->inside = true;
    poet_unexamined(why, count);
    t->inside = inside;
}

/* Reports, once in a lifetime, that accesses are examined, or cannot be. */
static void race_thread_report(struct race_thread *t)
{
    static _Atomic uint32_t reported;
    uint32_t lifetime = t->position.lifetime;
    if (atomic_exchange(&reported, lifetime) == lifetime)
        return;
    t->inside = true;
    poet_unexamined(UNEXAMINED_NO_MEMORY, !access_shadow_reserve());
    t->inside = false;
}

/* The thread is at another place in its order than before. Returns the number of a new interval;
 * 0: its accesses are not examined here. */
static uint32_t race_thread_advance(struct race_thread *t, const poet_position_t *position)
{
    bool moved =
        t->position.thread != position->thread || t->position.lifetime != position->lifetime;
    t->position = *position;
    t->interval = 0;
    t->accessed = false;
    if (t->lifetime != position->lifetime) {
        memset(t->recent, 0, sizeof t->recent);
        t->lifetime = position->lifetime;
    }
    if (!position->lifetime || !position->thread || !position->last.line)
        return 0;
    if (moved) {
        race_thread_note_stack(t);
        race_thread_report(t);
    }
    struct shadow_interval now = {.thread = position->thread,
                                  .line = position->last.line,
                                  .number = position->last.number,
                                  .lifetime = (uint16_t)position->lifetime,
                                  .system_thread = t->system_thread};
    poet_held_locks(now.locks, SHADOW_LOCKS);
    t->interval = access_shadow_add_interval(&now);
    if (!t->interval && access_shadow_reserve())
        race_thread_note_unexamined(t, UNEXAMINED_INTERVALS);
    return t->interval;
}

uint32_t race_thread_interval(struct race_thread *t)
{
    uint64_t progress = poet_progress;
    poet_position_t p;
    if (t->inside)
        return 0;
    poet_position(&p);
    bool same = p.last.number == t->position.last.number && p.last.line == t->position.last.line &&
                p.thread == t->position.thread && p.lifetime == t->position.lifetime;
    race_now.interval = 0; /* (a signal handler may interrupt here) */
    atomic_signal_fence(memory_order_seq_cst);
    uint32_t interval = same ? t->interval : race_thread_advance(t, &p);
    race_now.progress = progress;
    atomic_signal_fence(memory_order_seq_cst);
    race_now.interval = interval;
    return interval;
}

unsigned race_thread_count(struct race_thread *t, shadow_record_t earlier, shadow_record_t later)
{
    uint32_t interval = shadow_interval_of(earlier);
    struct race_recent now = {.site = shadow_site(earlier),
                              .then_site = shadow_site(later),
                              .thread = access_shadow_interval(interval)->thread,
                              .interval = interval,
                              .flags = (uint8_t)shadow_flags(earlier),
                              .then_flags = (uint8_t)shadow_flags(later)};
    uint64_t mixed = (now.site ^ (uint64_t)now.then_site << 20 ^ (uint64_t)now.thread << 40 ^
                      (uint64_t)now.flags << 52 ^ (uint64_t)now.then_flags << 58) *
                     0x9e3779b97f4a7c15u;
    struct race_recent *r = &t->recent[mixed >> (64 - RACE_RECENT_BITS)];
    bool same = r->site == now.site && r->then_site == now.then_site && r->thread == now.thread &&
                r->flags == now.flags && r->then_flags == now.then_flags;
    if (same && r->interval >= interval)
        return 0;
    now.count = !same ? 1 : r->count < UINT16_MAX ? (uint16_t)(r->count + 1) : COUNT_AGAIN;
    *r = now;
    return now.count;
}

/* The memory is reserved before the program can forbid that. */
__attribute__((constructor)) static void race_thread_reserve(void)
{
    poet_position_t p;
    poet_position(&p);
    if (p.lifetime)
        access_shadow_reserve();
}
