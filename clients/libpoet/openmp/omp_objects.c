/* Lines of synchronization objects: found by kind and address. */
#include "clients/libpoet/openmp/omp_objects.h"

#include "clients/libpoet/key_mixing.h"
#include "clients/libpoet/openmp/omp_events.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

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

void omp_object_forget(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    if (e) {
        e->depth = 0;
        atomic_store(&e->inside, 0);
        atomic_store(&e->high, 0);
    }
}

bool omp_object_arrive(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    return e && atomic_fetch_add(&e->inside, 1) > 0;
}

/* A thread that arrived before it had a line was not counted. */
void omp_object_depart(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    unsigned inside = e ? atomic_load(&e->inside) : 0;
    while (inside && !atomic_compare_exchange_weak(&e->inside, &inside, inside - 1))
        ;
}

void omp_object_enter(poet_line_t line, const void *site)
{
    if (line)
        poet_enter_at(line, event_type(EVENT_lock), event_type(EVENT_acquired), site);
}

void omp_object_leave(enum omp_object_kind kind, const void *object, const void *site)
{
    poet_line_t line = omp_object_line(kind, object, "", site);
    if (line)
        poet_leave_at(line, event_type(EVENT_released), event_type(EVENT_unlock), site);
}

unsigned *omp_object_depth(enum omp_object_kind kind, const void *object)
{
    struct omp_object_entry *e = omp_object_find(kind, object);
    return e ? &e->depth : NULL;
}
