/* A thread's life: found by its id, created, ended, joined, detached, named. */
#define _GNU_SOURCE
#include "clients/trace/calls/threads.h"

#include "clients/trace/calls/cancel.h"
#include "clients/trace/calls/child.h"
#include "clients/trace/calls/follow.h"
#include "clients/trace/core/arena.h"
#include "clients/trace/core/attach.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/cxx.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/forked.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/task.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "wire/event.h"
#include "wire/message.h"
#include "wire/slot.h"
#include "wire/told.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define FORK_KEYS 0xf0f0f0f0f0f0f0f0u /* apart from other keys of this process */

static pthread_key_t end_key;
static _Atomic unsigned threads;
_Atomic bool library_threads;

/* ---- threads by id ---- */

/* The creator and the thread itself both come here.  Whoever is first, the thread has not yet run the
 * program's code: *id is valid and its own.  An entry left by a thread that is gone is overwritten. */
static void bind_id(struct task *task, const pthread_t *id)
{
    latch_take(&task->binding);
    if (!(atomic_fetch_or(&task->flags, TASK_BOUND) & TASK_BOUND)) {
        struct object *entry = object_get((void *)*id, OBJECT_TASK);
        if (entry)
            atomic_store(&entry->task, task);
    }
    latch_give(&task->binding);
}

static void bind_self(struct task *task)
{
    pthread_t id = pthread_self();
    bind_id(task, &id);
}

/* By now the id may be another thread's. */
static void unbind_id(struct task *task, pthread_t id)
{
    struct object *entry = object_find((void *)id, OBJECT_TASK);
    if (entry)
        atomic_compare_exchange_strong(&entry->task, &(struct task *){task}, NULL);
}

static struct task *task_of(pthread_t id)
{
    struct object *entry = object_find((void *)id, OBJECT_TASK);
    return entry ? atomic_load(&entry->task) : NULL;
}

struct task *life_task(pthread_t id) { return task_of(id); }
unsigned life_threads(void) { return atomic_load(&threads); }

/* ---- birth and end ---- */

