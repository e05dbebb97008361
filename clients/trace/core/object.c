/* Objects by address. */
#define _GNU_SOURCE
#include "clients/trace/core/object.h"

#include "clients/trace/core/arena.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/forked.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/shared.h"
#include "clients/trace/core/task.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "wire/told.h"

#include <errno.h>
#include <stddef.h>
#include <stdatomic.h>
#include <sys/mman.h>

#if !defined(OBJECTS_MAX)
#define OBJECTS_MAX (1u << 23) /* beyond it objects are not traced, and that is told */
#endif

struct object *_Atomic object_buckets[OBJECT_BUCKETS];
_Atomic unsigned object_count;
static latch adding;

/* The call that wanted it is not recorded, and that is counted and told. */
static void *none_left(struct thread *t, const char *what)
{
    if (t && t->life == atomic_load(&live)) {
        thread_missed(t, UNSEEN_LOST);
        unseen_tell(UNSEEN_LOST, what);
    }
    return NULL;
}

/* The line of an object could not be announced.  What this hides is bounded: hidden.c follows the
 * calls that are missed, as those of code that is not recorded, and an event of a condition
 * variable needs no line.  That does not reach to other processes, nor to coroutines. */
static struct line *line_missed(struct thread *t, struct object *o)
{
    if (o->kind == OBJECT_COROUTINE || atomic_load_explicit(&o->line.far, memory_order_relaxed))
        return none_left(t, "the line of an object could not be announced");
    if (o->kind == OBJECT_CONDITION || t->life != atomic_load(&live))
        return NULL;
    atomic_store(&o->missed, true);
    thread_missed(t, UNSEEN_LINE);
    unseen_tell(UNSEEN_LINE, ""); /* it may record no more */
    return NULL;
}

/* One that was destroyed, or a new one in front.  Under the lock. */
static struct object *take_entry(struct object *_Atomic *bucket)
{
    struct object *first = atomic_load_explicit(bucket, memory_order_relaxed), *o = first;
    while (o && __atomic_load_n(&o->address, __ATOMIC_ACQUIRE))
        o = atomic_load_explicit(&o->next, memory_order_relaxed);
    if (o || atomic_load(&object_count) >= OBJECTS_MAX || (o = arena_take(sizeof *o)) == NULL)
        return o;
    *o = (struct object){.next = first};
    atomic_fetch_add(&object_count, 1);
    atomic_store_explicit(bucket, o, memory_order_release);
    return o;
}

struct object *object_add(const void *address, enum object_kind kind)
{
    latch_take(&adding);
    struct object *o = object_find(address, kind); /* another thread may have been faster */
    if (!o && (o = take_entry(object_bucket(address))) != NULL) {
        o->kind = kind;
        __atomic_store_n(&o->address, address, __ATOMIC_RELEASE);
    }
    latch_give(&adding);
    if (!o)
        none_left(thread_mine,
                  "there are more objects than can be followed, or there is no memory");
    return o;
}

static const struct {
    const char *name;
    bool shared;
} kinds[] = {[OBJECT_TASK] = {"task", false},          [OBJECT_MONITOR] = {"monitor", false},
             [OBJECT_CONDITION] = {"condition", true}, [OBJECT_SEMAPHORE] = {"semaphore", true},
             [OBJECT_SPIN] = {"spin", false},          [OBJECT_RWLOCK] = {"rwlock", true},
             [OBJECT_BARRIER] = {"barrier", true},     [OBJECT_ONCE] = {"once", true},
             [OBJECT_COROUTINE] = {"coroutine", false}};

/* What comes at that address is another one. */
static void end_life(struct thread *t, struct object *o)
{
    if (t && o->kind != OBJECT_COROUTINE) /* whose last event says it */
        line_close(t, &o->line);
    atomic_store_explicit(&o->line.number, 0, memory_order_relaxed);
    atomic_store_explicit(&o->line.index, 0, memory_order_release);
    o->visit++;
    o->held = false;
    atomic_store(&o->missed, false);
    atomic_store(&o->hidden, false);
    atomic_store(&o->counted, false);
    o->marked = false;
    o->entry = 0;
}

