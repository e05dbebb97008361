/* Trace lines, and the synchronization objects at addresses. */
#ifndef CLIENTS_LIBPOET_CORE_SYNC_OBJECT_H
#define CLIENTS_LIBPOET_CORE_SYNC_OBJECT_H

#include "base/likely.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "wire/shared_counters.h"
#include "wire/event_types.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct trace_line {
    _Atomic uint32_t index;  /* 0: not announced yet */
    _Atomic uint32_t life;   /* the lifetime of the process in which it was */
    _Atomic uint64_t number; /* last one taken */
    _Atomic uint32_t script; /* its line in a replay schedule; 0: not known */
    _Atomic uint32_t lifetime; /* with `remote`: the lifetime of the object that the line is of */
    _Atomic uint64_t *_Atomic remote; /* where that is instead, if other processes number it, too */
};

enum sync_object_kind {
    SYNC_TASK,
    SYNC_MUTEX,
    SYNC_SPIN_LOCK,
    SYNC_CONDITION,
    SYNC_SEMAPHORE,
    SYNC_RWLOCK,
    SYNC_BARRIER,
    SYNC_ONCE,
    SYNC_COROUTINE
};

struct traced_thread;

/* A synchronization object at an address. Never freed; a destroyed one has no address, and is
 * reused for another object with an address of the same bucket. */
struct sync_object {
    struct sync_object *_Atomic next;
    const void *address;
    enum sync_object_kind kind;
    struct trace_line line;
    latch opening; /* held by the one thread that announces the line */
    /* counts lifetimes and, for mutexes, outermost critical sections; under the mutex */
    uint64_t visit;
    /* mutexes: in a recorded critical section; under the mutex.  Read-write locks: they have been
     * acquired. */
    bool held;
    _Atomic bool missed; /* it had no line, and calls on it were not recorded: hidden_uses.c */
    _Atomic bool hidden; /* code that is not recorded has released it: hidden_uses.c */
    _Atomic bool counted; /* SYNC_SEMAPHORE: `units` is known */
    _Atomic uint32_t hidden_by; /* the line of the thread that released it so, */
    uint64_t hidden_visit; /* and `visit` at that time */
    _Atomic int64_t units; /* SYNC_SEMAPHORE: lower bound of its value */
    _Atomic uint8_t remarks; /* SYNC_SEMAPHORE: semaphores.c */
    bool marked; /* its memory has had the mark; under `opening` */
    bool begins; /* it was initialized, and has had no line since */
    bool in_shared; /* shared_objects.c: processes share it, or have shared it */
    struct sync_object *next_shared;
    struct thread_info *_Atomic task; /* SYNC_TASK */
    struct condition_signals *_Atomic signals; /* SYNC_CONDITION */
    struct rounds *_Atomic rounds; /* SYNC_BARRIER */
    struct event_id initialised; /* SYNC_ONCE: set before the real once call unblocks others, */
    uint32_t initialised_life; /*   and when that was */
    bool thrown; /* the initializer did not return: this is where it was left, for the next one */
    _Atomic unsigned opened; /* SYNC_SEMAPHORE: how often it was opened by name */
    struct coroutine
        *_Atomic strand; /* SYNC_COROUTINE: what runs on there, NULL a thread's own stack */
    struct coroutine *made; /*   the one that was made there, for the next */
    uintptr_t entry; /* SYNC_COROUTINE: its function; else where it was made, 0 unknown */
};

/* A mutex or read-write lock may be created without a call (PTHREAD_MUTEX_INITIALIZER, every
 * std::mutex) at the address of a dead one: on the next frame, on the next thread's stack, in
 * memory that was freed. The first recorded thread that holds it therefore marks it, in a field
 * that the C library uses for other kinds of locks only; initialization of another one there
 * overwrites the mark. Returns NULL if such an object is created by calls only, or has no such
 * field. */