static struct thread *begin(struct task *task)
{
    struct thread *t = thread_make(task);
    if (t) {
        pthread_setspecific(end_key, t);
        cancel_watch(t);
        task->tid = (pid_t)syscall(SYS_gettid);
        atomic_fetch_add(&threads, 1);
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

static void task_close(struct thread *t, struct task *task, unsigned type, uintptr_t site)
{
    if (!line_index(&task->line))
        return;
    record_write(t, &(struct record){.shape = (uint16_t)type, .flags = SLOT_CLOSES,
                                     .a = &task->line, .take_a = 1, .site = site}, NULL);
}

/* Its line ends here, also where its end was dropped. */
static bool had_life(const struct task *task) { return task->end || task->dropped; }

static void finish(struct thread *t)
{
    struct task *task = t->task;
    stranger_shut(true);
    bool recorded_here = t->life == atomic_load_explicit(&live, memory_order_relaxed);
    busy_begin(t); /* what a handler does from here on comes after its end */
    if (recorded_here)
        task->end = record_event(t, TYPE_END, &task->line, 0, task->entry);
    task->dropped = recorded_here && !task->end;
    bool closed = atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED;
    atomic_fetch_sub(&threads, 1);
    if (closed && recorded_here)
        task_close(t, task, TYPE_CLOSE, task->entry);
    thread_end(t);
    if (closed) {
        unbind_id(task, pthread_self());
        task_release(task);
    }
}

void life_at_end(void *p) { pthread_setspecific(end_key, p); }

void life_bind(struct task *task, const pthread_t *id) { bind_id(task, id); }

void life_ended(struct task *task)
{
    if (!(atomic_fetch_or(&task->flags, TASK_ENDED) & TASK_DETACHED))
        return;
    unbind_id(task, pthread_self());
    task_release(task);
}

struct thread *life_begin_thread(struct task *task, const char *name)
{
    struct thread *t = begin(task);
    if (!t)
        return NULL;
    bind_self(task);
    announce(t, name, (void *)pthread_self(), task->entry);
    return t;
}

/* Runs in the rounds of thread-specific destructors; acts in the last one, so that
 * what the program's own destructors do is still seen. */
static void at_end(void *p)
{
    struct thread *t = p;
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
    make_end_key();
    strangers_begin();
    if (thread_runtime())
        return;
    struct task *task = task_new(1);
    struct thread *t = task ? begin(task) : NULL;
    if (!t) {
        atomic_store(&live, 0);
        return;
    }
    bind_self(task);
    task->entry = getauxval(AT_ENTRY);
    announce(t, "main", (void *)pthread_self(), 0);
    struct origin from = child_begins();
    record_write(t, &(struct record){
        .shape = TYPE_START,
        .flags = (uint16_t)((from.key ? RELATION_RECEIVE | SLOT_KEYED : RELATION_NONE) | SLOT_DOUBT(from.doubt)),
        .a = &task->line, .take_a = 1, .site = task->entry, .key = from.key, .partner = from.at,
        .count = from.key != 0}, NULL);
    busy_end(t);
}

struct thread *life_begin_child(uint64_t high, uint64_t low)
{
    struct task *task = task_new(1);
    struct thread *t = task ? begin(task) : NULL;
    if (!t)
        return NULL;
    bind_self(task);
    task->entry = getauxval(AT_ENTRY);
    char name[32];
    snprintf(name, sizeof name, "main[%d]", (int)getpid());
    announce(t, name, (void *)pthread_self(), 0);
    record_write(t, &(struct record){
        .shape = TYPE_START,
        .flags = high || low ? RELATION_RECEIVE | SLOT_KEYED : RELATION_NONE,
        .a = &task->line, .take_a = 1, .site = task->entry, .key = high, .partner = {0, low}}, NULL);
    note_recorded();
    busy_end(t);
    return t;
}

/* Traced again; what an earlier server did not take any more is in no trace, and said in this one. */
static void tell_on(struct thread *t)
{
    char text[80];
    int n = t->untaken ? snprintf(text, sizeof text, "%llu events before it were lost with the server",
                                  (unsigned long long)t->untaken)
                       : 0;
    record_write(t, &(struct record){.shape = TYPE_ON, .flags = SLOT_DOUBT(UNSEEN_THREAD) | (n ? SLOT_TEXT : 0),
                                     .a = &t->task->line, .take_a = 1, .payload = text,
                                     .payload_bytes = (uint32_t)n}, NULL);
    t->untaken = 0;
}

/* What the thread held and lost was another server's. */
bool life_renew(struct thread *t)
{
    if (!t->task)
        return false; /* the program's own tasks were another server's, too */
    t->untaken += t->queue ? record_untaken(t->queue, atomic_load(&t->queue->tail), t->head) : 0;
    t->untaken += t->older ? record_untaken(t->older, atomic_load(&t->older->tail), t->older_head) : 0;
    server_queue_done(t);
    if (!server_queue(t, QUEUE_WHOLE))
        return false; /* the next call tries again, once there is a server */
    t->head = t->tail = t->look_at = t->last_head = 0;
    t->last = (struct ref){0, 0};
    t->hold_count = t->lost_count = 0;
    t->strand = NULL;
    t->stalled = t->unnumbered = false;
    t->untold = 0;
    atomic_store(&t->task->line.number, 0);
    t->task->end = 0;
    announce(t, t->task->entry == getauxval(AT_ENTRY) ? "main" : "", (void *)pthread_self(), t->task->entry);
    tell_on(t);
    return true;
}

void life_end_main(void)
{
    struct thread *t = thread_base;
    if (!t)
        return;
    atomic_fetch_or(&t->task->flags, TASK_DETACHED);
    finish(t);
    lost_send();
}

struct start {
    void *(*function)(void *);
    thrd_start_t function_c11; /* or this one */
    void *argument;
    struct task *task;
    struct start *next;
};
static latch start_lock;
static struct start *start_pool;

static struct start *start_take(void)
{
    latch_take(&start_lock);
    struct start *start = start_pool;
    if (start)
        start_pool = start->next;
    latch_give(&start_lock);
    return start ? start : arena_take(sizeof *start);
}

static void start_put(struct start *start)
{
    latch_take(&start_lock);
    start->next = start_pool;
    start_pool = start;
    latch_give(&start_lock);
}

void life_forked(bool was_traced)
{
    start_pool = NULL;
    atomic_store(&threads, 0);
    latch_reset(&start_lock);
    if (was_traced)
        pthread_setspecific(end_key, NULL); /* or the child's end would be told in the parent's queue */
    strangers_forked();
    thread_forget(was_traced);
}

/* The id of a thread is known only once it runs. */
static void announce_object(struct thread *t, uint64_t object)
{
    uint8_t bytes[12];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_told_object(&body, &(struct told_object){line_index(&t->task->line), object});
    record_control(t, MESSAGE_OBJECT, &body);
}

static struct start begin_run(void *p)
{
    struct start start = *(struct start *)p;
    stranger_shut(true);
    start_put(p);
    bind_self(start.task);
    struct thread *t = line_index(&start.task->line) ? begin(start.task) : NULL;
    stranger_shut(false);
    if (t) {
        announce_object(t, (uint64_t)pthread_self());
        record_event(t, TYPE_START, &start.task->line, 0, start.task->entry);
        busy_end(t);
    }
    return start;
}

static void *run(void *p)
{
    struct start start = begin_run(p);
    return start.function(start.argument);
}

static int run_c11(void *p)
{
    struct start start = begin_run(p);
    return start.function_c11(start.argument);
}

static bool made_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

static int really_create(pthread_t *id, const pthread_attr_t *attributes, const struct start *start)
{
    return start->function ? real.create(id, attributes, start->function, start->argument)
                           : real.thrd_create(id, start->function_c11, start->argument);
}

/* Both kinds of success are 0. */
static int create(uintptr_t site, pthread_t *id, const pthread_attr_t *attributes,
                  const struct start *wanted)
{
    real_find();
    if (!site) {
        atomic_store(&library_threads, true);
        return stranger_create(id, attributes, made_detached(attributes), wanted->function,
                               wanted->function_c11, wanted->argument);
    }
    struct thread *t = !thread_runtime() ? thread_recording() : NULL;
    struct task *task = t ? task_new(2) : NULL;
    struct start *start = task ? start_take() : NULL;
    if (!start)
        return really_create(id, attributes, wanted);
    int saved = errno;
    task->entry = wanted->function ? cxx_callable((uintptr_t)wanted->function, wanted->argument)
                                   : (uintptr_t)wanted->function_c11;
    uint32_t index = line_announce(t, "task", "", NULL, task->entry, LINE_FOLLOWS, NULL);
    if (!index) { /* it did not fit: it has a line once it does something that is recorded */
        if (t->life == atomic_load(&live))
            record_dropped(t, 1);
        task_release(task);
        task_release(task);
        start_put(start);
        return stranger_create(id, attributes, made_detached(attributes), wanted->function, wanted->function_c11,
                               wanted->argument);
    }
    line_opened(&task->line, t, index);
    if (made_detached(attributes))
        atomic_store(&task->flags, TASK_DETACHED);
    record_event(t, TYPE_CREATE, &task->line, 0, site);
    note_recorded();
    *start = *wanted;
    start->task = task;
    errno = saved;
    int result = really_create(id, attributes,
                               &(struct start){.function = wanted->function ? run : NULL,
                                               .function_c11 = run_c11, .argument = start});
    saved = errno;
    if (result == 0) {
        bind_id(task, id);
    } else {
        task_close(t, task, TYPE_FAILED, site);
        task_release(task); /* a life that never was */
        start_put(start);
    }
    task_release(task);
    errno = saved;
    return result;
}

ENTRY(int, pthread_create,
      (pthread_t * id, const pthread_attr_t *attributes, void *(*function)(void *),
       void *argument),
      id, attributes, function, argument)
{
    return create(site, id, attributes, &(struct start){.function = function, .argument = argument});
}

ENTRY(int, thrd_create, (thrd_t * id, thrd_start_t function, void *argument), id, function, argument)
{
    return create(site, id, NULL, &(struct start){.function_c11 = function, .argument = argument});
}

/* What is after its end, which is not always known.  Who was never seen may have done anything. */
static uint16_t joined_flags(const struct task *task, uint32_t line)
{
    if (!task || (line && !task->end && !task->tid))
        return SLOT_DOUBT(UNSEEN_THREAD);
    if (line && !task->end)
        return SLOT_DOUBT(UNSEEN_LOST);
    return line ? RELATION_ORDER : RELATION_NONE;
}

/* What a join that succeeded adds to the picture. */
static void joined(struct thread *t, pthread_t id, struct task *task, uintptr_t site)
{
    uint32_t line = task ? line_index(&task->line) : 0;
    if (t && (task || !thread_runtime()))
        record_write(t, &(struct record){.shape = TYPE_JOINED,
                                         .flags = joined_flags(task, line),
                                         .a = thread_place(t),
                                         .take_a = 1,
                                         .about = line,
                                         .site = site,
                                         .partner = {line, line ? task->end : 0}}, NULL);
    if (!task)
        return;
    if (t && had_life(task))
        task_close(t, task, TYPE_CLOSE, site);
    unbind_id(task, id);
    task_release(task);
}

static void petition_join(struct thread *t, struct task *task, uintptr_t site)
{
    record_event(t, TYPE_JOIN, thread_place(t), task ? line_index(&task->line) : 0, site);
}

/* By a call that is not recorded, of a thread that may have none. */
static void joined_unrecorded(pthread_t id, struct task *task, uintptr_t site)
{
    int saved = errno;
    struct thread *t = line_index(&task->line) ? thread_present() : NULL;
    if (t)
        petition_join(t, task, site);
    else if (line_index(&task->line))
        stranger_missed();
    joined(t, id, task, site);
    errno = saved;
}

static void leave_wait(void *t) { ((struct thread *)t)->waiting--; }

static int really_join(pthread_t id, void **result, const clockid_t *clock,
                       const struct timespec *deadline)
{
    return clock      ? real.clockjoin(id, result, *clock, deadline)
           : deadline ? real.timedjoin(id, result, deadline)
                      : real.join(id, result);
}

int follow_join(uintptr_t site, pthread_t id, void **result, const clockid_t *clock,
                const struct timespec *deadline)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = task_of(id);
    if (!t) {
        int e = really_join(id, result, clock, deadline);
        if (e == 0 && task)
            joined_unrecorded(id, task, site);
        return e;
    }
    int saved = errno, e;
    petition_join(t, task, site);
    t->waiting++;
    pthread_cleanup_push(leave_wait, t);
    errno = saved;
    e = really_join(id, result, clock, deadline);
    saved = errno;
    pthread_cleanup_pop(1);
    if (e == 0)
        joined(t, id, task, site);
    else
        record_event(t, TYPE_REFUSED_JOIN, thread_place(t), 0, site);
    errno = saved;
    return e;
}

ENTRY(int, pthread_join, (pthread_t id, void **result), id, result)
{
    return follow_join(site, id, result, NULL, NULL);
}

ENTRY(int, pthread_timedjoin_np, (pthread_t id, void **result, const struct timespec *deadline),
      id, result, deadline)
{
    return follow_join(site, id, result, NULL, deadline);
}

ENTRY(int, pthread_clockjoin_np,
      (pthread_t id, void **result, clockid_t clock, const struct timespec *deadline), id, result,
      clock, deadline)
{
    return follow_join(site, id, result, &clock, deadline);
}

ENTRY(int, pthread_tryjoin_np, (pthread_t id, void **result), id, result)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = task_of(id);
    int e = real.tryjoin(id, result);
    if (e == 0 && t) {
        int saved = errno;
        petition_join(t, task, site);
        joined(t, id, task, site);
        errno = saved;
    } else if (e == 0 && task) {
        joined_unrecorded(id, task, site);
    }
    return e;
}

