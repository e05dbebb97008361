/* Table of synchronization objects, by address. */
#define _GNU_SOURCE
#include "clients/libpoet/core/sync_object.h"

#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/shared_objects.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "wire/annotation_text.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <stddef.h>
#include <stdatomic.h>

#if !defined(OBJECTS_MAX)
#define OBJECTS_MAX (1u << 23) /* objects beyond this number are not traced, which is reported */
#endif

static latch sync_object_add_latch;

/* Reports and counts that the call that needed the object is not recorded. */
static void *sync_object_report_none_left(struct traced_thread *t, const char *what)
{
    if (t && t->life == atomic_load(&tracer.lifetime.number)) {
        thread_note_loss(t, UNTRACED_LOST);
        untraced_use_report(UNTRACED_LOST, what);
    }
    return NULL;
}

/* Handles an object after its line could not be announced. The effect is bounded: hidden_uses.c
 * tracks the missed calls like those of unrecorded code, and an event of a condition variable needs
 * no line. That does not extend to other processes, nor to coroutines. */
static struct trace_line *sync_object_line_missed(struct traced_thread *t, struct sync_object *o)
{
    if (o->kind == SYNC_COROUTINE || atomic_load_explicit(&o->line.remote, memory_order_relaxed))
        return sync_object_report_none_left(t, "the trace line of an object could not be created");
    if (o->kind == SYNC_CONDITION || t->life != atomic_load(&tracer.lifetime.number))
        return NULL;
    atomic_store(&o->missed, true);
    thread_note_loss(t, UNTRACED_LINE);
    untraced_use_report(UNTRACED_LINE, ""); /* it may not be able to record any more */
    return NULL;
}

/* Returns one that was destroyed, or a new one in front. Must hold the lock. */
static struct sync_object *sync_object_pop_free(struct sync_object *_Atomic *bucket)
{
    struct sync_object *first = atomic_load_explicit(bucket, memory_order_relaxed), *o = first;
    while (o && __atomic_load_n(&o->address, __ATOMIC_ACQUIRE))
        o = atomic_load_explicit(&o->next, memory_order_relaxed);
    if (o || atomic_load(&tracer.objects.count) >= OBJECTS_MAX ||
        (o = tracer_arena_alloc(sizeof *o)) == NULL)
        return o;
    *o = (struct sync_object){.next = first};
    atomic_fetch_add(&tracer.objects.count, 1);
    atomic_store_explicit(bucket, o, memory_order_release);
    return o;
}

struct sync_object *sync_object_add(const void *address, enum sync_object_kind kind)
{
    latch_lock(&sync_object_add_latch);
    struct sync_object *o =
        sync_object_find(address, kind); /* another thread may have been faster */
    if (!o && (o = sync_object_pop_free(sync_object_bucket(address))) != NULL) {
        o->kind = kind;
        __atomic_store_n(&o->address, address, __ATOMIC_RELEASE);
    }
    latch_unlock(&sync_object_add_latch);
    if (!o)
        sync_object_report_none_left(thread_mine, "too many objects to trace, or out of memory");
    return o;
}

static const struct {
    const char *name;
    bool shared;
} kinds[] = {[SYNC_TASK] = {"thread", false},        [SYNC_MUTEX] = {"mutex", false},
             [SYNC_CONDITION] = {"condvar", true},   [SYNC_SEMAPHORE] = {"semaphore", true},
             [SYNC_SPIN_LOCK] = {"spin", false},     [SYNC_RWLOCK] = {"rwlock", true},
             [SYNC_BARRIER] = {"barrier", true},     [SYNC_ONCE] = {"once", true},
             [SYNC_COROUTINE] = {"coroutine", false}};

/* From now on another object is at that address. */
static void sync_object_end_lifetime(struct traced_thread *t, struct sync_object *o)
{
    if (t && o->kind != SYNC_COROUTINE) /* its last event says so */
        trace_line_close(t, &o->line);
    atomic_store_explicit(&o->line.number, 0, memory_order_relaxed);
    atomic_store_explicit(&o->line.index, 0, memory_order_release);
    o->visit++;
    o->held = false;
    atomic_store(&o->missed, false);
    atomic_store(&o->hidden, false);
    atomic_store(&o->counted, false);
    atomic_store(&o->remarks, 0);
    o->marked = false;
    o->entry = 0;
}

/* Returns the last event on the object's line at the fork, if a thread of the parent held it then:
 * of its holder, or, of a read-write lock, of a thread that acquired or released it; number 0: no
 * thread did. */
static struct held_message sync_object_held_at_fork(const struct sync_object *o)
{
    bool held = __atomic_load_n(&o->held, __ATOMIC_RELAXED) && tracer.process.parent.life &&
                atomic_load(&o->line.life) == tracer.process.parent.life &&
                !atomic_load_explicit(&o->line.remote, memory_order_relaxed);
    return held ? (struct held_message){.instance = tracer.process.parent.instance,
                                        .code = atomic_load(&o->line.index),
                                        .number = atomic_load(&o->line.number)}
                : (struct held_message){0};
}

