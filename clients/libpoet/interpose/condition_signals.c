/* Recent signals of a condition variable, kept by each process in a ring, as causes of wake-ups. A
 * signal made while the thread holds the waiters' mutex comes before each later wake-up by the line
 * of that mutex, whichever signal woke the waiter. Only signals made without the mutex make the
 * cause uncertain. These are counted, begun in the lower half of a number and ended in the upper
 * one, so that a call that began before a wait and has not returned is counted, too. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/condition_signals.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/shared_objects.h"
#include "clients/libpoet/core/thread.h"

#include <stdatomic.h>
#include <string.h>

#define RECENT 8
#define ENDED (1ull << 32)
#define SEVERAL_MUTEXES 1u /* in the place of the key of a mutex: no key has this value */

const char condition_signals_several[] = "several signals are possible wakers";
const char condition_signals_unrecorded[] = "signaler not traced";
const char condition_signals_elsewhere[] = "another process may have signaled";

struct condition_signals {
    latch lock;
    uint64_t count;
    uint64_t quiet; /* number of signals before the calls without the mutex that are in progress */
    _Atomic uint64_t bare; /* such calls: begun, and in the upper half ended */
    struct sync_object *mutex; /* mutex of the present or last waiters */
    unsigned waiters;
    unsigned mixed; /* how often a thread waited with another mutex than others did then */
    uint32_t life; /* the lifetime to which `recent` belongs */
    struct {
        uint32_t by; /* own line of the thread, 0 if it is not recorded */
        struct event_id at;
    } recent[RECENT];
};

static struct condition_signals *condition_signals_get(struct sync_object *c)
{
    struct condition_signals *s = atomic_load_explicit(&c->signals, memory_order_acquire);
    if (s)
        return s;
    struct condition_signals *fresh = tracer_arena_alloc(sizeof *fresh);
    if (!fresh)
        return NULL;
    *fresh = (struct condition_signals){0};
    return atomic_compare_exchange_strong(&c->signals, &s, fresh) ? fresh : s;
}

static bool condition_signals_under_way(uint64_t bare)
{
    return (uint32_t)bare != (uint32_t)(bare >> 32);
}

/* Threads that were waiting or signalling do not exist in the child. */
void condition_signals_begin_child(struct sync_object *c)
{
    struct condition_signals *s = atomic_load(&c->signals);
    if (!s)
        return;
    latch_reset(&s->lock);
    s->waiters = 0;
    uint32_t begun = (uint32_t)atomic_load(&s->bare);
    atomic_store(&s->bare, begun * ENDED | begun);
}

void condition_signals_renew(struct sync_object *c)
{
    struct condition_signals *s = atomic_load(&c->signals);
    if (!s)
        return;
    latch_lock(&s->lock);
    s->waiters = 0;
    s->mutex = NULL;
    latch_unlock(&s->lock);
}

/* ---- between processes ---- */

/* Returns the counters that the processes of a condition variable share, or NULL. */
static _Atomic uint64_t *condition_signals_shared(const struct sync_object *c,
                                                  enum shared_note what)
{
    return shared_object_note_counter(&c->line, what);
}

/* Sets the mutex that the waiters of all processes use; the first one counts. */
static void condition_signals_agree(const struct sync_object *c, const struct sync_object *mutex)
{
    _Atomic uint64_t *agreed = condition_signals_shared(c, SHARED_MUTEX);
    uint64_t key = shared_object_id(&mutex->line), there = 0;
    if (!agreed)
        return;
    key = key ? key : SEVERAL_MUTEXES;
    if (!atomic_compare_exchange_strong(agreed, &there, key) && there != key)
        atomic_store(agreed, SEVERAL_MUTEXES);
}

/* Returns whether the thread holds the mutex that the waiters of all processes use. */
static bool condition_signals_held_here(const struct sync_object *c, const struct traced_thread *t)
{
    const _Atomic uint64_t *agreed = condition_signals_shared(c, SHARED_MUTEX);
    uint64_t key = agreed ? atomic_load(agreed) : 0;
    if (key <= SEVERAL_MUTEXES)
        return false;
    for (size_t i = 0; i < t->hold_stack.count; i++) {
        const struct sync_object *o = t->hold_stack.holds[i].object;
        if (o && o->kind == SYNC_MUTEX && o->held && o->visit == t->hold_stack.holds[i].visit &&
            shared_object_id(&o->line) == key)
            return true;
    }
    return false;
}

/* ---- waiters ---- */

/* Must hold the lock. */
static void condition_signals_meet(struct condition_signals *s, struct sync_object *mutex)
{
    s->mixed += s->waiters && s->mutex != mutex;
    s->mutex = mutex;
    s->waiters++;
}

