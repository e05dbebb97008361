/* The life of a thread, and of the first one of a process: it begins, and it ends. */
#define _GNU_SOURCE
#include "clients/trace/calls/threads.h"

#include "clients/trace/calls/cancel.h"
#include "clients/trace/calls/child.h"
#include "clients/trace/calls/roster.h"
#include "clients/trace/calls/start.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/forbid.h"
#include "clients/trace/core/forked.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/losses.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/task.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "clients/trace/core/usage.h"
#include "clients/trace/measure/region.h"
#include "wire/event.h"
#include "wire/slot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_key_t end_key;
_Atomic bool library_threads;

unsigned life_threads(void) { return roster_recorded(); }

/* ---- birth and end ---- */

struct thread *life_begin(struct task *task)
{
    struct thread *t = thread_make(task);
    if (t) {
        pthread_setspecific(end_key, t);
        cancel_watch(t);
        task->tid = (pid_t)syscall(SYS_gettid);
        t->queue->tid = (uint32_t)task->tid;
        roster_begin();
    } else if (atomic_load(&live)) {
        unseen_tell(UNSEEN_THREAD, "a thread for whose queue there was no memory, or no time");
    }
    return t;
}

/* The line of the thread itself, through its own queue.  Call while busy. */
static void announce(struct thread *t, const char *name, const void *object, uintptr_t entry)
{
    line_opened(&t->task->line, t, line_announce(t, "task", name, object, entry, 0, NULL));
    t->queue->thread = line_index(&t->task->line);
}

void life_close(struct thread *t, struct task *task, unsigned type, uintptr_t site)
{
    if (!line_index(&task->line))
        return;
    record_write(t,
                 &(struct record){.shape = (uint16_t)type,
                                  .flags = SLOT_CLOSES,
                                  .a = &task->line,
                                  .take_a = 1,
                                  .site = site},
                 NULL);
}

bool life_was(const struct task *task) { return task->end || task->dropped; }

static void finish(struct thread *t)
{
    struct task *task = t->task;
    stranger_shut(true);
    bool recorded_here = t->life == atomic_load_explicit(&live, memory_order_relaxed);
    busy_begin(t); /* what a handler does from here on comes after its end */
    usage_tell(t, false);
    if (recorded_here)
        task->end = record_event(t, TYPE_END, &task->line, 0, task->entry);
    task->dropped = recorded_here && !task->end;
    if (replays && recorded_here && part_type(t, 0) == TYPE_CLOSE)
        part_await_bits(t, &task->flags, TASK_DETACHED);
    bool closed = atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED;
    roster_end();
    if (closed && recorded_here)
        life_close(t, task, TYPE_CLOSE, task->entry);
    thread_end(t);
    if (closed) {
        roster_unbind(task, pthread_self());
        task_release(task);
    }
}

void life_at_end(void *p) { pthread_setspecific(end_key, p); }

void life_bind(struct task *task, const pthread_t *id) { roster_bind(task, id); }

void life_ended(struct task *task)
{
    if (!(atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED))
        return;
    roster_unbind(task, pthread_self());
    task_release(task);
}

struct thread *life_begin_thread(struct task *task, const char *name)
{
    struct thread *t = life_begin(task);
    if (!t)
        return NULL;
    roster_bind_self(task);
    announce(t, name, (void *)pthread_self(), task->entry);
    return t;
}

/* Runs in the rounds of thread-specific destructors; acts in the last one, so that
 * what the program's own destructors do is still seen. */
static void at_end(void *p)
{
    struct thread *t = p;
    if (forbid_quiet())
        return;
    if ((uintptr_t)p & STRANGER) {
        stranger_end(p);
        return;
    }
    if (++t->rounds < LAST_ROUND) {
        pthread_setspecific(end_key, t);
        return;
    }
    finish(t);
}

/* The keys of a round are gone through in their order: takes the last one of those for which threads need no
 * memory, so that in the last round, too, the program's own destructors come before. */
