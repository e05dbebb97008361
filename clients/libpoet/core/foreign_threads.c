/* Threads without a recorded creation: those of libraries, and of the C library itself. Such a
 * thread gets its line with its first recorded call, after the last event of its creator before the
 * creation; if its creation did not pass through pthread_create or thrd_create, its start event is
 * marked as uncertain. */
#define _GNU_SOURCE
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/seccomp_allowed.h"

#include "clients/libpoet/core/cxx_runtime.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/profile/sampling.h"
#include "wire/event_types.h"
#include "wire/replay_schedule.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <threads.h>

/* State of the calling thread, as long as it has no line. */
static __thread struct {
    struct thread_info *task; /* NULL: its creation was not noticed */
    int rounds; /* of destructors of thread-specific data at its end */
    bool shut; /* it must not get a line: libpoet is running, or the thread has ended */
    bool missed; /* its next event may have more predecessors than are recorded */
} foreign_thread_mine __attribute__((tls_model("initial-exec")));

static _Atomic unsigned foreign_thread_count; /* how many were created by calls that were noticed */
static _Atomic bool foreign_threads_may_begin; /* threads may get lines */

bool foreign_thread_block(bool shut)
{
    bool before = foreign_thread_mine.shut;
    foreign_thread_mine.shut = shut;
    return before;
}

void foreign_thread_note_missed(void) { foreign_thread_mine.missed = true; }

/* ---- its creation ---- */

/* Sets what is known of the creator: its own last event, or that of its own creator. */
static void foreign_thread_set_creator(struct thread_info *task)
{
    struct traced_thread *t = thread_self();
    if (t) { /* its later events are not in its queue, or are not recorded */
        task->after = ring_slots_last(t);
        task->after_life = t->life;
        task->doubtful = t->untraced_reason || t->lost_events.count || t->lost_events.unnumbered;
    } else if (foreign_thread_mine.task) {
        task->after = foreign_thread_mine.task->after;
        task->after_life = foreign_thread_mine.task->after_life;
    }
    task->doubtful |= !t && (!foreign_thread_mine.task || foreign_thread_mine.task->doubtful ||
                             foreign_thread_mine.missed);
}

static void foreign_thread_begin(struct thread_info *task)
{
    foreign_thread_mine.shut = true; /* calls from here on are not recorded */
    foreign_thread_mine.task = task;
    thread_lifetime_at_end((void *)((uintptr_t)task | FOREIGN_THREAD_BIT));
    pthread_t id = pthread_self();
    thread_lifetime_bind(task, &id);
    foreign_thread_mine.shut = false;
}

static void *foreign_thread_run(void *p)
{
    struct thread_info *task = p;
    foreign_thread_begin(task);
    mask_begun(task->mask);
    return task->function(task->argument);
}

static int foreign_thread_run_c11(void *p)
{
    struct thread_info *task = p;
    foreign_thread_begin(task);
    mask_begun(task->mask);
    return task->function_c11(task->argument);
}

static struct thread_info *foreign_thread_new_info(bool detached)
{
    int saved = errno;
    thread_present(); /* a child that creates threads begins its lifetime */
    bool wanted = atomic_load(&foreign_threads_may_begin) && server_alive() && !thread_runtime();
    bool shut = foreign_thread_block(true);
    struct thread_info *task = wanted ? thread_info_new(2) : NULL;
    if (task)
        foreign_thread_set_creator(task);
    if (task)
        task->made = atomic_fetch_add(&foreign_thread_count, 1) + 1;
    if (task && detached)
        atomic_store(&task->flags, TASK_DETACHED);
    foreign_thread_block(shut);
    errno = saved;
    return task;
}

int foreign_thread_create(pthread_t *id, const pthread_attr_t *attributes, bool detached,
                          void *(*function)(void *), thrd_start_t function_c11, void *argument)
{
    struct thread_info *task = foreign_thread_new_info(detached);
    if (!task)
        return function ? real_functions.create(id, attributes, function, argument)
                        : real_functions.thrd_create(id, function_c11, argument);
    task->entry = function ? cxx_callable((uintptr_t)function, argument) : (uintptr_t)function_c11;
    task->function = function;
    task->function_c11 = function_c11;
    task->argument = argument;
    struct mask_new mask = task->mask = mask_hold_new(attributes);
    int result = function ? real_functions.create(id, attributes, foreign_thread_run, task)
                          : real_functions.thrd_create(id, foreign_thread_run_c11, task);
    int saved = errno;
    mask_set(mask.before);
    if (result == 0)
        thread_lifetime_bind(task, id);
    /* a lifetime that never began */
    else
        thread_info_release(task);
    thread_info_release(task);
    errno = saved;
    return result;
}

