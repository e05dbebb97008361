/* Calls that create, join, detach and name threads, by whichever name. */
#define _GNU_SOURCE
#include "clients/libpoet/core/cxx_runtime.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/interpose/call_variant.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/profile/sampling.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"
#include "wire/message.h"
#include "wire/program_messages.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <time.h>

/* ---- creation ---- */

/* The id of a thread is known only once it runs. */
static void thread_create_announce_object(struct traced_thread *t, uint64_t object)
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
    thread_lifetime_bind_self(start.task);
    struct traced_thread *t =
        trace_line_index(&start.task->line) ? thread_lifetime_begin(start.task) : NULL;
    foreign_thread_block(false);
    if (t) {
        thread_create_announce_object(t, (uint64_t)pthread_self());
        record_event(t, TYPE_START, &start.task->line, 0, start.task->entry);
        busy_end(t);
        sampling_begin(t);
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

static bool thread_create_is_detached(const pthread_attr_t *attributes)
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
            atomic_fetch_add(&tracer.threads.untraced, 1);
        return foreign_thread_create(id, attributes, thread_create_is_detached(attributes),
                                     wanted->function, wanted->function_c11, wanted->argument);
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
        if (t->life == atomic_load(&tracer.lifetime.number)) {
            thread_note_untraced(t, UNTRACED_LINE);
            untraced_use_report(UNTRACED_LINE, "");
        }
        thread_info_release(task);
        thread_info_release(task);
        thread_start_push(start);
        return foreign_thread_create(id, attributes, thread_create_is_detached(attributes),
                                     wanted->function, wanted->function_c11, wanted->argument);
    }
    trace_line_set_opened(&task->line, t, index);
    if (thread_create_is_detached(attributes))
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
        thread_lifetime_bind(task, id);
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

/* ---- joining, detaching, naming ---- */

/* Returns which predecessors its end has, if that is uncertain. A thread that was never recorded
 * may have done anything. */
static uint16_t thread_join_flags(const struct thread_info *task, uint32_t line)
{
    if (!task || (line && !task->end && !task->tid))
        return SLOT_DOUBT(UNTRACED_THREAD);
    if (line && !task->end)
        return SLOT_DOUBT(UNTRACED_LOST);
    return line ? RELATION_ORDER : RELATION_NONE;
}

/* Records a join that succeeded. */
static void thread_join_record_joined(struct traced_thread *t, pthread_t id,
                                      struct thread_info *task, uintptr_t site)
{
    uint32_t line = task ? trace_line_index(&task->line) : 0;
    if (t && (task || !thread_runtime()))
        record_write(t,
                     &(struct record){.shape = TYPE_JOINED,
                                      .flags = thread_join_flags(task, line),
                                      .a = thread_place(t),
                                      .take_a = 1,
                                      .about = line,
                                      .site = site,
                                      .partner = {line, line ? task->end : 0}},
                     NULL);
    if (!task)
        return;
    if (t && thread_lifetime_existed(task))
        thread_lifetime_close(t, task, TYPE_CLOSE, site);
    thread_lifetime_unbind(task, id);
    thread_info_release(task);
}

static void thread_join_record_request(struct traced_thread *t, enum trace_type type,
                                       struct thread_info *task, uintptr_t site)
{
    record_request(t, type, thread_place(t), task ? trace_line_index(&task->line) : 0, site);
}

/* For a call that is not recorded, on a thread that may have no line. */
static void thread_join_end_untraced(pthread_t id, struct thread_info *task, uintptr_t site)
{
    int saved = errno;
    struct traced_thread *t = trace_line_index(&task->line) ? thread_present() : NULL;
    if (t)
        thread_join_record_request(t, TYPE_JOIN, task, site);
    else if (trace_line_index(&task->line))
        foreign_thread_note_missed();
    thread_join_record_joined(t, id, task, site);
    errno = saved;
}

/* Returns the thread that records a call about the end of another one; NULL: none. Those of a
 * runtime end its own threads, which have no lines. */
static struct traced_thread *thread_join_recording(uintptr_t site)
{
    return site && !thread_runtime() ? thread_recording() : NULL;
}

static void thread_join_end_wait(void *t) { instrument_wait_end(t, TYPE_JOIN); }

static int thread_join_call_real(pthread_t id, void **result, const clockid_t *clock,
                                 const struct timespec *deadline)
{
    return clock      ? real_functions.clockjoin(id, result, *clock, deadline)
           : deadline ? real_functions.timedjoin(id, result, deadline)
                      : real_functions.join(id, result);
}

