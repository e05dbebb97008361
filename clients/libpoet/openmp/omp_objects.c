/* Lines of synchronization objects: found by kind and address. */
#include "clients/libpoet/openmp/omp_objects.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/openmp/omp_events.h"
#include "clients/libpoet/openmp/omp_runtime.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS 1024u

static const char *const kinds[] = {
    [OMP_OBJECT_REGION] = "region", [OMP_OBJECT_CRITICAL] = "critical", [OMP_OBJECT_LOCK] = "lock"};

struct
    /* stays, once created; a later object at the address takes it over */
    omp_object_entry {
    const void *object;
    enum omp_object_kind kind;
    struct omp_object_entry *next;
    _Atomic uint64_t high; /* of the lifetime in which its line was opened */
    _Atomic poet_line_t line;
    _Atomic unsigned inside; /* threads that have arrived and not left */
    unsigned depth;
};
static struct omp_object_entry *_Atomic buckets[BUCKETS];

static struct omp_object_entry *_Atomic *omp_object_bucket(enum omp_object_kind kind,
                                                           const void *object)
{
    return &buckets[key_mix((uintptr_t)object, kind) % BUCKETS];
}

static struct omp_object_entry *omp_object_find(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e =
        atomic_load_explicit(omp_object_bucket(kind, object), memory_order_acquire);
    while (e && (e->object != object || e->kind != kind))
        e = e->next;
    return e;
}

/* Two threads may create one object at the same time: both search again, so that one of them finds
 * the other's. */
static struct omp_object_entry *omp_object_create(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *_Atomic *at = omp_object_bucket(kind, object);
    struct omp_object_entry *new = calloc(1, sizeof *new), *found = NULL;
    if (!new)
        return NULL;
    new->object = object;
    new->kind = kind;
    new->next = atomic_load(at);
    do {
        found = omp_object_find(kind, object);
    } while (!found && !atomic_compare_exchange_weak(at, &new->next, new));
    if (found)
        free(new);
    return found ? found : new;
}

#define OPENING UINT64_MAX
#define LOOKS_MOST 10000u

/* One thread opens the line; the others wait for that, but with a bound: after a fork the opening
 * thread may not exist. */
static poet_line_t omp_object_open(struct omp_object_entry *e, uint64_t high, const char *name,
                                   const void *site)
{
    for (unsigned looks = 0;; looks++) {
        uint64_t before = atomic_load_explicit(&e->high, memory_order_acquire);
        if (before == high)
            return atomic_load(&e->line);
        if (before == OPENING && looks == LOOKS_MOST)
            return 0;
        if (before == OPENING)
            sched_yield();
        else if (atomic_compare_exchange_strong(&e->high, &before, OPENING))
            break;
    }
    event_type(EVENT_region); /* the environment is known before its kinds are used */
    poet_line_t line = poet_line_at(kinds[e->kind], name, e->object, 0, site);
    atomic_store(&e->line, line);
    atomic_store_explicit(&e->high, line ? high : 0, memory_order_release);
    return line;
}

poet_line_t omp_object_line(enum omp_object_kind kind, const void *object, const char *name,
                            const void *site)
{
    uint64_t high = omp_event_key_high();
    int saved = errno;
    struct omp_object_entry *e = high ? omp_object_find(kind, object) : NULL;
    if (high && !e)
        e = omp_object_create(kind, object);
    poet_line_t line = e ? omp_object_open(e, high, name, site) : 0;
    errno = saved;
    return line;
}

/* The object is destroyed or replaced: its line is not found any more. */
static void omp_object_forget(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    if (e) {
        e->depth = 0;
        atomic_store(&e->inside, 0);
        atomic_store(&e->high, 0);
    }
}

/* A thread arrives at the object. Returns whether another thread has arrived and not left. */
static bool omp_object_arrive(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    return e && atomic_fetch_add(&e->inside, 1) > 0;
}

