#define _GNU_SOURCE
#include "clients/libpoet/core/thread.h"

#include "base/likely.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/libc_calls.h"
#include "clients/libpoet/core/lifecycle.h"
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/seccomp_install.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/interpose/thread_lifetime.h"
#include "clients/libpoet/poet.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/profile/sampling.h"
#include "wire/annotation_text.h"
#include "wire/event_types.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- signals ---- */

struct mask mask_hold(void)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    struct mask mask;
    sigset_t all, before;
    sigemptyset(&before);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    memcpy(&mask.bits, &before, sizeof mask.bits);
    return mask;
}

void mask_set(struct mask mask)
{
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &mask.bits, sizeof mask.bits);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
}

/* ---- of new threads ---- */

static bool has_own_mask(const pthread_attr_t *attributes)
{
    sigset_t own;
    return attributes && pthread_attr_getsigmask_np(attributes, &own) != PTHREAD_ATTR_NO_SIGMASK_NP;
}

struct mask_new mask_hold_new(const pthread_attr_t *attributes)
{
    return (struct mask_new){mask_hold(), !has_own_mask(attributes)};
}

void mask_begun(struct mask_new mask)
{
    if (mask.inherited)
        mask_set(mask.before);
}

/* ---- threads as others see them ---- */

static latch thread_info_latch;
static struct thread_info *thread_info_pool;

struct thread_info *thread_info_new(unsigned keepers)
{
    latch_lock(&thread_info_latch);
    struct thread_info *task = thread_info_pool;
    if (task)
        thread_info_pool = task->free_next;
    latch_unlock(&thread_info_latch);
    if (!task)
        task = tracer_arena_alloc(sizeof *task);
    if (task)
        *task = (struct thread_info){.keepers = keepers};
    return task;
}

void thread_info_release(struct thread_info *task)
{
    if (atomic_fetch_sub(&task->keepers, 1) != 1)
        return;
    latch_lock(&thread_info_latch);
    task->free_next = thread_info_pool;
    thread_info_pool = task;
    latch_unlock(&thread_info_latch);
}

void thread_infos_forked(void)
{
    latch_reset(&thread_info_latch);
    thread_info_pool = NULL;
}

/* ---- the pool of thread structures ---- */

static latch pool_lock;
static struct traced_thread *thread_pool;

static struct traced_thread *thread_alloc(void)
{
    latch_lock(&pool_lock);
    struct traced_thread *t = thread_pool;
    if (t)
        thread_pool = t->next_free;
    latch_unlock(&pool_lock);
    if (!t) {
        t = tracer_arena_alloc(sizeof *t);
        if (!t)
            return NULL;
        *t = (struct traced_thread){0};
    }
    *t = (struct traced_thread){.hold_stack.holds = t->hold_stack.holds,
                                .hold_stack.room = t->hold_stack.room,
                                .partners = t->partners,
                                .profile_kept = t->profile_kept,
                                .sampling_kept = t->sampling_kept,
                                .scratch = t->scratch};
    return t;
}

static void thread_free(struct traced_thread *t)
{
    latch_lock(&pool_lock);
    t->next_free = thread_pool;
    thread_pool = t;
    latch_unlock(&pool_lock);
}

static struct traced_thread *thread_create(struct trace_line *own, uint32_t slots)
{
    struct traced_thread *t = thread_alloc();
    if (!t)
        return NULL;
    t->own = own;
    if (!server_queue_create(t, slots)) {
        thread_free(t);
        return NULL;
    }
    t->queue->thread = trace_line_index(own);
    return t;
}

struct traced_thread *thread_create_traced(struct thread_info *task)
{
    struct traced_thread *t = thread_create(&task->line, QUEUE_WHOLE);
    if (t) {
        t->task = task;
        t->unshared_line = &task->line;
        t->busy = 1; /* until it has a line, and its start is recorded */
        thread_mine = thread_base = t;
        atomic_fetch_add(&tracer.threads.running, 1);
    }
    return t;
}

struct traced_thread *thread_create_user_task(struct trace_line *line)
{
    return thread_create(line, QUEUE_SMALL);
}

#pragma weak poet_runtime
const char *thread_runtime(void) { return poet_runtime && *poet_runtime ? poet_runtime : NULL; }

void thread_end(struct traced_thread *t)
{
    busy_begin(t);
    if (t->queue && t->life == atomic_load(&tracer.lifetime.number))
        lost_events_forward(t);
    lost_events_thread_end(t);
    region_end(t);
    if (t->task && !t->waiting && !t->idle)
        atomic_fetch_sub(&tracer.threads.running, 1);
    if (t == thread_base)
        thread_mine = thread_base = NULL;
    server_queue_done(t);
    thread_free(t);
}

