/* Joining, detaching and naming threads. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/thread_join.h"

#include "clients/libpoet/interpose/thread_registry.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/thread_info.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Returns which predecessors its end has, if that is uncertain. A thread that was never recorded
 * may have done anything. */
static uint16_t joined_flags(const struct thread_info *task, uint32_t line)
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
                                      .flags = joined_flags(task, line),
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
    thread_registry_unbind(task, id);
    thread_info_release(task);
}

static void thread_join_record_request(struct traced_thread *t, enum trace_type type,
                                       struct thread_info *task, uintptr_t site)
{
    record_event(t, type, thread_place(t), task ? trace_line_index(&task->line) : 0, site);
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

static void thread_join_end_wait(void *t) { instrument_wait_end(t, TYPE_JOIN); }

static int thread_join_call_real(pthread_t id, void **result, const clockid_t *clock,
                                 const struct timespec *deadline)
{
    return clock      ? real_functions.clockjoin(id, result, *clock, deadline)
           : deadline ? real_functions.timedjoin(id, result, deadline)
                      : real_functions.join(id, result);
}

int follow_join(uintptr_t site, pthread_t id, void **result, const clockid_t *clock,
                const struct timespec *deadline)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct thread_info *task = thread_registry_find(id);
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
    return follow_join(site, id, result, NULL, NULL);
}

ENTRY(int, pthread_timedjoin_np, (pthread_t id, void **result, const struct timespec *deadline), id,
      result, deadline)
{
    return follow_join(site, id, result, NULL, deadline);
}

ENTRY(int, pthread_clockjoin_np,
      (pthread_t id, void **result, clockid_t clock, const struct timespec *deadline), id, result,
      clock, deadline)
{
    return follow_join(site, id, result, &clock, deadline);
}

#define LOOKS_MOST                                                                                 \
    50 /* a millisecond each: a polling caller polls again, and may have to do what is awaited */

/* In a replayed run: the thread is joined here if it was in the recorded run, once it has ended. */
static int thread_join_replay_try(struct traced_thread *t, const struct thread_info *task,
                                  pthread_t id, void **result)
{
    if (!task || !thread_schedule_next_about_thread(t, TYPE_JOIN, &task->line))
        return EBUSY;
    int e = EBUSY;
    for (int i = 0; i < LOOKS_MOST && thread_schedule_active(t) &&
                    (e = real_functions.tryjoin(id, result)) == EBUSY;
         i++)
        thread_schedule_nap();
    return e;
}

ENTRY(int, pthread_tryjoin_np, (pthread_t id, void **result), id, result)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct thread_info *task = thread_registry_find(id);
    int e = replay_active && t && thread_schedule_active(t)
                ? thread_join_replay_try(t, task, id, result)
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

int follow_detach(uintptr_t site, pthread_t id)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct thread_info *task = thread_registry_find(id);
    int saved = errno;
    if (t && task && trace_line_index(&task->line))
        record_event(t, TYPE_DETACH, thread_place(t), trace_line_index(&task->line), site);
    unsigned next = replay_active && t && task ? thread_schedule_next_type(t, 0) : TYPE_NONE;
    if (next == TYPE_CLOSE) /* it had ended already */
        thread_schedule_wait_bits(t, &task->flags, TASK_ENDED);
    if (task && (atomic_fetch_or(&task->flags, TASK_DETACHED) & TASK_ENDED)) {
        /* In a replayed run, it may have ended where the recorded one had not, and closed nothing
         * here. */
        if (t && thread_lifetime_existed(task) && (next == TYPE_CLOSE || next == TYPE_NONE))
            thread_lifetime_close(t, task, TYPE_CLOSE, site);
        thread_registry_unbind(task, id);
        thread_info_release(task);
    }
    errno = saved;
    return real_functions.detach(id);
}

ENTRY(int, pthread_detach, (pthread_t id), id) { return follow_detach(site, id); }

ENTRY(int, pthread_setname_np, (pthread_t id, const char *name), id, name)
{
    real_find();
    int e = real_functions.setname(id, name);
    struct traced_thread *t = thread_present();
    struct thread_info *task = t ? thread_registry_find(id) : NULL;
    int saved = errno;
    if (e == 0 && task && trace_line_index(&task->line))
        trace_line_rename(t, &task->line, name);
    errno = saved;
    (void)site;
    return e;
}
