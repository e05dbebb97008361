/* Lifetime of a thread, and of the main thread of a process: begin and end. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/thread_lifetime.h"

#include "clients/libpoet/interpose/cancellation.h"
#include "clients/libpoet/interpose/child_process.h"
#include "clients/libpoet/interpose/thread_registry.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/fork_reset.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/thread_info.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/core/thread_usage.h"
#include "clients/libpoet/profile/region_owner.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_key_t end_key;
_Atomic bool untraced_threads_exist;

unsigned thread_lifetime_count(void) { return thread_registry_recorded(); }

/* ---- birth and end ---- */

struct traced_thread *thread_lifetime_begin(struct thread_info *task)
{
    struct traced_thread *t = thread_create_traced(task);
    if (t) {
        pthread_setspecific(end_key, t);
        cancellation_watch(t);
        task->tid = (pid_t)syscall(SYS_gettid);
        t->queue->tid = (uint32_t)task->tid;
        thread_registry_begin();
    } else if (atomic_load(&current_lifetime)) {
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
    bool recorded_here = t->life == atomic_load_explicit(&current_lifetime, memory_order_relaxed);
    busy_begin(t); /* events of a handler from here on come after its end */
    thread_usage_send(t, false);
    region_leave_calls(t);
    if (recorded_here)
        task->end = record_event(t, TYPE_EXIT, &task->line, 0, task->entry);
    task->dropped = recorded_here && !task->end;
    if (replay_active && recorded_here && thread_schedule_next_type(t, 0) == TYPE_CLOSE)
        thread_schedule_wait_bits(t, &task->flags, TASK_DETACHED);
    bool closed = atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED;
    thread_registry_end();
    if (closed && recorded_here)
        thread_lifetime_close(t, task, TYPE_CLOSE, task->entry);
    thread_end(t);
    if (closed) {
        thread_registry_unbind(task, pthread_self());
        thread_info_release(task);
    }
}

void thread_lifetime_at_end(void *p) { pthread_setspecific(end_key, p); }

void thread_lifetime_bind(struct thread_info *task, const pthread_t *id)
{
    thread_registry_bind(task, id);
}

void thread_lifetime_ended(struct thread_info *task)
{
    if (!(atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED))
        return;
    thread_registry_unbind(task, pthread_self());
    thread_info_release(task);
}

struct traced_thread *thread_lifetime_begin_thread(struct thread_info *task, const char *name)
{
    struct traced_thread *t = thread_lifetime_begin(task);
    if (!t)
        return NULL;
    thread_registry_bind_self(task);
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
    thread_registry_bind_self(task);
    task->entry = getauxval(AT_ENTRY);
    thread_lifetime_announce(t, "main", (void *)pthread_self(), 0);
    struct event_origin from = child_program_begin();
    if (replay_active && from.key)
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
}

struct traced_thread *thread_lifetime_begin_child(uint64_t high, uint64_t low)
{
    struct thread_info *task = thread_info_new(1);
    struct traced_thread *t = task ? thread_lifetime_begin(task) : NULL;
    if (!t)
        return NULL;
    thread_registry_bind_self(task);
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
    thread_usage_forked();
    thread_start_forked();
    thread_registry_forked();
    /* or the child's end would be recorded in the parent's queue */
    if (was_traced)
        pthread_setspecific(end_key, NULL);
    foreign_threads_forked();
    thread_forget(was_traced);
}