struct line *object_line(struct thread *thread, struct object *o, bool created)
{
    if (LIKELY(line_index(&o->line) && !line_is_over(&o->line)))
        return &o->line;
    busy_begin(thread); /* a handler may want the same one */
    latch_take(&o->opening);
    if (line_index(&o->line) && line_is_over(&o->line))
        end_life(NULL, o);
    if (!line_index(&o->line)) {
        bool unknown;
        uint64_t key = shared_key(o, &unknown), identity[2] = {key, SHARED_KEYS};
        uint32_t index = line_announce(thread, kinds[o->kind].name, "", o->address, o->entry,
                                       (kinds[o->kind].shared ? LINE_SHARED : 0u) |
                                           (created && !key ? LINE_FOLLOWS : 0u),
                                       key ? identity : NULL);
        if (unknown)
            thread_unfollowed(thread, UNSEEN_OBJECT);
        if (atomic_load_explicit(&o->line.life, memory_order_relaxed) != thread->life) {
            o->visit++; /* what was held is of an earlier life */
            o->held = false;
        }
        atomic_store_explicit(&o->line.number, 0, memory_order_relaxed);
        atomic_store_explicit(&o->line.script, 0, memory_order_relaxed);
        atomic_store_explicit(&o->line.life, thread->life, memory_order_relaxed);
        atomic_store_explicit(&o->line.index, index, memory_order_release);
    }
    latch_give(&o->opening);
    busy_end(thread);
    return line_index(&o->line) ? &o->line : line_missed(thread, o);
}

bool object_renew_line(struct thread *thread, struct line *line)
{
    return object_line(thread, (void *)((char *)line - offsetof(struct object, line)), false);
}

/* Who can tell of the end: a child after fork does not begin to record for that. */
static struct thread *recorder(void)
{
    struct thread *t = thread_self();
    return t && !t->busy && !t->off ? t : NULL;
}

/* Of the others somebody may still think: waiters on a condition, threads that found something initialised. */
static bool is_used_again(enum object_kind kind)
{
    return kind == OBJECT_MONITOR || kind == OBJECT_SPIN || kind == OBJECT_RWLOCK ||
           kind == OBJECT_SEMAPHORE || kind == OBJECT_BARRIER;
}

void object_destroy(const void *address, enum object_kind kind)
{
    struct object *o = object_find(address, kind);
    if (!o)
        return;
    end_life(recorder(), o);
    if (is_used_again(kind))
        __atomic_store_n(&o->address, NULL, __ATOMIC_RELEASE);
}

void object_renew(struct object *o) { end_life(recorder(), o); }

struct line *object_meet(struct thread *t, struct object *o)
{
    int saved = errno;
    latch_take(&o->opening);
    if (!object_is_marked(o)) { /* else another reader was faster */
        if (o->marked)
            end_life(t, o);
        o->marked = true;
        __atomic_store_n(object_mark(o->address, o->kind), object_mark_of(o->address),
                         __ATOMIC_RELAXED);
    }
    latch_give(&o->opening);
    struct line *line = object_line(t, o, false);
    errno = saved;
    return line;
}

void object_made(const void *address, enum object_kind kind, uintptr_t site)
{
    int saved = errno;
    object_destroy(address, kind); /* it may have been another's */
    struct thread *t = site ? thread_recording() : NULL;
    struct object *o = t ? object_get(address, kind) : NULL;
    if (o) {
        o->entry = site;
        o->begins = true;
        object_line(t, o, true);
    }
    if (!o || o->begins)
        shared_initialised(address, kind);
    errno = saved;
}

/* ---- tasks: used again once nobody looks at them ---- */

static latch task_lock;
static struct task *task_pool;

struct task *task_new(unsigned keepers)
{
    latch_take(&task_lock);
    struct task *task = task_pool;
    if (task)
        task_pool = task->free_next;
    latch_give(&task_lock);
    if (!task)
        task = arena_take(sizeof *task);
    if (task)
        *task = (struct task){.keepers = keepers};
    return task;
}

void task_release(struct task *task)
{
    if (atomic_fetch_sub(&task->keepers, 1) != 1)
        return;
    latch_take(&task_lock);
    task->free_next = task_pool;
    task_pool = task;
    latch_give(&task_lock);
}

/* The same for each object, before the child records anything. */
void objects_begin_child(void)
{
    for (size_t i = 0; i < OBJECT_BUCKETS; i++)
        for (struct object *o = atomic_load(&object_buckets[i]); o; o = atomic_load(&o->next)) {
            latch_reset(&o->opening);
            signals_begin_child(o);
        }
}

/* Locks that threads held which are not there any more; half-done changes are left behind. */
void objects_forked(void)
{
    arena_forked();
    latch_reset(&adding);
    latch_reset(&task_lock);
    task_pool = NULL;
}