static inline uint64_t *sync_object_mark(const void *address, enum sync_object_kind kind)
{
#if defined(__GLIBC__) && __WORDSIZE == 64
    void *p = (void *)(uintptr_t)address;
    if (kind ==
        SYNC_MUTEX) /* not robust, with a priority protocol, or shared: their lists are in use */
        return (((const pthread_mutex_t *)address)->__data.__kind & 0xf0) == 0
                   ? (uint64_t *)(void *)&((pthread_mutex_t *)p)->__data.__list.__prev
                   : NULL;
    if (kind == SYNC_RWLOCK)
        return !((const pthread_rwlock_t *)address)->__data.__shared
                   ? (uint64_t *)&((pthread_rwlock_t *)p)->__data.__pad2
                   : NULL;
#endif
    return NULL;
}

/* Returns a mark that a copy of the object at another address does not match. */
static inline uint64_t sync_object_mark_value(const void *address)
{
    return (uint64_t)(uintptr_t)address ^ 0xb5c0f1a39e3779b9u;
}

/* Returns whether a thread that now holds the object finds it marked. */
static inline bool sync_object_is_marked(const struct sync_object *o)
{
    const uint64_t *mark = sync_object_mark(o->address, o->kind);
    return !mark ||
           LIKELY(__atomic_load_n(mark, __ATOMIC_RELAXED) == sync_object_mark_value(o->address));
}

/* Called by the holder of an object that is not marked: if it was marked before, it is another
 * object now, and gets a new line. Returns NULL if the line cannot be announced. */
struct trace_line *sync_object_check_mark(struct traced_thread *thread, struct sync_object *object);

static inline struct sync_object *_Atomic *sync_object_bucket(const void *address)
{
    uint64_t h = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;
    return &tracer.objects.buckets[h >> (64 - TRACER_OBJECT_BUCKET_BITS)];
}

/* Returns the object, or NULL if there is none. */
static inline struct sync_object *sync_object_find(const void *address, enum sync_object_kind kind)
{
    if (!atomic_load_explicit(&tracer.objects.count, memory_order_relaxed))
        return NULL; /* as where nothing is recorded */
    struct sync_object *o = atomic_load_explicit(sync_object_bucket(address), memory_order_acquire);
    while (o && (__atomic_load_n(&o->address, __ATOMIC_ACQUIRE) != address || o->kind != kind))
        o = atomic_load_explicit(&o->next, memory_order_relaxed);
    return o;
}

/* Returns the object, created if needed. */
struct sync_object *sync_object_add(const void *address, enum sync_object_kind kind);

/* Returns the object, created if needed, or NULL if the table is full. */
static inline struct sync_object *sync_object_get(const void *address, enum sync_object_kind kind)
{
    struct sync_object *o = sync_object_find(address, kind);
    return LIKELY(o) ? o : sync_object_add(address, kind);
}

/* Returns whether the object of a shared line was initialized again since, in this process or
 * another one. */
static inline bool trace_line_is_over(const struct trace_line *line)
{
    const _Atomic uint64_t *remote = atomic_load_explicit(&line->remote, memory_order_relaxed);
    return UNLIKELY(remote) &&
           COUNTER_LIFETIME(atomic_load_explicit(remote, memory_order_acquire)) !=
               atomic_load_explicit(&line->lifetime, memory_order_relaxed);
}

/* Replaces a line that is over by one of the object that is there now. Returns false if it cannot
 * be announced. */
bool sync_object_renew_line(struct traced_thread *thread, struct trace_line *line);

/* Returns the object's line, announced by the calling thread if needed; created: its first event
 * comes after the last event of the thread. Returns NULL if it cannot be announced. */
struct trace_line *sync_object_line(struct traced_thread *thread, struct sync_object *object,
                                    bool created);
void sync_object_destroy(const void *address, enum sync_object_kind kind);
/* Records that the calling thread is about to destroy an object, if that has a line; and marks its
 * memory so that a later use is found. */
void sync_object_record_destroy(const void *address, enum sync_object_kind kind, uintptr_t site);
/* Removes that mark, from an object that was initialized. */
void sync_object_forget_destroyed(const void *address, enum sync_object_kind kind);
void sync_object_renew(
    struct sync_object *object); /* From now on another object is at this address. */
/* Registers a new object, created by a call at `site`; it gets a line if that call is recorded. */
void sync_object_created(const void *address, enum sync_object_kind kind, uintptr_t site);

#pragma GCC visibility pop
#endif