/* the thread that forked, in the child */
static struct traced_thread thread_unborn = {.life = NO_LIFE};

void thread_forget(bool may_begin)
{
    thread_pool = NULL;
    latch_reset(&pool_lock);
    latches_forked();
    thread_mine = thread_base = may_begin ? &thread_unborn : NULL;
}

void thread_note_untraced(struct traced_thread *t, enum untraced_reason why)
{
    if (!message_queue_untraced_is_reported(why, t))
        __atomic_fetch_or(&t->unreported, (uint16_t)UNTRACED_BIT(why), __ATOMIC_RELAXED);
    if (t->queue)
        atomic_fetch_add_explicit(&t->queue->unfollowed, 1, memory_order_relaxed);
}

void thread_note_loss(struct traced_thread *t, enum untraced_reason why)
{
    thread_note_untraced(t, why);
    t->untraced_reason = (uint8_t)why;
}

char *thread_scratch(struct traced_thread *t)
{
    if (!t->scratch)
        t->scratch = tracer_arena_alloc(SCRATCH_BYTES);
    return t->scratch;
}

static void running_handler_record_begin(struct traced_thread *t);

struct traced_thread *thread_present_slow(struct traced_thread *t)
{
    if (t == &thread_unborn) {
        thread_mine = thread_base = NULL; /* calls from here on are not recorded */
        bool shut = foreign_thread_block(true);
        struct traced_thread *child = lifecycle_child();
        foreign_thread_block(shut);
        return child;
    }
    if (current_lifetime_is_cleared() && !t->busy && !seccomp_is_quiet()) {
        lifecycle_forked(); /* created by a system call of the program's own */
        return thread_present();
    }
    if (t->busy) {
        if (!thread_is_off(t)) /* a signal handler ran in between */
            thread_note_loss(t, UNTRACED_HANDLER);
        return NULL;
    }
    busy_begin(t); /* a handler must not use the connection that is being made */
    uint32_t now = atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed);
    if (!now)
        now = lifecycle_retry();
    bool records = now && (now == t->life || thread_lifetime_renew(t));
    busy_end(t);
    sampling_begin(records ? t : NULL);
    if (records && t->off_depth == HANDLER_SILENT)
        running_handler_record_begin(t);
    return records && !thread_is_off(t) ? t : NULL;
}

struct traced_thread *thread_begin_child(struct traced_thread *t)
{
    return t == &thread_unborn ? thread_present_slow(t) : t;
}

/* ---- holds ---- */

static bool thread_hold_is_stale(const struct object_hold *hold)
{
    return hold->object && hold->object->visit != hold->visit;
}

struct trace_line *thread_find_place(struct traced_thread *t)
{
    if (t->waiting)
        return t->own;
    /* another thread released or acquired it: correct the state */
    while (t->hold_stack.count &&
           thread_hold_is_stale(&t->hold_stack.holds[t->hold_stack.count - 1]))
        t->hold_stack.count--;
    return t->hold_stack.count ? t->hold_stack.holds[t->hold_stack.count - 1].line : t->own;
}

struct object_hold *thread_find_hold(struct traced_thread *t, const struct sync_object *object)
{
    for (size_t i = t->hold_stack.count; i-- > 0;)
        if (t->hold_stack.holds[i].object == object)
            return thread_hold_is_stale(&t->hold_stack.holds[i]) ? NULL : &t->hold_stack.holds[i];
    return NULL;
}

bool thread_grow_holds(struct traced_thread *t)
{
    size_t room = t->hold_stack.room ? t->hold_stack.room * 2 : 16;
    struct object_hold *more = tracer_arena_alloc(room * sizeof *more);
    if (!more)
        return false;
    if (t->hold_stack.count)
        memcpy(more, t->hold_stack.holds, t->hold_stack.count * sizeof *more);
    t->hold_stack.holds = more;
    t->hold_stack.room = room;
    return true;
}

void thread_pop_inner(struct traced_thread *t, struct object_hold *hold)
{
    size_t i = (size_t)(hold - t->hold_stack.holds);
    busy_begin(t);
    memmove(hold, hold + 1, (t->hold_stack.count - i - 1) * sizeof *hold);
    t->hold_stack.count--;
    busy_end(t);
}

/* ---- on and off ---- */

static uint16_t thread_leave_shape(const struct object_hold *hold)
{
    return hold->object && hold->object->kind == SYNC_COROUTINE ? SHAPE_SUSPEND
           : !hold->object || hold->object->kind != SYNC_RWLOCK ? SHAPE_LEAVE
           : hold->writing                                      ? SHAPE_WRITE_LEAVE
                                                                : SHAPE_READ_LEAVE;
}

