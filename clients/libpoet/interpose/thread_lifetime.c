/* Lifetime of a thread, and of the main thread of a process: begin and end. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/thread_lifetime.h"

#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/thread_usage.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/sampling.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

/* ---- cancellation ----
 *
 * Events before pthread_cancel come before the cleanup handlers of the thread. Handlers run where
 * no interposed call is. But glibc, when it unwinds a thread, first runs what was pushed by the old
 * _pthread_cleanup_push and has a buffer that is not deeper than the frame that is left: a buffer
 * outside of the stack, if it is the newest one, runs before everything else. Each thread has one.
 * A newer handler must not see it as its predecessor (glibc would look for it in a chain that a
 * longjmp has cut), so it is removed and inserted again around each registration. */

/* Runs in a thread that is being unwound, before any other handler. */
static void cancellation_record_acted(void *unused)
{
    (void)unused;
    struct traced_thread *base = thread_base;
    if (!base || !base->task || base->cancellation.exiting || base->cancellation.recorded)
        return;
    base->cancellation.recorded = true;
    struct traced_thread *t = thread_recording();
    struct thread_info *task = base->task;
    if (!t)
        return;
    int saved = errno;
    latch_lock(&task->binding);
    struct cancel cancel = task->cancel;
    latch_unlock(&task->binding);
    bool certain = cancel.by && !cancel.several && cancel.life == t->life && cancel.at.line;
    record_write(t,
                 &(struct record){.shape = TYPE_CANCELLED,
                                  .flags = certain ? (uint16_t)RELATION_RECEIVE
                                                   : SLOT_DOUBT(UNTRACED_SIGNAL),
                                  .a = thread_place(t),
                                  .take_a = 1,
                                  .partner = certain ? cancel.at : (struct event_id){0, 0}},
                 NULL);
    errno = saved;
}

/* Returns the newest buffer of the thread. */
static struct _pthread_cleanup_buffer *cancellation_newest_buffer(void)
{
    struct _pthread_cleanup_buffer probe;
    real_functions.cleanup_push(&probe, cancellation_record_acted, NULL);
    real_functions.cleanup_pop(&probe, 0);
    return probe.__prev;
}

/* Sets up the calling thread so that its cancellation is noticed. */
static void cancellation_watch(struct traced_thread *t)
{
    if (real_functions.cleanup_push && real_functions.cleanup_pop && !cancellation_newest_buffer())
        real_functions.cleanup_push(&t->cancellation.cleanup, cancellation_record_acted, NULL);
}

#if !defined(POET_STATIC)
/* libpoet's buffer is not the newest while the program registers a handler. */
static void cancellation_register_handler(void (*call)(void *), void *buffer)
{
    struct traced_thread *t = thread_base;
    bool watched = t && real_functions.cleanup_push && real_functions.cleanup_pop;
    if (watched && cancellation_newest_buffer() == &t->cancellation.cleanup)
        real_functions.cleanup_pop(&t->cancellation.cleanup, 0);
    call(buffer);
    if (watched)
        cancellation_watch(t);
}

#define REGISTERS(name, member)                                                                    \
    __attribute__((visibility("default"))) void name(void *);                                      \
    void name(void *buffer)                                                                        \
    {                                                                                              \
        real_find();                                                                               \
        cancellation_register_handler(real_functions.member, buffer);                              \
    }
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif
REGISTERS(__pthread_register_cancel, register_cancel)
REGISTERS(__pthread_register_cancel_defer, register_cancel_defer)
#pragma GCC diagnostic pop
#endif

static void cancellation_record_cancel(struct traced_thread *t, struct thread_info *task,
                                       uintptr_t site)
{
    int cancelling; /* it may be called with asynchronous cancellation enabled */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    struct trace_line *place = t ? thread_place(t) : NULL;
    uint64_t number = !t ? 0
                         : record_write(t,
                                        &(struct record){.shape = TYPE_CANCEL,
                                                         .flags = RELATION_SEND,
                                                         .a = place,
                                                         .take_a = 1,
                                                         .about = trace_line_index(&task->line),
                                                         .site = site},
                                        NULL);
    latch_lock(&task->binding);
    struct cancel *c = &task->cancel;
    const void *by = t ? (const void *)t->own : (const void *)task;
    if (c->by && c->by != by)
        c->several = true;
    else if (!c->by)
        *c = (struct cancel){.by = by,
                             .at = {number ? trace_line_index(place) : 0, number},
                             .life = t ? t->life : NO_LIFE};
    latch_unlock(&task->binding);
    if (t)
        record_mark_nonempty();
    pthread_setcancelstate(cancelling, NULL);
}