static int thread_join_trace(uintptr_t site, pthread_t id, void **result, const clockid_t *clock,
                             const struct timespec *deadline)
{
    real_find();
    struct traced_thread *t = thread_join_recording(site);
    struct thread_info *task = thread_lifetime_find(id);
    if (!t) {
        int e = thread_join_call_real(id, result, clock, deadline);
        if (e == 0 && task)
            thread_join_end_untraced(id, task, site);
        return e;
    }
    int saved = errno, e;
    thread_join_record_request(t, deadline ? TYPE_TIMED_JOIN : TYPE_JOIN, task, site);
    instrument_wait_begin(t, TYPE_JOIN, site);
    pthread_cleanup_push(thread_join_end_wait, t);
    errno = saved;
    e = thread_join_call_real(id, result, clock, deadline);
    saved = errno;
    pthread_cleanup_pop(1);
    if (e == 0)
        thread_join_record_joined(t, id, task, site);
    else
        record_event(t, TYPE_JOIN_FAILED, thread_place(t), 0, site);
    errno = saved;
    return e;
}

ENTRY(int, pthread_join, (pthread_t id, void **result), id, result)
{
    return thread_join_trace(site, id, result, NULL, NULL);
}

ENTRY(int, pthread_timedjoin_np, (pthread_t id, void **result, const struct timespec *deadline), id,
      result, deadline)
{
    return thread_join_trace(site, id, result, NULL, deadline);
}

ENTRY(int, pthread_clockjoin_np,
      (pthread_t id, void **result, clockid_t clock, const struct timespec *deadline), id, result,
      clock, deadline)
{
    return thread_join_trace(site, id, result, &clock, deadline);
}

#define THREAD_JOIN_TRIES 50 /* a millisecond each */

/* In a replayed run: the thread is joined here if it was in the recorded run, once it has ended. A
 * polling caller polls again, and may have to do what is awaited. */
static int thread_join_replay_try(struct traced_thread *t, const struct thread_info *task,
                                  pthread_t id, void **result)
{
    if (!task || !thread_schedule_next_about_thread(t, TYPE_JOIN, &task->line))
        return EBUSY;
    int e = EBUSY;
    for (int i = 0; i < THREAD_JOIN_TRIES && thread_schedule_active(t) &&
                    (e = real_functions.tryjoin(id, result)) == EBUSY;
         i++)
        thread_schedule_nap();
    return e;
}

ENTRY(int, pthread_tryjoin_np, (pthread_t id, void **result), id, result)
{
    real_find();
    struct traced_thread *t = thread_join_recording(site);
    struct thread_info *task = thread_lifetime_find(id);
    int e = thread_schedule_active(t) ? thread_join_replay_try(t, task, id, result)
                                      : real_functions.tryjoin(id, result);
    if (e == 0 && t) {
        int saved = errno;
        thread_join_record_request(t, TYPE_JOIN, task, site);
        thread_join_record_joined(t, id, task, site);
        errno = saved;
    } else if (e == 0 && task) {
        thread_join_end_untraced(id, task, site);
    }
    return e;
}

static int thread_detach_trace(uintptr_t site, pthread_t id)
{
    real_find();
    struct traced_thread *t = thread_join_recording(site);
    struct thread_info *task = thread_lifetime_find(id);
    int saved = errno;
    if (t && task && trace_line_index(&task->line))
        record_event(t, TYPE_DETACH, thread_place(t), trace_line_index(&task->line), site);
    unsigned next = task ? thread_schedule_next_type(t, 0) : TYPE_NONE;
    if (next == TYPE_CLOSE) /* it had ended already */
        thread_schedule_wait_bits(t, &task->flags, TASK_ENDED);
    if (task && (atomic_fetch_or(&task->flags, TASK_DETACHED) & TASK_ENDED)) {
        /* In a replayed run, it may have ended where the recorded one had not, and closed nothing
         * here. */
        if (t && thread_lifetime_existed(task) && (next == TYPE_CLOSE || next == TYPE_NONE))
            thread_lifetime_close(t, task, TYPE_CLOSE, site);
        thread_lifetime_unbind(task, id);
        thread_info_release(task);
    }
    errno = saved;
    return real_functions.detach(id);
}

ENTRY(int, pthread_detach, (pthread_t id), id) { return thread_detach_trace(site, id); }

ENTRY(int, pthread_setname_np, (pthread_t id, const char *name), id, name)
{
    real_find();
    int e = real_functions.setname(id, name);
    struct traced_thread *t = thread_present();
    struct thread_info *task = t ? thread_lifetime_find(id) : NULL;
    int saved = errno;
    if (e == 0 && task && trace_line_index(&task->line))
        trace_line_rename(t, &task->line, name);
    errno = saved;
    (void)site;
    return e;
}

/* ---- <threads.h> ---- */

ENTRY(int, thrd_create, (thrd_t * id, thrd_start_t function, void *argument), id, function,
      argument)
{
    return thread_create_start(
        site, id, NULL, &(struct thread_start){.function_c11 = function, .argument = argument});
}

ENTRY(int, thrd_join, (thrd_t id, int *result), id, result)
{
    void *value = NULL;
    int error = thread_join_trace(site, id, &value, NULL, NULL);
    if (error == 0 && result)
        *result = (int)(intptr_t)value;
    return call_variant_c11_result(error);
}

ENTRY(int, thrd_detach, (thrd_t id), id)
{
    return call_variant_c11_result(thread_detach_trace(site, id));
}