void poet_trace_off(void)
{
    struct traced_thread *t = thread_mine ? thread_self() : thread_recording();
    if (t)
        t->off_depth &= ~HANDLER_SILENT;
    if (!t || t->off_depth++ || t->busy)
        return;
    int saved = errno;
    while (t->hold_stack.count) {
        struct trace_line *top = thread_place(t);
        if (!t->hold_stack.count)
            break;
        const struct object_hold hold = t->hold_stack.holds[--t->hold_stack.count];
        if (hold.object)
            hold.object->held = false;
        record_write(t,
                     &(struct record){.shape = thread_leave_shape(&hold),
                                      .a = thread_place(t),
                                      .b = top,
                                      .take_a = 1,
                                      .take_b = 1},
                     NULL);
    }
    record_event(t, TYPE_TRACING_OFF, t->own, 0, SITE);
    errno = saved;
}

void poet_trace_on(void)
{
    struct traced_thread *t = thread_self();
    if (!t || !thread_is_off(t) || --t->off_depth || t->busy)
        return;
    int saved = errno;
    record_event(t, TYPE_TRACING_ON, t->own, 0, SITE);
    errno = saved;
}

/* ---- the signal handler that it runs ---- */

static __thread struct running_handler running_handler_mine
    __attribute__((tls_model("initial-exec")));

struct running_handler running_handler_enter(int signal, const void *frame)
{
    struct running_handler interrupted = running_handler_mine;
    struct traced_thread *t = thread_self();
    running_handler_mine = (struct running_handler){.signal = signal,
                                                    .frame = frame,
                                                    .thread = t,
                                                    .silent = t && t->off_depth & HANDLER_SILENT};
    if (t)
        t->off_depth |= HANDLER_SILENT;
    return interrupted;
}

static void running_handler_record(struct traced_thread *t, uint16_t type, int signal)
{
    char name[32];
    int saved = errno, length = snprintf(name, sizeof name, "SIG%s", sigabbrev_np(signal));
    record_write(t,
                 &(struct record){.shape = type,
                                  .flags = SLOT_TEXT,
                                  .a = thread_place(t),
                                  .take_a = 1,
                                  .payload = name,
                                  .payload_bytes = (uint32_t)length},
                 NULL);
    errno = saved;
}

void running_handler_leave(struct running_handler interrupted)
{
    const struct running_handler h = running_handler_mine;
    struct traced_thread *t = thread_self();
    running_handler_mine = interrupted;
    if (!t || t != h.thread)
        return;
    t->off_depth &= ~HANDLER_SILENT;
    if (h.recorded && !t->busy && !thread_is_off(t))
        running_handler_record(t, TYPE_HANDLER_END, h.signal);
    t->off_depth |= h.silent ? HANDLER_SILENT : 0;
}

/* A handler that was left by a jump has its frame no more, or its signal is no longer blocked. */
static bool running_handler_is_left(const struct running_handler *h)
{
    uint64_t blocked = 0;
    int saved = errno;
    long result = syscall(SYS_rt_sigprocmask, 0, NULL, &blocked, sizeof blocked);
    errno = saved;
    return (uintptr_t)h->frame < (uintptr_t)__builtin_frame_address(0) || result != 0 ||
           !(blocked & UINT64_C(1) << (h->signal - 1));
}

/* The calling thread records something while off_depth says that a handler has not begun. */
static void running_handler_record_begin(struct traced_thread *t)
{
    struct running_handler *h = &running_handler_mine;
    t->off_depth &= ~HANDLER_SILENT;
    h->recorded = h->signal && !running_handler_is_left(h) && sigabbrev_np(h->signal);
    if (h->recorded)
        running_handler_record(t, TYPE_HANDLER_BEGIN, h->signal);
}

static __thread struct running_close running_close_mine __attribute__((tls_model("initial-exec")));

struct running_close running_close_begin(const char *library, const void *frame)
{
    struct running_close outer = running_close_mine;
    running_close_mine = (struct running_close){library, frame};
    return outer;
}

void running_close_end(struct running_close outer) { running_close_mine = outer; }

static size_t running_close_text(char *text, size_t size)
{
    const struct running_close *c = &running_close_mine;
    if (LIKELY(!c->library) || (uintptr_t)c->frame < (uintptr_t)__builtin_frame_address(0))
        return 0;
    int length = snprintf(text, size, TEXT_IN_CLOSE "%.40s)", c->library);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

size_t running_context_text(char *text, size_t size)
{
    const struct running_handler *h = &running_handler_mine;
    if (LIKELY(!h->signal) || running_handler_is_left(h))
        return running_close_text(text, size);
    const char *name = sigabbrev_np(h->signal);
    int length = name ? snprintf(text, size, TEXT_IN_HANDLER "SIG%s", name)
                      : snprintf(text, size, TEXT_IN_HANDLER "signal %d", h->signal);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}