static void sync_object_report_held(struct traced_thread *t, uint32_t index,
                                    struct held_message held)
{
    uint8_t bytes[24];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    held.line = index;
    encode_held(&body, &held);
    if (index && held.number)
        message_queue_send(t, MESSAGE_HELD, &body);
}

/* ---- destroyed objects ---- */

#if defined(__GLIBC__) && __WORDSIZE == 64
/* Returns where a destroyed object is marked: in the mark of a read-write lock, or behind what the
 * C library uses of a semaphore or barrier. NULL: what the C library does with it shows it. */
static uint64_t *sync_object_destroyed_mark(const void *address, enum sync_object_kind kind)
{
    char *p = (char *)(uintptr_t)address;
    return kind == SYNC_RWLOCK                              ? sync_object_mark(address, kind)
           : kind == SYNC_SEMAPHORE || kind == SYNC_BARRIER ? (uint64_t *)(void *)(p + 24)
                                                            : NULL;
}

/* Returns whether the memory is that of an object that was destroyed, and not initialized since. */
static bool sync_object_is_destroyed(const void *address, enum sync_object_kind kind)
{
    const uint64_t *mark = sync_object_destroyed_mark(address, kind);
    if (kind == SYNC_MUTEX)
        return ((const pthread_mutex_t *)address)->__data.__kind == -1;
    if (kind == SYNC_CONDITION)
        return ((const pthread_cond_t *)address)->__data.__wrefs & 4;
    return mark && __atomic_load_n(mark, __ATOMIC_RELAXED) == ~sync_object_mark_value(address);
}

static void sync_object_mark_destroyed(const void *address, enum sync_object_kind kind)
{
    uint64_t *mark = sync_object_destroyed_mark(address, kind);
    if (mark)
        __atomic_store_n(mark, ~sync_object_mark_value(address), __ATOMIC_RELAXED);
}

void sync_object_forget_destroyed(const void *address, enum sync_object_kind kind)
{
    uint64_t *mark = sync_object_destroyed_mark(address, kind);
    if (mark && sync_object_is_destroyed(address, kind))
        __atomic_store_n(mark, 0, __ATOMIC_RELAXED);
}

/* Returns whether a thread holds the object or waits at it; of a condition variable that is not
 * known, since threads that were woken count as waiters until they run. */
static bool sync_object_is_in_use(const void *address, enum sync_object_kind kind)
{
    const unsigned *barrier = address; /* the number of arrivals, now and as the round began */
    if (kind == SYNC_MUTEX)
        return ((const pthread_mutex_t *)address)->__data.__nusers != 0;
    if (kind == SYNC_RWLOCK) {
        unsigned readers = ((const pthread_rwlock_t *)address)->__data.__readers;
        return readers >> 3 || readers & 2;
    }
    return kind == SYNC_SEMAPHORE ? *(const uint64_t *)address >> 32 != 0
                                  : kind == SYNC_BARRIER && barrier[0] != barrier[1];
}
#else
static bool sync_object_is_destroyed(const void *address, enum sync_object_kind kind)
{
    return address && kind && false;
}
static void sync_object_mark_destroyed(const void *address, enum sync_object_kind kind)
{
    (void)address, (void)kind;
}
void sync_object_forget_destroyed(const void *address, enum sync_object_kind kind)
{
    (void)address, (void)kind;
}
static bool sync_object_is_in_use(const void *address, enum sync_object_kind kind)
{
    return address && kind && false;
}
#endif

/* Returns the thread that records the end: a child after fork does not begin to record for that. */
static struct traced_thread *sync_object_recorder(void)
{
    struct traced_thread *t = thread_self();
    return t && !t->busy && !thread_is_off(t) ? t : NULL;
}

void sync_object_record_destroy(const void *address, enum sync_object_kind kind, uintptr_t site)
{
    struct traced_thread *t = site ? sync_object_recorder() : NULL;
    struct sync_object *o = t ? sync_object_find(address, kind) : NULL;
    if (!o || !trace_line_index(&o->line) ||
        atomic_load_explicit(&o->line.remote, memory_order_relaxed))
        return;
    int saved = errno;
    bool used = sync_object_is_in_use(address, kind);
    record_write(t,
                 &(struct record){.shape = TYPE_DESTROY,
                                  .flags = used ? SLOT_TEXT : 0,
                                  .a = thread_place(t),
                                  .take_a = 1,
                                  .about = trace_line_index(&o->line),
                                  .site = site,
                                  .payload = TEXT_IN_USE,
                                  .payload_bytes = used ? sizeof TEXT_IN_USE - 1 : 0},
                 NULL);
    sync_object_mark_destroyed(address, kind);
    errno = saved;
}

/* Records that a thread uses an object that was destroyed: its next event does. */
static void sync_object_record_reuse(struct traced_thread *t, const struct sync_object *o)
{
    if (!t->busy && sync_object_is_destroyed(o->address, o->kind) &&
        !atomic_load_explicit(&o->line.remote, memory_order_relaxed))
        record_event(t, TYPE_REUSE, thread_place(t), trace_line_index(&o->line), 0);
}