/* A thread that arrived before it had a line was not counted. */
static void omp_object_depart(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    unsigned inside = e ? atomic_load(&e->inside) : 0;
    while (inside && !atomic_compare_exchange_weak(&e->inside, &inside, inside - 1))
        ;
}

/* The thread enters the line (not 0) after it has acquired the object; and leaves it before it
 * releases that. */
static void omp_object_enter(poet_line_t line, const void *site)
{
    if (line)
        poet_enter_at(line, event_type(EVENT_lock), event_type(EVENT_acquired), site);
}

static void omp_object_leave(enum omp_object_kind kind, const void *object, const void *site)
{
    poet_line_t line = omp_object_line(kind, object, "", site);
    if (line)
        poet_leave_at(line, event_type(EVENT_released), event_type(EVENT_unlock), site);
}

/* Returns how often the holder has acquired it, for nestable locks; only the holder may access it.
 * NULL: none yet. */
static unsigned *omp_object_depth(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    return e ? &e->depth : NULL;
}

/* ---- locks and critical sections ----
 *
 * One thread at a time holds each, or is in it. */

/* ---- critical sections, and atomic blocks that are implemented by a lock: each compiler has its
 * own calls ---- */

/* Called right before a call that may block, but only if the thread is not alone: it records a
 * request. */
static poet_line_t critical_section_arrive(const void *section, const char *name, const void *site)
{
    poet_line_t line = omp_object_line(OMP_OBJECT_CRITICAL, section, name, site);
    bool blocks = omp_object_arrive(OMP_OBJECT_CRITICAL, section);
    if (line && poet_replay_next_is(event_type(EVENT_acquire), blocks))
        event_record(EVENT_acquire, line, 0, site);
    if (line)
        poet_replay_wait_turn(line, event_type(EVENT_acquired));
    return line;
}

static const char unnamed, atomics; /* identify those that have no name */

#define SECTION(start, end, object, name)                                                          \
    API void start(void);                                                                          \
    API void start(void)                                                                           \
    {                                                                                              \
        void (*call)(void) = REAL(start, SITE, void, (void));                                      \
        poet_line_t line = critical_section_arrive(object, name, SITE);                            \
        if (call)                                                                                  \
            call();                                                                                \
        omp_object_enter(line, SITE);                                                              \
    }                                                                                              \
    API void end(void);                                                                            \
    API void end(void)                                                                             \
    {                                                                                              \
        void (*call)(void) = REAL(end, SITE, void, (void));                                        \
        omp_object_leave(OMP_OBJECT_CRITICAL, object, SITE);                                       \
        if (call)                                                                                  \
            call();                                                                                \
        omp_object_depart(OMP_OBJECT_CRITICAL, object);                                            \
    }
SECTION(GOMP_critical_start, GOMP_critical_end, &unnamed, "unnamed")
SECTION(GOMP_atomic_start, GOMP_atomic_end, &atomics, "atomic")

API void GOMP_critical_name_start(void **name);
API void GOMP_critical_name_start(void **name)
{
    void (*call)(void **) = REAL(GOMP_critical_name_start, SITE, void, (void **));
    poet_line_t line = critical_section_arrive(name, "", SITE);
    if (call)
        call(name);
    omp_object_enter(line, SITE);
}

API void GOMP_critical_name_end(void **name);
API void GOMP_critical_name_end(void **name)
{
    void (*call)(void **) = REAL(GOMP_critical_name_end, SITE, void, (void **));
    omp_object_leave(OMP_OBJECT_CRITICAL, name, SITE);
    if (call)
        call(name);
    omp_object_depart(OMP_OBJECT_CRITICAL, name);
}

typedef struct session source; /* a call site, as clang passes it */
API void __kmpc_critical(source *at, int32_t thread, void *name);
API void __kmpc_critical(source *at, int32_t thread, void *name)
{
    void (*call)(source *, int32_t, void *) =
        REAL(__kmpc_critical, SITE, void, (source *, int32_t, void *));
    poet_line_t line = critical_section_arrive(name, "", SITE);
    if (call)
        call(at, thread, name);
    omp_object_enter(line, SITE);
}