static void make_end_key(void)
{
    enum { LAST = 31, MOST = 64 };
    pthread_key_t others[MOST];
    unsigned count = 0;
    bool made = pthread_key_create(&end_key, at_end) == 0;
#ifdef __GLIBC__
    while (made && end_key < LAST && count < MOST) {
        others[count++] = end_key;
        made = pthread_key_create(&end_key, at_end) == 0;
    }
    if (count && (!made || end_key > LAST)) { /* others have that one: the last before it */
        if (made)
            pthread_key_delete(end_key);
        end_key = others[--count];
    }
#endif
    (void)made;
    while (count)
        pthread_key_delete(others[--count]);
}

void life_begin_main(void)
{
    usage_begin_main();
    make_end_key();
    strangers_begin();
    if (thread_runtime())
        return;
    struct task *task = task_new(1);
    struct thread *t = task ? life_begin(task) : NULL;
    if (!t) {
        live_exchange(0);
        return;
    }
    roster_bind_self(task);
    task->entry = getauxval(AT_ENTRY);
    announce(t, "main", (void *)pthread_self(), 0);
    struct origin from = child_begins();
    if (replays && from.key)
        replay_born(from.at.number);
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

struct thread *life_begin_child(uint64_t high, uint64_t low)
{
    struct task *task = task_new(1);
    struct thread *t = task ? life_begin(task) : NULL;
    if (!t)
        return NULL;
    roster_bind_self(task);
    task->entry = getauxval(AT_ENTRY);
    char name[32];
    snprintf(name, sizeof name, "main[%d]", (int)getpid());
    announce(t, name, (void *)pthread_self(), 0);
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
    note_recorded();
    busy_end(t);
    return t;
}

/* Traced again; what an earlier server did not take any more is in no trace, and said in this one. */
static void tell_on(struct thread *t)
{
    char text[80];
    int n = t->untaken
                ? snprintf(text, sizeof text, "%llu events before it were lost with the server",
                           (unsigned long long)t->untaken)
                : 0;
    record_write(t,
                 &(struct record){.shape = TYPE_ON,
                                  .flags = SLOT_DOUBT(UNSEEN_THREAD) | (n ? SLOT_TEXT : 0),
                                  .a = &t->task->line,
                                  .take_a = 1,
                                  .payload = text,
                                  .payload_bytes = (uint32_t)n},
                 NULL);
    t->untaken = 0;
}

/* What the thread held and lost was another server's. */
bool life_renew(struct thread *t)
{
    if (!t->task)
        return false; /* the program's own tasks were another server's, too */
    t->untaken += t->queue ? lost_untaken(t->queue, atomic_load(&t->queue->tail), t->head) : 0;
    t->untaken +=
        t->older ? lost_untaken(t->older, atomic_load(&t->older->tail), t->older_head) : 0;
    region_end(t);
    server_queue_done(t);
    if (!server_queue(t, QUEUE_WHOLE))
        return false; /* the next call tries again, once there is a server */
    t->head = t->tail = t->look_at = t->last_head = t->clock_gap = 0;
    t->last = (struct ref){0, 0};
    t->hold_count = t->lost_count = 0;
    t->strand = NULL;
    t->stalled = t->unnumbered = false;
    t->untold = 0;
    atomic_store(&t->task->line.number, 0);
    t->task->end = 0;
    announce(t, t->task->entry == getauxval(AT_ENTRY) ? "main" : "", (void *)pthread_self(),
             t->task->entry);
    tell_on(t);
    return true;
}

void life_end_main(void)
{
    struct thread *t = thread_base;
    if (!t && thread_runtime())
        usage_tell_process();
    if (!t)
        return;
    atomic_fetch_or(&t->task->flags, TASK_DETACHED);
    usage_tell(t, true);
    finish(t);
    lost_send();
}

void life_forked(bool was_traced)
{
    usage_forked();
    starts_forked();
    roster_forked();
    if (was_traced)
        pthread_setspecific(end_key,
                            NULL); /* or the child's end would be told in the parent's queue */
    strangers_forked();
    thread_forget(was_traced);
}