struct condition_signals_wait condition_signals_wait_begin(struct sync_object *c,
                                                           struct sync_object *mutex, bool shared)
{
    struct condition_signals_wait w = {.condition = c, .shared = shared};
    struct condition_signals *s = condition_signals_get(c);
    if (!s)
        return w;
    if (shared)
        condition_signals_agree(c, mutex);
    const _Atomic uint64_t *bare = shared ? condition_signals_shared(c, SHARED_SIGNALS) : &s->bare;
    latch_lock(&s->lock);
    condition_signals_meet(s, mutex);
    w.bare = bare ? atomic_load(bare) : 0;
    w.since = !shared && condition_signals_under_way(w.bare) ? s->quiet : s->count;
    w.mixed = s->mixed;
    latch_unlock(&s->lock);
    return w;
}

void condition_signals_wait_end(const struct condition_signals_wait *w)
{
    struct condition_signals *s = condition_signals_get(w->condition);
    if (!s)
        return;
    latch_lock(&s->lock);
    s->waiters -= s->waiters > 0;
    latch_unlock(&s->lock);
}

/* Must hold the lock. */
static bool condition_signals_all_held(const struct condition_signals *s,
                                       const struct condition_signals_wait *w)
{
    const _Atomic uint64_t *bare = &s->bare, *agreed = NULL;
    if (w->shared) {
        bare = condition_signals_shared(w->condition, SHARED_SIGNALS);
        agreed = condition_signals_shared(w->condition, SHARED_MUTEX);
        if (!bare || !agreed || atomic_load(agreed) <= SEVERAL_MUTEXES)
            return false;
    }
    return !condition_signals_under_way(w->bare) &&
           (uint32_t)atomic_load(bare) == (uint32_t)w->bare && s->mixed == w->mixed;
}

bool condition_signals_are_ordered(const struct condition_signals_wait *w)
{
    struct condition_signals *s = condition_signals_get(w->condition);
    if (!s)
        return false;
    latch_lock(&s->lock);
    bool held = condition_signals_all_held(s, w);
    latch_unlock(&s->lock);
    return held;
}

/* Must hold the lock. */
static struct event_id condition_signals_first(const struct condition_signals *s, uint64_t since,
                                               const char **why)
{
    if (s->count == since || s->life != atomic_load(&tracer.lifetime.number))
        return (struct event_id){0, 0};
    uint32_t by = s->recent[since % RECENT].by;
    *why = s->count - since > RECENT || !by ? condition_signals_several : NULL;
    for (uint64_t i = since + 1; i < s->count; i++)
        if (s->recent[i % RECENT].by != by)
            *why = condition_signals_several;
    /* "several" says that the last of them is recorded: by then the thread was woken */
    if (!s->recent[(s->count - 1) % RECENT].by)
        *why = condition_signals_unrecorded;
    return *why ? (struct event_id){0, 0} : s->recent[since % RECENT].at;
}

struct event_id condition_signals_cause(const struct condition_signals_wait *w, const char **why)
{
    struct condition_signals *s = condition_signals_get(w->condition);
    struct event_id cause = {0, 0};
    *why = w->shared ? condition_signals_elsewhere : NULL;
    if (!s || w->shared)
        return cause;
    latch_lock(&s->lock);
    cause = condition_signals_first(s, w->since, why);
    latch_unlock(&s->lock);
    return cause;
}

/* ---- signals ---- */

/* Returns whether the thread holds the waiters' mutex. Must hold the lock. */
static bool condition_signals_held(const struct condition_signals *s, const struct sync_object *c,
                                   struct traced_thread *t, bool shared)
{
    if (!t || t->waiting)
        return false;
    if (shared)
        return condition_signals_held_here(c, t);
    return s->mutex && s->mutex->held && thread_hold(t, s->mutex);
}

bool condition_signals_add(struct sync_object *c, struct traced_thread *t, uint32_t by,
                           struct event_id at, bool shared)
{
    struct condition_signals *s = condition_signals_get(c);
    uint32_t life = t ? t->life : atomic_load(&tracer.lifetime.number);
    if (!s)
        return false;
    latch_lock(&s->lock);
    bool bare = !condition_signals_held(s, c, t, shared);
    if (bare && !condition_signals_under_way(atomic_load(&s->bare)))
        s->quiet = s->count;
    if (bare)
        atomic_fetch_add(&s->bare, 1);
    _Atomic uint64_t *remote = bare && shared ? condition_signals_shared(c, SHARED_SIGNALS) : NULL;
    if (remote)
        atomic_fetch_add(remote, 1);
    if (s->life != life)
        memset(s->recent, 0, sizeof s->recent);
    s->life = life;
    s->recent[s->count % RECENT].by = by;
    s->recent[s->count % RECENT].at = at;
    s->count++;
    latch_unlock(&s->lock);
    return bare;
}

void condition_signals_call_end(struct sync_object *c)
{
    struct condition_signals *s = atomic_load(&c->signals);
    if (s)
        atomic_fetch_add(&s->bare, ENDED);
    _Atomic uint64_t *remote = condition_signals_shared(c, SHARED_SIGNALS);
    if (remote)
        atomic_fetch_add(remote, ENDED);
}