int follow_detach(uintptr_t site, pthread_t id)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = task_of(id);
    int saved = errno;
    if (t && task && line_index(&task->line))
        record_event(t, TYPE_DETACH, thread_place(t), line_index(&task->line), site);
    if (task && (atomic_fetch_or(&task->flags, TASK_DETACHED) & TASK_ENDED)) {
        if (t && had_life(task))
            task_close(t, task, TYPE_CLOSE, site);
        unbind_id(task, id);
        task_release(task);
    }
    errno = saved;
    return real.detach(id);
}

ENTRY(int, pthread_detach, (pthread_t id), id) { return follow_detach(site, id); }

ENTRY(int, pthread_setname_np, (pthread_t id, const char *name), id, name)
{
    real_find();
    int e = real.setname(id, name);
    struct thread *t = thread_present();
    struct task *task = t ? task_of(id) : NULL;
    int saved = errno;
    if (e == 0 && task && line_index(&task->line))
        line_rename(t, &task->line, name);
    errno = saved;
    (void)site;
    return e;
}

/* ---- fork ---- */

/* A message to the child, which receives it when it begins to record.  Where it does not fit
 * there is none, or the child would wait for it. */
static pid_t follow_fork(uintptr_t site, pid_t (*call)(void), bool runs_handlers)
{
    struct thread *t = site ? thread_recording() : NULL;
    static _Atomic uint64_t serial;
    int saved = errno;
    uint64_t low = t ? child_serial() : 0, high = low ? CHILD_KEYS : instance ^ FORK_KEYS;
    if (t && !low)
        low = atomic_fetch_add(&serial, 1) + 1;
    uint64_t number =
        t ? record_write(t, &(struct record){.shape = TYPE_FORK, .flags = RELATION_SEND | SLOT_KEYED,
                                             .a = thread_place(t), .take_a = 1, .site = site,
                                             .key = high, .partner = {0, low}, .count = 1}, NULL)
          : 0;
    bool told = number && !t->lost_count;
    attach_forking(told ? high : 0, told ? low : 0);
    errno = saved;
    pid_t child = call();
    saved = errno;
    if (child == 0 && !runs_handlers)
        attach_forked();
    if (child != 0)
        attach_forking(0, 0); /* the next one may come from where we do not see it */
    errno = saved;
    return child;
}

ENTRY_NONE(pid_t, fork)
{
    real_find();
    return follow_fork(site, real.fork, true);
}

ENTRY_NONE(pid_t, _Fork)
{
    real_find();
    return follow_fork(site, real._Fork, false);
}
