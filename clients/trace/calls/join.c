/* Threads that are joined, detached, named. */
#define _GNU_SOURCE
#include "clients/trace/calls/join.h"

#include "clients/trace/calls/roster.h"
#include "clients/trace/calls/threads.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/task.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/replay/part.h"
#include "wire/event.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

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
    if (t && life_was(task))
        life_close(t, task, TYPE_CLOSE, site);
    roster_unbind(task, id);
    task_release(task);
}

static void petition_join(struct thread *t, enum trace_type type, struct task *task, uintptr_t site)
{
    record_event(t, type, thread_place(t), task ? line_index(&task->line) : 0, site);
}

/* By a call that is not recorded, of a thread that may have none. */
static void joined_unrecorded(pthread_t id, struct task *task, uintptr_t site)
{
    int saved = errno;
    struct thread *t = line_index(&task->line) ? thread_present() : NULL;
    if (t)
        petition_join(t, TYPE_JOIN, task, site);
    else if (line_index(&task->line))
        stranger_missed();
    joined(t, id, task, site);
    errno = saved;
}

static void leave_wait(void *t) { hooks_go_on(t, TYPE_JOIN); }

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
    struct task *task = roster_find(id);
    if (!t) {
        int e = really_join(id, result, clock, deadline);
        if (e == 0 && task)
            joined_unrecorded(id, task, site);
        return e;
    }
    int saved = errno, e;
    petition_join(t, deadline ? TYPE_TIMED_JOIN : TYPE_JOIN, task, site);
    hooks_wait(t, TYPE_JOIN, site);
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
    50 /* a millisecond each: who only tries looks again, and may have to do what is waited for */

/* In a run that is repeated: it is joined here if it was, once it has ended. */
static int tryjoin_again(struct thread *t, const struct task *task, pthread_t id, void **result)
{
    if (!task || !part_is_about(t, TYPE_JOIN, &task->line))
        return EBUSY;
    int e = EBUSY;
    for (int i = 0; i < LOOKS_MOST && part_plays(t) && (e = real.tryjoin(id, result)) == EBUSY; i++)
        part_nap();
    return e;
}

ENTRY(int, pthread_tryjoin_np, (pthread_t id, void **result), id, result)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct task *task = roster_find(id);
    int e = replays && t && part_plays(t) ? tryjoin_again(t, task, id, result)
                                          : real.tryjoin(id, result);
    if (e == 0 && t) {
        int saved = errno;
        petition_join(t, TYPE_JOIN, task, site);
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
    struct task *task = roster_find(id);
    int saved = errno;
    if (t && task && line_index(&task->line))
        record_event(t, TYPE_DETACH, thread_place(t), line_index(&task->line), site);
    if (replays && t && task && part_type(t, 0) == TYPE_CLOSE) /* it had ended already */
        part_await_bits(t, &task->flags, TASK_ENDED);
    if (task && (atomic_fetch_or(&task->flags, TASK_DETACHED) & TASK_ENDED)) {
        if (t && life_was(task))
            life_close(t, task, TYPE_CLOSE, site);
        roster_unbind(task, id);
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
    struct task *task = t ? roster_find(id) : NULL;
    int saved = errno;
    if (e == 0 && task && line_index(&task->line))
        line_rename(t, &task->line, name);
    errno = saved;
    (void)site;
    return e;
}