ENTRY(int, pthread_cancel, (pthread_t id), id)
{
    real_find();
    int saved = errno;
    struct thread_info *task = thread_lifetime_find(id);
    if (task)
        cancellation_record_cancel(site ? thread_recording() : NULL, task, site);
    errno = saved;
    return real_functions.cancel(id);
}

/* This unwinds, too, but not because of a cancellation. */
static void cancellation_mark_exiting(void)
{
    if (thread_base)
        thread_base->cancellation.exiting = true;
}

ENTRY_LAST(pthread_exit, (void *result), result)
{
    (void)site;
    real_find();
    cancellation_mark_exiting();
    real_functions.exit(result);
    __builtin_unreachable();
}

ENTRY_LAST(thrd_exit, (int result), result)
{
    (void)site;
    real_find();
    cancellation_mark_exiting();
    real_functions.thrd_exit(result);
    __builtin_unreachable();
}

/* ---- threads by their ids ---- */

/* Called by the creator and by the thread itself. Whichever is first, the thread has not yet run
 * the program's code: *id is valid and its own. An entry left by a thread that has ended is
 * overwritten. */
void thread_lifetime_bind(struct thread_info *task, const pthread_t *id)
{
    latch_lock(&task->binding);
    if (!(atomic_fetch_or(&task->flags, TASK_BOUND) & TASK_BOUND)) {
        struct sync_object *entry = sync_object_get((void *)*id, SYNC_TASK);
        if (entry)
            atomic_store(&entry->task, task);
    }
    latch_unlock(&task->binding);
}

void thread_lifetime_bind_self(struct thread_info *task)
{
    pthread_t id = pthread_self();
    thread_lifetime_bind(task, &id);
}

/* By now another thread may have the id. */
void thread_lifetime_unbind(struct thread_info *task, pthread_t id)
{
    struct sync_object *entry = sync_object_find((void *)id, SYNC_TASK);
    if (entry)
        atomic_compare_exchange_strong(&entry->task, &(struct thread_info *){task}, NULL);
}

struct thread_info *thread_lifetime_find(pthread_t id)
{
    struct sync_object *entry = sync_object_find((void *)id, SYNC_TASK);
    return entry ? atomic_load(&entry->task) : NULL;
}

static pthread_key_t end_key;

/* ---- birth and end ---- */

struct traced_thread *thread_lifetime_begin(struct thread_info *task)
{
    struct traced_thread *t = thread_create_traced(task);
    if (t) {
        pthread_setspecific(end_key, t);
        cancellation_watch(t);
        task->tid = (pid_t)syscall(SYS_gettid);
        t->queue->tid = (uint32_t)task->tid;
        atomic_fetch_add(&tracer.threads.recorded, 1);
    } else if (atomic_load(&tracer.lifetime.number)) {
        untraced_use_report(UNTRACED_THREAD,
                            "a thread without an event queue (out of memory or timeout)");
    }
    return t;
}

/* Announces the thread's own line, through its own queue. Must be called while busy. */
static void thread_lifetime_announce(struct traced_thread *t, const char *name, const void *object,
                                     uintptr_t entry)
{
    trace_line_set_opened(&t->task->line, t,
                          trace_line_announce(t, "thread", name, object, entry, 0, NULL));
    t->queue->thread = trace_line_index(&t->task->line);
}

void thread_lifetime_close(struct traced_thread *t, struct thread_info *task, unsigned type,
                           uintptr_t site)
{
    if (!trace_line_index(&task->line))
        return;
    record_write(t,
                 &(struct record){.shape = (uint16_t)type,
                                  .flags = SLOT_CLOSES,
                                  .a = &task->line,
                                  .take_a = 1,
                                  .site = site},
                 NULL);
}

bool thread_lifetime_existed(const struct thread_info *task) { return task->end || task->dropped; }