API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint);
API void __kmpc_critical_with_hint(source *at, int32_t thread, void *name, uint32_t hint)
{
    void (*call)(source *, int32_t, void *, uint32_t) =
        REAL(__kmpc_critical_with_hint, SITE, void, (source *, int32_t, void *, uint32_t));
    poet_line_t line = critical_section_arrive(name, "", SITE);
    if (call)
        call(at, thread, name, hint);
    omp_object_enter(line, SITE);
}

API void __kmpc_end_critical(source *at, int32_t thread, void *name);
API void __kmpc_end_critical(source *at, int32_t thread, void *name)
{
    void (*call)(source *, int32_t, void *) =
        REAL(__kmpc_end_critical, SITE, void, (source *, int32_t, void *));
    omp_object_leave(OMP_OBJECT_CRITICAL, name, SITE);
    if (call)
        call(at, thread, name);
    omp_object_depart(OMP_OBJECT_CRITICAL, name);
}

/* ---- locks: both runtimes have the same calls, and Fortran's end with _ ---- */

typedef void lock_call(void *lock);
typedef int test_call(void *lock);

static void omp_lock_begin(void *lock, const void *site)
{
    omp_object_forget(OMP_OBJECT_LOCK, lock);
    omp_object_line(OMP_OBJECT_LOCK, lock, "", site);
}

/* For a nestable lock only the outermost acquisition is recorded. */
static void omp_lock_acquired(void *lock, bool nests, poet_line_t line, const void *site)
{
    unsigned *depth = nests && line ? omp_object_depth(OMP_OBJECT_LOCK, lock) : NULL;
    if (!nests || (depth && (*depth)++ == 0))
        omp_object_enter(line, site);
}

/* The calls of one kind of lock. */
struct omp_lock_calls {
    lock_call *set, *unset;
    test_call *test;
};

/* Returns, for a nestable lock that the caller holds, the new nesting depth after acquiring it,
 * which is not an event and needs no request; 0: the caller does not hold it. */
static int omp_lock_inner_depth(void *lock, bool nests, const struct omp_lock_calls *real)
{
    int depth = nests && real->test && real->unset ? real->test(lock) : 0;
    if (depth == 1)
        real->unset(lock);
    return depth > 1 ? depth : 0;
}

/* In a replayed run: requested as recorded, and acquired in its turn. */
static void omp_lock_replay_acquire(void *lock, bool nests, poet_line_t line, bool requested,
                                    const struct omp_lock_calls *real, const void *site)
{
    if (omp_lock_inner_depth(lock, nests, real))
        return;
    if (requested)
        event_record(EVENT_acquire, line, 0, site);
    poet_replay_wait_turn(line, event_type(EVENT_acquired));
    if (real->set)
        real->set(lock);
}

/* A free lock is acquired by a try, so that only a thread that blocks records a request. */
static void omp_lock_acquire(void *lock, bool nests, struct omp_lock_calls real, const void *site)
{
    poet_line_t line = omp_object_line(OMP_OBJECT_LOCK, lock, "", site);
    int requested = line ? poet_replay_next_is(event_type(EVENT_acquire), -1) : -1;
    if (requested >= 0) {
        omp_lock_replay_acquire(lock, nests, line, requested, &real, site);
    } else if (!line || !real.test || !real.test(lock)) {
        if (line)
            event_record(EVENT_acquire, line, 0, site);
        if (real.set)
            real.set(lock);
    }
    omp_lock_acquired(lock, nests, line, site);
}

static void omp_lock_release(void *lock, bool nests, lock_call *call, const void *site)
{
    unsigned *depth = nests ? omp_object_depth(OMP_OBJECT_LOCK, lock) : NULL;
    if (!nests || (depth && *depth && --*depth == 0))
        omp_object_leave(OMP_OBJECT_LOCK, lock, site);
    if (call)
        call(lock);
}

#define TRIES_MOST 1000 /* a millisecond each */

