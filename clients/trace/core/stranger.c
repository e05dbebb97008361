/* Threads whose creation is not recorded: those that libraries make, and the C library itself.  Such a
 * thread gets its line with its first call that is recorded, after what its creator did before; where its
 * creation did not pass through pthread_create or thrd_create, its start says that more may be before it. */
#define _GNU_SOURCE
#include "clients/trace/core/allowed.h"
#include "clients/trace/core/slots.h"
#include "clients/trace/core/stranger.h"

#include "clients/trace/calls/threads.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/cxx.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/runtime.h"
#include "clients/trace/core/task.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "wire/event.h"
#include "wire/script.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <threads.h>

/* Of the calling thread, as long as it has no line. */
static __thread struct {
    struct task *task; /* NULL: its creation was not seen */
    int rounds; /* of thread-specific data at its end */
    bool shut; /* it gets none: libpoet is at work, or the thread has ended */
    bool missed; /* more than is told is before its next event */
} mine __attribute__((tls_model("initial-exec")));

static _Atomic unsigned made; /* how many were created by calls that were seen */
static _Atomic bool begun; /* threads may get lines */

bool stranger_shut(bool shut)
{
    bool before = mine.shut;
    mine.shut = shut;
    return before;
}

void stranger_missed(void) { mine.missed = true; }

/* ---- its creation ---- */

/* What is known of the creator: its own events, or those of who created it. */
static void remember_creator(struct task *task)
{
    struct thread *t = thread_self();
    if (t) { /* what it did later is not in its queue, or is not recorded */
        task->after = slots_last(t);
        task->after_life = t->life;
        task->doubtful = t->doubt || t->lost_count || t->unnumbered;
    } else if (mine.task) {
        task->after = mine.task->after;
        task->after_life = mine.task->after_life;
    }
    task->doubtful |= !t && (!mine.task || mine.task->doubtful || mine.missed);
}

static void begin(struct task *task)
{
    mine.shut = true; /* what we call now is not recorded */
    mine.task = task;
    life_at_end((void *)((uintptr_t)task | STRANGER));
    pthread_t id = pthread_self();
    life_bind(task, &id);
    mine.shut = false;
}

static void *run(void *p)
{
    struct task *task = p;
    begin(task);
    mask_begun(task->mask);
    return task->function(task->argument);
}

static int run_c11(void *p)
{
    struct task *task = p;
    begin(task);
    mask_begun(task->mask);
    return task->function_c11(task->argument);
}

static struct task *new_task(bool detached)
{
    int saved = errno;
    thread_present(); /* a child that creates threads begins its life */
    bool wanted = atomic_load(&begun) && server_alive() && !thread_runtime();
    bool shut = stranger_shut(true);
    struct task *task = wanted ? task_new(2) : NULL;
    if (task)
        remember_creator(task);
    if (task)
        task->made = atomic_fetch_add(&made, 1) + 1;
    if (task && detached)
        atomic_store(&task->flags, TASK_DETACHED);
    stranger_shut(shut);
    errno = saved;
    return task;
}

int stranger_create(pthread_t *id, const pthread_attr_t *attributes, bool detached,
                    void *(*function)(void *), thrd_start_t function_c11, void *argument)
{
    struct task *task = new_task(detached);
    if (!task)
        return function ? real.create(id, attributes, function, argument)
                        : real.thrd_create(id, function_c11, argument);
    task->entry = function ? cxx_callable((uintptr_t)function, argument) : (uintptr_t)function_c11;
    task->function = function;
    task->function_c11 = function_c11;
    task->argument = argument;
    struct mask_new mask = task->mask = mask_hold_new(attributes);
    int result =
        function ? real.create(id, attributes, run, task) : real.thrd_create(id, run_c11, task);
    int saved = errno;
    mask_set(mask.before);
    if (result == 0)
        life_bind(task, id);
    else
        task_release(task); /* a life that never was */
    task_release(task);
    errno = saved;
    return result;
}

/* ---- its line ---- */

static void tell_start(struct thread *t, struct task *task)
{
    struct ref after = task->after_life == t->life ? task->after : (struct ref){0, 0};
    record_write(
        t,
        &(struct record){.shape = TYPE_START,
                         .flags = (uint16_t)((after.line ? RELATION_ORDER : RELATION_NONE) |
                                             (task->doubtful ? SLOT_DOUBT(UNSEEN_THREAD) : 0)),
                         .a = &task->line,
                         .take_a = 1,
                         .site = task->entry,
                         .partner = after},
        NULL);
}

/* The file of the library that made it; NULL: it is not known. */
static const char *library_of(const struct task *task)
{
    uintptr_t bias;
    const char *path = task->entry ? modules_path(task->entry, &bias) : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* How such threads get their work is the library's own affair. */
static void tell_library(const struct task *task)
{
    const char *file = library_of(task);
    char text[100];
    if (!file || runtime_is_followed(file))
        return;
    snprintf(text, sizeof text, "work for threads of %s", file);
    unseen_tell(UNSEEN_RUNTIME, text);
}

/* By which its part is known in a run that is repeated; 0: it will be given another one. */
static uint16_t known_as(const struct task *task, const char *name)
{
    const char *file = library_of(task);
    return file && runtime_is_followed(file) ? 0 : script_text(name, strlen(name));
}

/* A name that the thread has got, other than the program's, which all threads have at first. */
static void get_name(char name[16])
{
    if (!allowed(ALLOWED_QUEUES) || prctl(PR_GET_NAME, name) != 0 ||
        strncmp(name, program_invocation_short_name, 15) == 0)
        *name = 0;
}

static struct thread *adopt(void)
{
    struct task *task = mine.task ? mine.task : task_new(1);
    char name[16] = "";
    if (!task)
        return NULL;
    if (!mine.task)
        task->doubtful = true;
    task->doubtful |= mine.missed;
    get_name(name);
    if (!*name && task->made) /* the same one has the same name in each run */
        snprintf(name, sizeof name, "thread %u", task->made % 10000000);
    task->named = known_as(task, name);
    struct thread *t = life_begin_thread(task, name);
    if (!t) {
        if (!mine.task)
            task_release(task);
        return NULL;
    }
    t->rounds = mine.rounds;
    tell_start(t, task);
    busy_end(t);
    tell_library(task);
    mine.task = task;
    return t;
}

struct thread *thread_adopt_known(void) { return mine.task ? thread_adopt() : NULL; }

struct thread *thread_adopt(void)
{
    if (mine.shut || !atomic_load(&begun) || thread_runtime())
        return NULL;
    int saved = errno;
    mine.shut = true;
    struct thread *t = adopt();
    mine.shut = !t && server_alive(); /* what cannot be had is not asked for again */
    errno = saved;
    return t;
}

/* ---- its end ---- */

/* As the end of a thread with a line: in the last round, so that what the program's own destructors do can
 * still give it one. */
void stranger_end(void *p)
{
    if (++mine.rounds < LAST_ROUND) {
        life_at_end(p);
        return;
    }
    mine.shut = true;
    mine.task = NULL;
    life_ended((struct task *)((uintptr_t)p & ~STRANGER));
}

void strangers_begin(void) { atomic_store(&begun, true); }

/* In the child, whose task is another. */
void strangers_forked(void)
{
    if (mine.task)
        life_at_end(NULL);
    mine.task = NULL;
    mine.missed = true;
}