static void thread_lifetime_finish(struct traced_thread *t)
{
    struct thread_info *task = t->task;
    foreign_thread_block(true);
    sampling_end(t);
    bool recorded_here =
        t->life == atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed);
    busy_begin(t); /* events of a handler from here on come after its end */
    thread_usage_send(t, false);
    region_leave_calls(t);
    if (recorded_here)
        task->end = record_event(t, TYPE_EXIT, &task->line, 0, task->entry);
    task->dropped = recorded_here && !task->end;
    if (recorded_here && thread_schedule_next_type(t, 0) == TYPE_CLOSE)
        thread_schedule_wait_bits(t, &task->flags, TASK_DETACHED);
    bool closed = atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED;
    atomic_fetch_sub(&tracer.threads.recorded, 1);
    if (closed && recorded_here)
        thread_lifetime_close(t, task, TYPE_CLOSE, task->entry);
    thread_end(t);
    if (closed) {
        thread_lifetime_unbind(task, pthread_self());
        thread_info_release(task);
    }
}

void thread_lifetime_at_end(void *p) { pthread_setspecific(end_key, p); }

void thread_lifetime_ended(struct thread_info *task)
{
    if (!(atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED))
        return;
    thread_lifetime_unbind(task, pthread_self());
    thread_info_release(task);
}

struct traced_thread *thread_lifetime_begin_thread(struct thread_info *task, const char *name)
{
    struct traced_thread *t = thread_lifetime_begin(task);
    if (!t)
        return NULL;
    thread_lifetime_bind_self(task);
    thread_lifetime_announce(t, name, (void *)pthread_self(), task->entry);
    return t;
}

/* Runs in the rounds of thread-specific destructors; acts in the last one, so that events of the
 * program's own destructors are recorded. */
static void thread_lifetime_key_destructor(void *p)
{
    struct traced_thread *t = p;
    if (seccomp_is_quiet())
        return;
    if ((uintptr_t)p & FOREIGN_THREAD_BIT) {
        foreign_thread_end(p);
        return;
    }
    if (++t->destructor_rounds < LAST_ROUND) {
        pthread_setspecific(end_key, t);
        return;
    }
    thread_lifetime_finish(t);
}

/* The keys of a round are processed in order: takes the last one of those that need no allocation,
 * so that in the last round, too, the program's own destructors run before. */
static void make_end_key(void)
{
    enum { LAST = 31, MOST = 64 };
    pthread_key_t others[MOST];
    unsigned count = 0;
    bool made = pthread_key_create(&end_key, thread_lifetime_key_destructor) == 0;
#ifdef __GLIBC__
    while (made && end_key < LAST && count < MOST) {
        others[count++] = end_key;
        made = pthread_key_create(&end_key, thread_lifetime_key_destructor) == 0;
    }
    /* other libraries have that one: the last before it */
    if (count && (!made || end_key > LAST)) {
        if (made)
            pthread_key_delete(end_key);
        end_key = others[--count];
    }
#endif
    (void)made;
    while (count)
        pthread_key_delete(others[--count]);
}

void thread_lifetime_begin_main(void)
{
    thread_usage_begin_main();
    make_end_key();
    foreign_threads_begin();
    if (thread_runtime())
        return;
    struct thread_info *task = thread_info_new(1);
    struct traced_thread *t = task ? thread_lifetime_begin(task) : NULL;
    if (!t) {
        current_lifetime_exchange(0);
        return;
    }
    thread_lifetime_bind_self(task);
    task->entry = getauxval(AT_ENTRY);
    thread_lifetime_announce(t, "main", (void *)pthread_self(), 0);
    struct event_origin from = child_program_begin();
    if (from.key)
        replay_program_begin(from.at.number);
    record_write(t,
                 &(struct record){.shape = TYPE_START,
                                  .flags = (uint16_t)((from.key ? RELATION_RECEIVE | SLOT_KEYED
                                                                : RELATION_NONE) |
                                                      SLOT_DOUBT(from.doubt)),
                                  .a = &task->line,
                                  .take_a = 1,
                                  .site = task->entry,
                                  .key = from.key,
                                  .partner = from.at,
                                  .count = from.key != 0},
                 NULL);
    busy_end(t);
    sampling_begin(t);
}