/* In a replayed run: the recorded result. The previous holder releases it right after recording
 * that. */
static int omp_lock_replay_try(void *lock, bool nests, poet_line_t line, bool refused,
                               const struct omp_lock_calls *real)
{
    int result = omp_lock_inner_depth(lock, nests, real);
    if (result || refused || !real->test)
        return result;
    poet_replay_wait_turn(line, event_type(EVENT_acquired));
    for (int i = 0; i < TRIES_MOST && !(result = real->test(lock)); i++)
        syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL); /* no cancellation point */
    return result;
}

static int omp_lock_try(void *lock, bool nests, struct omp_lock_calls real, const void *site)
{
    poet_line_t line = omp_object_line(OMP_OBJECT_LOCK, lock, "", site);
    int refused = line ? poet_replay_next_is(event_type(EVENT_acquire_failed), -1) : -1;
    int result = refused >= 0 ? omp_lock_replay_try(lock, nests, line, refused, &real)
                 : real.test  ? real.test(lock)
                              : 0;
    if (result)
        omp_lock_acquired(lock, nests, line, site);
    else if (line)
        event_record(EVENT_acquire_failed, line, 0, site);
    return result;
}

#define CALL(type, name) ((type *)(uintptr_t)omp_runtime_function(REAL_##name, SITE))
#define CALLS(kind, _)                                                                             \
    (struct omp_lock_calls)                                                                        \
    {                                                                                              \
        .set = CALL(lock_call, omp_set_##kind##_), .unset = CALL(lock_call, omp_unset_##kind##_),  \
        .test = CALL(test_call, omp_test_##kind##_)                                                \
    }

/* Defines all calls of one kind of lock, for one language; hint: the argument of a hint. */
#define LOCK(kind, nests, _, hint)                                                                 \
    API lock_call omp_init_##kind##_, omp_destroy_##kind##_, omp_set_##kind##_,                    \
        omp_unset_##kind##_;                                                                       \
    API test_call omp_test_##kind##_;                                                              \
    API void omp_init_##kind##_with_hint##_(void *lock, hint how);                                 \
    API void omp_init_##kind##_with_hint##_(void *lock, hint how)                                  \
    {                                                                                              \
        void (*call)(void *, hint) =                                                               \
            REAL(omp_init_##kind##_with_hint##_, SITE, void, (void *, hint));                      \
        omp_lock_begin(lock, SITE);                                                                \
        if (call)                                                                                  \
            call(lock, how);                                                                       \
    }                                                                                              \
    API void omp_init_##kind##_(void *lock)                                                        \
    {                                                                                              \
        lock_call *call = CALL(lock_call, omp_init_##kind##_);                                     \
        omp_lock_begin(lock, SITE);                                                                \
        if (call)                                                                                  \
            call(lock);                                                                            \
    }                                                                                              \
    API void omp_destroy_##kind##_(void *lock)                                                     \
    {                                                                                              \
        lock_call *call = CALL(lock_call, omp_destroy_##kind##_);                                  \
        omp_object_forget(OMP_OBJECT_LOCK, lock);                                                  \
        if (call)                                                                                  \
            call(lock);                                                                            \
    }                                                                                              \
    API void omp_set_##kind##_(void *lock)                                                         \
    {                                                                                              \
        omp_lock_acquire(lock, nests, CALLS(kind, _), SITE);                                       \
    }                                                                                              \
    API void omp_unset_##kind##_(void *lock)                                                       \
    {                                                                                              \
        omp_lock_release(lock, nests, CALL(lock_call, omp_unset_##kind##_), SITE);                 \
    }                                                                                              \
    API int omp_test_##kind##_(void *lock)                                                         \
    {                                                                                              \
        return omp_lock_try(lock, nests, CALLS(kind, _), SITE);                                    \
    }
LOCK(lock, false, , int)
LOCK(nest_lock, true, , int)
LOCK(lock, false, _, void *)
LOCK(nest_lock, true, _, void *)