struct trace_line *sync_object_line(struct traced_thread *thread, struct sync_object *o,
                                    bool created)
{
    if (LIKELY(trace_line_index(&o->line) && !trace_line_is_over(&o->line)))
        return &o->line;
    busy_begin(thread); /* a handler may need the same one */
    latch_lock(&o->opening);
    if (trace_line_index(&o->line) && trace_line_is_over(&o->line))
        sync_object_end_lifetime(NULL, o);
    struct held_message held = sync_object_held_at_fork(o);
    uint32_t before = trace_line_index(&o->line);
    if (!trace_line_index(&o->line)) {
        struct shared_memory memory;
        uint64_t key = shared_object_key(o, &memory), identity[2] = {key, SHARED_KEYS};
        uint32_t index =
            trace_line_announce(thread, kinds[o->kind].name, "", o->address, o->entry,
                                (kinds[o->kind].shared ? LINE_SHARED : 0u) |
                                    (created && !key ? LINE_FOLLOWS : 0u) | memory.reach,
                                key ? identity : NULL);
        sync_object_report_held(thread, index, held);
        if (memory.unknown)
            thread_note_untraced(thread, UNTRACED_OBJECT);
        if (atomic_load_explicit(&o->line.life, memory_order_relaxed) != thread->life) {
            o->visit++; /* holds belong to an earlier lifetime */
            o->held = false;
        }
        atomic_store_explicit(&o->line.number, 0, memory_order_relaxed);
        atomic_store_explicit(&o->line.script, 0, memory_order_relaxed);
        atomic_store_explicit(&o->line.life, thread->life, memory_order_relaxed);
        atomic_store_explicit(&o->line.index, index, memory_order_release);
    }
    bool opened = trace_line_index(&o->line) != before;
    latch_unlock(&o->opening);
    busy_end(thread);
    if (opened && !created)
        sync_object_record_reuse(thread, o);
    return trace_line_index(&o->line) ? &o->line : sync_object_line_missed(thread, o);
}

bool sync_object_renew_line(struct traced_thread *thread, struct trace_line *line)
{
    return sync_object_line(thread, (void *)((char *)line - offsetof(struct sync_object, line)),
                            false);
}

/* Other kinds may still be referenced: by waiters on a condition variable, or by threads that found
 * an object initialized. */
static bool sync_object_is_reused(enum sync_object_kind kind)
{
    return kind == SYNC_MUTEX || kind == SYNC_SPIN_LOCK || kind == SYNC_RWLOCK ||
           kind == SYNC_SEMAPHORE || kind == SYNC_BARRIER;
}

void sync_object_destroy(const void *address, enum sync_object_kind kind)
{
    struct sync_object *o = sync_object_find(address, kind);
    if (!o)
        return;
    sync_object_end_lifetime(sync_object_recorder(), o);
    if (sync_object_is_reused(kind))
        __atomic_store_n(&o->address, NULL, __ATOMIC_RELEASE);
}

void sync_object_renew(struct sync_object *o)
{
    sync_object_end_lifetime(sync_object_recorder(), o);
}

struct trace_line *sync_object_check_mark(struct traced_thread *t, struct sync_object *o)
{
    int saved = errno;
    latch_lock(&o->opening);
    if (!sync_object_is_marked(o)) { /* else another reader was faster */
        if (o->marked)
            sync_object_end_lifetime(t, o);
        o->marked = true;
        __atomic_store_n(sync_object_mark(o->address, o->kind), sync_object_mark_value(o->address),
                         __ATOMIC_RELAXED);
    }
    latch_unlock(&o->opening);
    struct trace_line *line = sync_object_line(t, o, false);
    errno = saved;
    return line;
}

void sync_object_created(const void *address, enum sync_object_kind kind, uintptr_t site)
{
    int saved = errno;
    sync_object_destroy(address, kind); /* it may have been another object's */
    sync_object_forget_destroyed(address, kind);
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct sync_object *o = t ? sync_object_get(address, kind) : NULL;
    if (o) {
        o->entry = site;
        o->begins = true;
        sync_object_line(t, o, true);
    }
    if (!o || o->begins)
        shared_object_initialized(address, kind);
    errno = saved;
}

/* ---- after a fork ---- */

/* Resets each object, before the child records anything. */
void sync_objects_begin_child(void)
{
    for (size_t i = 0; i < TRACER_OBJECT_BUCKETS; i++)
        for (struct sync_object *o = atomic_load(&tracer.objects.buckets[i]); o;
             o = atomic_load(&o->next)) {
            latch_reset(&o->opening);
            condition_signals_begin_child(o);
        }
}

/* Resets locks that were held by threads that do not exist any more; half-done changes are
 * discarded. */
void sync_objects_forked(void)
{
    tracer_arena_forked();
    latch_reset(&sync_object_add_latch);
}