struct traced_thread *thread_lifetime_begin_child(uint64_t high, uint64_t low)
{
    struct thread_info *task = thread_info_new(1);
    struct traced_thread *t = task ? thread_lifetime_begin(task) : NULL;
    if (!t)
        return NULL;
    thread_lifetime_bind_self(task);
    task->entry = getauxval(AT_ENTRY);
    char name[32];
    snprintf(name, sizeof name, "main[%d]", (int)getpid());
    thread_lifetime_announce(t, name, (void *)pthread_self(), 0);
    record_write(
        t,
        &(struct record){.shape = TYPE_START,
                         .flags = high || low ? RELATION_RECEIVE | SLOT_KEYED : RELATION_NONE,
                         .a = &task->line,
                         .take_a = 1,
                         .site = task->entry,
                         .key = high,
                         .partner = {0, low}},
        NULL);
    record_mark_nonempty();
    busy_end(t);
    sampling_begin(t);
    return t;
}

/* ---- threads that are about to begin ---- */

static latch start_lock;
static struct thread_start *start_pool;

struct thread_start *thread_start_pop(void)
{
    latch_lock(&start_lock);
    struct thread_start *start = start_pool;
    if (start)
        start_pool = start->next;
    latch_unlock(&start_lock);
    return start ? start : tracer_arena_alloc(sizeof *start);
}

void thread_start_push(struct thread_start *start)
{
    latch_lock(&start_lock);
    start->next = start_pool;
    start_pool = start;
    latch_unlock(&start_lock);
}

/* Called in the child, where no thread is about to begin. */
static void thread_start_forked(void)
{
    start_pool = NULL;
    latch_reset(&start_lock);
}

/* ---- under another server, and the end of the process ---- */

/* Called when traced again: reports what an earlier server did not take, which is in no trace. */
static void thread_lifetime_send_state(struct traced_thread *t)
{
    char text[80];
    int n = t->untaken
                ? snprintf(text, sizeof text, "%llu earlier events lost when the server exited",
                           (unsigned long long)t->untaken)
                : 0;
    record_write(t,
                 &(struct record){.shape = TYPE_TRACING_ON,
                                  .flags = SLOT_DOUBT(UNTRACED_THREAD) | (n ? SLOT_TEXT : 0),
                                  .a = &t->task->line,
                                  .take_a = 1,
                                  .payload = text,
                                  .payload_bytes = (uint32_t)n},
                 NULL);
    t->untaken = 0;
}

/* The thread's holds and losses belonged to another server. */
bool thread_lifetime_renew(struct traced_thread *t)
{
    /* the program's own tasks belonged to another server, too */
    if (!t->task)
        return false;
    t->untaken +=
        t->queue ? lost_events_count_untaken(t->queue, atomic_load(&t->queue->tail), t->head) : 0;
    t->untaken += t->older_queue.queue
                      ? lost_events_count_untaken(t->older_queue.queue,
                                                  atomic_load(&t->older_queue.queue->tail),
                                                  t->older_queue.head)
                      : 0;
    sampling_end(t);
    region_end(t);
    server_queue_done(t);
    if (!server_queue_create(t, QUEUE_WHOLE))
        return false; /* the next call tries again, once there is a server */
    t->head = t->tail = t->server_check_at = t->last_head = t->cpu_clock.gap = 0;
    t->last = (struct event_id){0, 0};
    t->hold_stack.count = t->lost_events.count = 0;
    t->coroutine = NULL;
    t->stalled = t->lost_events.unnumbered = false;
    t->unreported = 0;
    atomic_store(&t->task->line.number, 0);
    t->task->end = 0;
    thread_lifetime_announce(t, t->task->entry == getauxval(AT_ENTRY) ? "main" : "",
                             (void *)pthread_self(), t->task->entry);
    thread_lifetime_send_state(t);
    return true;
}

void thread_lifetime_end_main(void)
{
    struct traced_thread *t = thread_base;
    if (!t && thread_runtime())
        thread_usage_send_process();
    if (!t)
        return;
    atomic_fetch_or(&t->task->flags, TASK_DETACHED);
    thread_usage_send(t, true);
    thread_lifetime_finish(t);
    lost_events_send();
}

void thread_lifetime_forked(bool was_traced)
{
    thread_infos_forked();
    thread_usage_forked();
    thread_start_forked();
    atomic_store(&tracer.threads.recorded, 0); /* no other thread exists */
    /* or the child's end would be recorded in the parent's queue */
    if (was_traced)
        pthread_setspecific(end_key, NULL);
    foreign_threads_forked();
    thread_forget(was_traced);
}
