/* Uses of the program's objects by code that is not recorded, such as a library without -trace, and
 * by calls that are not recorded since the object's line could not be announced. These calls pass
 * through libpoet, but are not in the trace. Their order is hidden: a recorded thread that acquires
 * an object after a hidden release, and a recorded thread that acquires the object in code that is
 * not recorded, may have more predecessors than are recorded. Its next record says so. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/hidden_uses.h"

#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer.h"

#include <errno.h>
#include <stdatomic.h>

#define SEVERAL UINT32_MAX /* in the place of a line: more than one thread */

struct sync_object *hidden_use_object(const void *address, enum sync_object_kind kind)
{
    struct sync_object *o = sync_object_find(address, kind);
    /* another object was created at this address */
    if (o && o->marked && !sync_object_is_marked(o))
        return NULL;
    if (o && atomic_load_explicit(&o->line.index, memory_order_relaxed))
        return o;
    if (o && atomic_load(&o->missed))
        return o;
    if (!atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed) ||
        !modules_program_data((uintptr_t)address))
        return NULL;
    int saved = errno;
    o = sync_object_get(address, kind);
    errno = saved;
    return o;
}

/* Returns the line of the calling thread, 0 if it has none. */
static uint32_t hidden_use_self(void)
{
    const struct traced_thread *t = thread_self();
    return t ? trace_line_index(t->own) : 0;
}

void hidden_use_release(struct sync_object *o)
{
    uint32_t self = hidden_use_self();
    uint32_t by = atomic_load_explicit(&o->hidden_by, memory_order_relaxed);
    bool joins = o->hidden && by != self;
    atomic_store_explicit(&o->hidden_by, self && !joins ? self : SEVERAL, memory_order_relaxed);
    o->hidden_visit = o->visit;
    atomic_store(&o->hidden, true);
}

/* Returns the reason why uses of it are not recorded. */
static uint8_t hidden_use_reason(const struct sync_object *o)
{
    return atomic_load(&o->missed) ? UNTRACED_LINE : UNTRACED_CALL;
}

void hidden_use_mark_uncertain(const struct sync_object *o)
{
    struct traced_thread *t = thread_self();
    if (!t)
        foreign_thread_note_missed();
    else if (!t->untraced_reason)
        t->untraced_reason = hidden_use_reason(o);
}

static bool hidden_use_is_new(const struct sync_object *o)
{
    return !atomic_load(&o->hidden) && !o->visit && !trace_line_index(&o->line);
}

void hidden_use_acquire(struct sync_object *o)
{
    if (!hidden_use_is_new(o))
        hidden_use_mark_uncertain(o);
}

void hidden_use_acquire_exclusive(struct sync_object *o)
{
    uint32_t self = hidden_use_self();
    bool again = self && atomic_load(&o->hidden_by) == self && o->hidden_visit == o->visit;
    if (!again)
        hidden_use_acquire(o);
    o->visit++;
    o->hidden_visit = o->visit;
    atomic_store(&o->hidden_by, self ? self : SEVERAL);
}

void hidden_use_check_acquired(struct sync_object *o, struct traced_thread *t, bool alone)
{
    if (atomic_load(&o->hidden_by) != trace_line_index(t->own) && !t->untraced_reason)
        t->untraced_reason = hidden_use_reason(o);
    if (alone)
        atomic_store(&o->hidden, false);
}

/* ---- units of semaphores ---- */

void hidden_use_set_units(sem_t *s, unsigned value)
{
    struct sync_object *o = sync_object_find(s, SYNC_SEMAPHORE);
    if (!o || atomic_load(&o->line.remote))
        return;
    atomic_store(&o->units, (int64_t)value);
    atomic_store(&o->counted, true);
}

void hidden_use_add_units(struct sync_object *o, int units)
{
    if (atomic_load_explicit(&o->counted, memory_order_relaxed))
        atomic_fetch_add(&o->units, units);
}

bool hidden_use_consume_unit(struct sync_object *o)
{
    if (!atomic_load_explicit(&o->counted, memory_order_relaxed) ||
        atomic_fetch_sub(&o->units, 1) > 0)
        return false;
    atomic_fetch_add(&o->units, 1);
    return true;
}
