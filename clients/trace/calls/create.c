/* Threads that are created. */
#define _GNU_SOURCE
#include "clients/trace/calls/roster.h"
#include "clients/trace/calls/start.h"
#include "clients/trace/calls/threads.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/cxx.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/runtime.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/task.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "wire/message.h"
#include "wire/told.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>

/* The id of a thread is known only once it runs. */
static void announce_object(struct thread *t, uint64_t object)
{
    uint8_t bytes[12];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_told_object(&body, &(struct told_object){line_index(&t->task->line), object});
    tell_control(t, MESSAGE_OBJECT, &body);
}

static struct start begin_run(void *p)
{
    struct start start = *(struct start *)p;
    stranger_shut(true);
    start_put(p);
    roster_bind_self(start.task);
    struct thread *t = line_index(&start.task->line) ? life_begin(start.task) : NULL;
    stranger_shut(false);
    if (t) {
        announce_object(t, (uint64_t)pthread_self());
        record_event(t, TYPE_START, &start.task->line, 0, start.task->entry);
        busy_end(t);
    }
    mask_begun(start.mask);
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

/* Does a library of ours tell what the one does that makes this thread? */
static bool is_followed(const struct start *start)
{
    uintptr_t bias;
    const char *path = start->function ? modules_path((uintptr_t)start->function, &bias) : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return path && runtime_is_followed(slash ? slash + 1 : path);
}

/* Both kinds of success are 0. */
static int create(uintptr_t site, pthread_t *id, const pthread_attr_t *attributes,
                  const struct start *wanted)
{
    real_find();
    if (!site) {
        if (!is_followed(wanted))
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
        if (t->life == atomic_load(&live)) { /* its start is after what this thread did last */
            thread_unfollowed(t, UNSEEN_LINE);
            unseen_tell(UNSEEN_LINE, "");
        }
        task_release(task);
        task_release(task);
        start_put(start);
        return stranger_create(id, attributes, made_detached(attributes), wanted->function,
                               wanted->function_c11, wanted->argument);
    }
    line_opened(&task->line, t, index);
    if (made_detached(attributes))
        atomic_store(&task->flags, TASK_DETACHED);
    record_event(t, TYPE_CREATE, &task->line, 0, site);
    note_recorded();
    *start = *wanted;
    start->task = task;
    errno = saved;
    struct mask_new mask = start->mask = mask_hold_new(attributes);
    int result = really_create(id, attributes,
                               &(struct start){.function = wanted->function ? run : NULL,
                                               .function_c11 = run_c11,
                                               .argument = start});
    saved = errno;
    mask_set(mask.before);
    if (result == 0) {
        roster_bind(task, id);
    } else {
        life_close(t, task, TYPE_FAILED, site);
        task_release(task); /* a life that never was */
        start_put(start);
    }
    task_release(task);
    errno = saved;
    return result;
}

ENTRY(int, pthread_create,
      (pthread_t * id, const pthread_attr_t *attributes, void *(*function)(void *), void *argument),
      id, attributes, function, argument)
{
    return create(site, id, attributes,
                  &(struct start){.function = function, .argument = argument});
}

ENTRY(int, thrd_create, (thrd_t * id, thrd_start_t function, void *argument), id, function,
      argument)
{
    return create(site, id, NULL, &(struct start){.function_c11 = function, .argument = argument});
}
