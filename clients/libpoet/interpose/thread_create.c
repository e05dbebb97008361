/* Thread creation. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/thread_registry.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/cxx_runtime.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/untraced_runtimes.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/thread_info.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "wire/message.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>

/* The id of a thread is known only once it runs. */
static void announce_object(struct traced_thread *t, uint64_t object)
{
    uint8_t bytes[12];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    encode_object(&body, &(struct object_message){trace_line_index(&t->task->line), object});
    message_queue_send(t, MESSAGE_OBJECT, &body);
}

static struct thread_start thread_create_begin_run(void *p)
{
    struct thread_start start = *(struct thread_start *)p;
    foreign_thread_block(true);
    thread_start_push(p);
    thread_registry_bind_self(start.task);
    struct traced_thread *t =
        trace_line_index(&start.task->line) ? thread_lifetime_begin(start.task) : NULL;
    foreign_thread_block(false);
    if (t) {
        announce_object(t, (uint64_t)pthread_self());
        record_event(t, TYPE_START, &start.task->line, 0, start.task->entry);
        busy_end(t);
    }
    mask_begun(start.mask);
    return start;
}

static void *thread_create_run_start(void *p)
{
    struct thread_start start = thread_create_begin_run(p);
    return start.function(start.argument);
}

static int thread_create_run_start_c11(void *p)
{
    struct thread_start start = thread_create_begin_run(p);
    return start.function_c11(start.argument);
}

static bool made_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

static int thread_create_call_real(pthread_t *id, const pthread_attr_t *attributes,
                                   const struct thread_start *start)
{
    return start->function ? real_functions.create(id, attributes, start->function, start->argument)
                           : real_functions.thrd_create(id, start->function_c11, start->argument);
}

/* Returns whether a library of Poet's traces the library that creates this thread. */
static bool thread_create_is_traced(const struct thread_start *start)
{
    uintptr_t bias;
    const char *path = start->function ? modules_path((uintptr_t)start->function, &bias) : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    return path && untraced_runtime_is_traced(slash ? slash + 1 : path);
}

/* Both values of success are 0. */
static int thread_create_start(uintptr_t site, pthread_t *id, const pthread_attr_t *attributes,
                               const struct thread_start *wanted)
{
    real_find();
    if (!site) {
        if (!thread_create_is_traced(wanted))
            atomic_store(&untraced_threads_exist, true);
        return foreign_thread_create(id, attributes, made_detached(attributes), wanted->function,
                                     wanted->function_c11, wanted->argument);
    }
    struct traced_thread *t = !thread_runtime() ? thread_recording() : NULL;
    struct thread_info *task = t ? thread_info_new(2) : NULL;
    struct thread_start *start = task ? thread_start_pop() : NULL;
    if (!start)
        return thread_create_call_real(id, attributes, wanted);
    int saved = errno;
    task->entry = wanted->function ? cxx_callable((uintptr_t)wanted->function, wanted->argument)
                                   : (uintptr_t)wanted->function_c11;
    uint32_t index = trace_line_announce(t, "thread", "", NULL, task->entry, LINE_FOLLOWS, NULL);
    if (!index) { /* no room: it gets a line with its first recorded call */
        /* its start comes after the last event of this thread */
        if (t->life == atomic_load(&current_lifetime)) {
            thread_note_untraced(t, UNTRACED_LINE);
            untraced_use_report(UNTRACED_LINE, "");
        }
        thread_info_release(task);
        thread_info_release(task);
        thread_start_push(start);
        return foreign_thread_create(id, attributes, made_detached(attributes), wanted->function,
                                     wanted->function_c11, wanted->argument);
    }
    trace_line_set_opened(&task->line, t, index);
    if (made_detached(attributes))
        atomic_store(&task->flags, TASK_DETACHED);
    record_event(t, TYPE_CREATE, &task->line, 0, site);
    record_mark_nonempty();
    *start = *wanted;
    start->task = task;
    errno = saved;
    struct mask_new mask = start->mask = mask_hold_new(attributes);
    int result = thread_create_call_real(
        id, attributes,
        &(struct thread_start){.function = wanted->function ? thread_create_run_start : NULL,
                               .function_c11 = thread_create_run_start_c11,
                               .argument = start});
    saved = errno;
    mask_set(mask.before);
    if (result == 0) {
        thread_registry_bind(task, id);
    } else {
        thread_lifetime_close(t, task, TYPE_FAILED, site);
        thread_info_release(task); /* a lifetime that never began */
        thread_start_push(start);
    }
    thread_info_release(task);
    errno = saved;
    return result;
}

ENTRY(int, pthread_create,
      (pthread_t * id, const pthread_attr_t *attributes, void *(*function)(void *), void *argument),
      id, attributes, function, argument)
{
    return thread_create_start(site, id, attributes,
                               &(struct thread_start){.function = function, .argument = argument});
}

ENTRY(int, thrd_create, (thrd_t * id, thrd_start_t function, void *argument), id, function,
      argument)
{
    return thread_create_start(
        site, id, NULL, &(struct thread_start){.function_c11 = function, .argument = argument});
}