/* ---- its line ---- */

static void foreign_thread_record_start(struct traced_thread *t, struct thread_info *task)
{
    struct event_id after = task->after_life == t->life ? task->after : (struct event_id){0, 0};
    record_write(
        t,
        &(struct record){.shape = TYPE_START,
                         .flags = (uint16_t)((after.line ? RELATION_ORDER : RELATION_NONE) |
                                             (task->doubtful ? SLOT_DOUBT(UNTRACED_THREAD) : 0)),
                         .a = &task->line,
                         .take_a = 1,
                         .site = task->entry,
                         .partner = after},
        NULL);
}

/* Returns the file of the library that created it; NULL: not known. */
static const char *foreign_thread_get_library(const struct thread_info *task)
{
    uintptr_t bias;
    const char *path = task->entry ? modules_path(task->entry, &bias) : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Reports that the library hands over work to its threads in ways that are not traced. */
static void foreign_thread_report_library(const struct thread_info *task)
{
    const char *file = foreign_thread_get_library(task);
    char text[100];
    if (!file || untraced_runtime_is_traced(file))
        return;
    snprintf(text, sizeof text, "work passed to threads of %s", file);
    untraced_use_report(UNTRACED_RUNTIME, text);
}

/* Returns the name by which its schedule is found in a replayed run; 0: it will get another one. */
static uint16_t foreign_thread_get_known_name(const struct thread_info *task, const char *name)
{
    const char *file = foreign_thread_get_library(task);
    return file && untraced_runtime_is_traced(file) ? 0 : schedule_text_hash(name, strlen(name));
}

/* Gets a name that was given to the thread, other than the program's, which all threads have at
 * first. */
static void foreign_thread_get_name(char name[16])
{
    if (!seccomp_allows(ALLOWED_QUEUES) || prctl(PR_GET_NAME, name) != 0 ||
        strncmp(name, program_invocation_short_name, 15) == 0)
        *name = 0;
}

static struct traced_thread *foreign_thread_adopt(void)
{
    struct thread_info *task =
        foreign_thread_mine.task ? foreign_thread_mine.task : thread_info_new(1);
    char name[16] = "";
    if (!task)
        return NULL;
    if (!foreign_thread_mine.task)
        task->doubtful = true;
    task->doubtful |= foreign_thread_mine.missed;
    foreign_thread_get_name(name);
    if (!*name && task->made) /* the same thread has the same name in each run */
        snprintf(name, sizeof name, "thread %u", task->made % 10000000);
    task->named = foreign_thread_get_known_name(task, name);
    struct traced_thread *t = thread_lifetime_begin_thread(task, name);
    if (!t) {
        if (!foreign_thread_mine.task)
            thread_info_release(task);
        return NULL;
    }
    t->destructor_rounds = foreign_thread_mine.rounds;
    foreign_thread_record_start(t, task);
    busy_end(t);
    sampling_begin(t);
    foreign_thread_report_library(task);
    foreign_thread_mine.task = task;
    return t;
}

struct traced_thread *thread_adopt_known(void)
{
    return foreign_thread_mine.task ? thread_adopt() : NULL;
}

struct traced_thread *thread_adopt(void)
{
    if (foreign_thread_mine.shut || !atomic_load(&foreign_threads_may_begin) || thread_runtime())
        return NULL;
    int saved = errno;
    foreign_thread_mine.shut = true;
    struct traced_thread *t = foreign_thread_adopt();
    foreign_thread_mine.shut = !t && server_alive(); /* not tried again if it failed */
    errno = saved;
    return t;
}

/* ---- its end ---- */

/* Like the end of a thread with a line: in the last round, so that the program's own destructors
 * can still give it one. */
void foreign_thread_end(void *p)
{
    if (++foreign_thread_mine.rounds < LAST_ROUND) {
        thread_lifetime_at_end(p);
        return;
    }
    foreign_thread_mine.shut = true;
    foreign_thread_mine.task = NULL;
    thread_lifetime_ended((struct thread_info *)((uintptr_t)p & ~FOREIGN_THREAD_BIT));
}

void foreign_threads_begin(void) { atomic_store(&foreign_threads_may_begin, true); }

/* Called in the child, which is another task. */
void foreign_threads_forked(void)
{
    if (foreign_thread_mine.task)
        thread_lifetime_at_end(NULL);
    foreign_thread_mine.task = NULL;
    foreign_thread_mine.missed = true;
}
