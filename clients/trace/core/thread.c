/* The calling thread: what it holds, where it stands, whether it records. */
#define _GNU_SOURCE
#include "clients/trace/core/forbid.h"
#include "clients/trace/core/losses.h"
#include "clients/trace/core/tell.h"
#include "clients/trace/core/thread.h"

#include "clients/trace/calls/threads.h"
#include "clients/trace/core/arena.h"
#include "clients/trace/core/attach.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/stranger.h"
#include "clients/trace/core/task.h"
#include "clients/trace/measure/region.h"
#include "clients/trace/poet.h"
#include "wire/event.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* ---- the pool of thread structures ---- */

static latch pool_lock;
static struct thread *pool;

static struct thread *take(void)
{
    latch_take(&pool_lock);
    struct thread *t = pool;
    if (t)
        pool = t->next_free;
    latch_give(&pool_lock);
    if (!t) {
        t = arena_take(sizeof *t);
        if (!t)
            return NULL;
        *t = (struct thread){0};
    }
    *t = (struct thread){.holds = t->holds,
                         .hold_room = t->hold_room,
                         .partners = t->partners,
                         .measured_kept = t->measured_kept,
                         .scratch = t->scratch};
    return t;
}

static void put_back(struct thread *t)
{
    latch_take(&pool_lock);
    t->next_free = pool;
    pool = t;
    latch_give(&pool_lock);
}

static struct thread *make(struct line *own, uint32_t slots)
{
    struct thread *t = take();
    if (!t)
        return NULL;
    t->own = own;
    if (!server_queue(t, slots)) {
        put_back(t);
        return NULL;
    }
    t->queue->thread = line_index(own);
    return t;
}

struct thread *thread_make(struct task *task)
{
    struct thread *t = make(&task->line, QUEUE_WHOLE);
    if (t) {
        t->task = task;
        t->alone = &task->line;
        t->busy = 1; /* until its line is there, and its start is told */
        thread_mine = thread_base = t;
        atomic_fetch_add(&threads_running, 1);
    }
    return t;
}

struct thread *thread_make_own(struct line *line) { return make(line, QUEUE_SMALL); }

#pragma weak poet_runtime
const char *thread_runtime(void) { return poet_runtime && *poet_runtime ? poet_runtime : NULL; }

void thread_end(struct thread *t)
{
    busy_begin(t);
    if (t->queue && t->life == atomic_load(&live))
        lost_pass_on(t);
    lost_leave(t);
    region_end(t);
    if (t->task && !t->waiting && !t->rests)
        atomic_fetch_sub(&threads_running, 1);
    if (t == thread_base)
        thread_mine = thread_base = NULL;
    server_queue_done(t);
    put_back(t);
}

static struct thread unborn = {.life = NO_LIFE}; /* whoever forked, in the child */

void thread_forget(bool may_begin)
{
    pool = NULL;
    latch_reset(&pool_lock);
    latches_forked();
    thread_mine = thread_base = may_begin ? &unborn : NULL;
}

void thread_unfollowed(struct thread *t, enum unseen why)
{
    if (!tell_is_told(why, t))
        __atomic_fetch_or(&t->untold, (uint16_t)UNSEEN_BIT(why), __ATOMIC_RELAXED);
    if (t->queue)
        atomic_fetch_add_explicit(&t->queue->unfollowed, 1, memory_order_relaxed);
}

void thread_missed(struct thread *t, enum unseen why)
{
    thread_unfollowed(t, why);
    t->doubt = (uint8_t)why;
}

char *thread_scratch(struct thread *t)
{
    if (!t->scratch)
        t->scratch = arena_take(SCRATCH_BYTES);
    return t->scratch;
}

struct thread *thread_otherwise(struct thread *t)
{
    if (t == &unborn) {
        thread_mine = thread_base = NULL; /* what we call now is not recorded */
        bool shut = stranger_shut(true);
        struct thread *child = attach_child();
        stranger_shut(shut);
        return child;
    }
    if (live_cleared() && !t->busy && !forbid_quiet()) {
        attach_forked(); /* made by a system call of the program's own */
        return thread_present();
    }
    if (t->busy) {
        if (!t->off) /* a signal handler came in between */
            thread_missed(t, UNSEEN_HANDLER);
        return NULL;
    }
    busy_begin(t); /* a handler must not want the connection that we are making */
    uint32_t now = atomic_load_explicit(&live, memory_order_relaxed);
    if (!now)
        now = attach_retry();
    bool records = now && (now == t->life || life_renew(t));
    busy_end(t);
    return records && !t->off ? t : NULL;
}

struct thread *thread_born(struct thread *t) { return t == &unborn ? thread_otherwise(t) : t; }

/* ---- holds ---- */

static bool stale(const struct hold *hold)
{
    return hold->object && hold->object->visit != hold->visit;
}

struct line *thread_place_within(struct thread *t)
{
    if (t->waiting)
        return t->own;
    while (t->hold_count && stale(&t->holds[t->hold_count - 1]))
        t->hold_count--; /* another thread released or took it: mend the books */
    return t->hold_count ? t->holds[t->hold_count - 1].line : t->own;
}

struct hold *thread_hold_among(struct thread *t, const struct object *object)
{
    for (size_t i = t->hold_count; i-- > 0;)
        if (t->holds[i].object == object)
            return stale(&t->holds[i]) ? NULL : &t->holds[i];
    return NULL;
}

bool thread_make_room(struct thread *t)
{
    size_t room = t->hold_room ? t->hold_room * 2 : 16;
    struct hold *more = arena_take(room * sizeof *more);
    if (!more)
        return false;
    if (t->hold_count)
        memcpy(more, t->holds, t->hold_count * sizeof *more);
    t->holds = more;
    t->hold_room = room;
    return true;
}

void thread_pop_inner(struct thread *t, struct hold *hold)
{
    size_t i = (size_t)(hold - t->holds);
    busy_begin(t);
    memmove(hold, hold + 1, (t->hold_count - i - 1) * sizeof *hold);
    t->hold_count--;
    busy_end(t);
}

/* ---- on and off ---- */

static uint16_t leaving(const struct hold *hold)
{
    return hold->object && hold->object->kind == OBJECT_COROUTINE ? SHAPE_SUSPEND
           : !hold->object || hold->object->kind != OBJECT_RWLOCK ? SHAPE_LEAVE
           : hold->writing                                        ? SHAPE_WRITE_LEAVE
                                                                  : SHAPE_READ_LEAVE;
}

void poet_trace_off(void)
{
    struct thread *t = thread_mine ? thread_self() : thread_recording();
    if (!t || t->off++ || t->busy)
        return;
    int saved = errno;
    while (t->hold_count) {
        struct line *top = thread_place(t);
        if (!t->hold_count)
            break;
        const struct hold hold = t->holds[--t->hold_count];
        if (hold.object)
            hold.object->held = false;
        record_write(
            t,
            &(struct record){
                .shape = leaving(&hold), .a = thread_place(t), .b = top, .take_a = 1, .take_b = 1},
            NULL);
    }
    record_event(t, TYPE_OFF, t->own, 0, SITE);
    errno = saved;
}

void poet_trace_on(void)
{
    struct thread *t = thread_self();
    if (!t || t->off == 0 || --t->off || t->busy)
        return;
    int saved = errno;
    record_event(t, TYPE_ON, t->own, 0, SITE);
    errno = saved;
}
