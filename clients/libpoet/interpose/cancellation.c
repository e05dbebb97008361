/* Cancellation: events before pthread_cancel come before the cleanup handlers of the thread.
 * Handlers run where no interposed call is. But glibc, when it unwinds a thread, first runs what
 * was pushed by the old _pthread_cleanup_push and whose buffer is not deeper than the frame that is
 * left: a buffer outside of the stack, if it is the newest one, runs before everything else. Each
 * thread has one. A newer handler must not see it as its predecessor (glibc would look for it in a
 * chain that a longjmp has cut), so it is removed and inserted again around each registration. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/cancellation.h"

#include "clients/libpoet/interpose/thread_registry.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread_info.h"
#include "clients/libpoet/core/thread.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

/* Runs in a thread that is being unwound, before any other handler. */
static void cancellation_record_acted(void *unused)
{
    (void)unused;
    struct traced_thread *base = thread_base;
    if (!base || !base->task || base->cancellation.exiting || base->cancellation.recorded)
        return;
    base->cancellation.recorded = true;
    struct traced_thread *t = thread_recording();
    struct thread_info *task = base->task;
    if (!t)
        return;
    int saved = errno;
    latch_lock(&task->binding);
    struct cancel cancel = task->cancel;
    latch_unlock(&task->binding);
    bool certain = cancel.by && !cancel.several && cancel.life == t->life && cancel.at.line;
    record_write(t,
                 &(struct record){.shape = TYPE_CANCELLED,
                                  .flags = certain ? (uint16_t)RELATION_RECEIVE
                                                   : SLOT_DOUBT(UNTRACED_SIGNAL),
                                  .a = thread_place(t),
                                  .take_a = 1,
                                  .partner = certain ? cancel.at : (struct event_id){0, 0}},
                 NULL);
    errno = saved;
}

/* Returns the newest buffer of the thread. */
static struct _pthread_cleanup_buffer *cancellation_newest_buffer(void)
{
    struct _pthread_cleanup_buffer probe;
    real_functions.cleanup_push(&probe, cancellation_record_acted, NULL);
    real_functions.cleanup_pop(&probe, 0);
    return probe.__prev;
}

void cancellation_watch(struct traced_thread *t)
{
    if (real_functions.cleanup_push && real_functions.cleanup_pop && !cancellation_newest_buffer())
        real_functions.cleanup_push(&t->cancellation.cleanup, cancellation_record_acted, NULL);
}

#if !defined(POET_STATIC)
/* libpoet's buffer is not the newest while the program registers a handler. */
static void cancellation_register_handler(void (*call)(void *), void *buffer)
{
    struct traced_thread *t = thread_base;
    bool watched = t && real_functions.cleanup_push && real_functions.cleanup_pop;
    if (watched && cancellation_newest_buffer() == &t->cancellation.cleanup)
        real_functions.cleanup_pop(&t->cancellation.cleanup, 0);
    call(buffer);
    if (watched)
        cancellation_watch(t);
}

#define REGISTERS(name, member)                                                                    \
    __attribute__((visibility("default"))) void name(void *);                                      \
    void name(void *buffer)                                                                        \
    {                                                                                              \
        real_find();                                                                               \
        cancellation_register_handler(real_functions.member, buffer);                              \
    }
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif
REGISTERS(__pthread_register_cancel, register_cancel)
REGISTERS(__pthread_register_cancel_defer, register_cancel_defer)
#pragma GCC diagnostic pop
#endif

static void cancellation_record_cancel(struct traced_thread *t, struct thread_info *task,
                                       uintptr_t site)
{
    int cancelling; /* it may be called with asynchronous cancellation enabled */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    struct trace_line *place = t ? thread_place(t) : NULL;
    uint64_t number = !t ? 0
                         : record_write(t,
                                        &(struct record){.shape = TYPE_CANCEL,
                                                         .flags = RELATION_SEND,
                                                         .a = place,
                                                         .take_a = 1,
                                                         .about = trace_line_index(&task->line),
                                                         .site = site},
                                        NULL);
    latch_lock(&task->binding);
    struct cancel *c = &task->cancel;
    const void *by = t ? (const void *)t->own : (const void *)task;
    if (c->by && c->by != by)
        c->several = true;
    else if (!c->by)
        *c = (struct cancel){.by = by,
                             .at = {number ? trace_line_index(place) : 0, number},
                             .life = t ? t->life : NO_LIFE};
    latch_unlock(&task->binding);
    if (t)
        record_mark_nonempty();
    pthread_setcancelstate(cancelling, NULL);
}

ENTRY(int, pthread_cancel, (pthread_t id), id)
{
    real_find();
    int saved = errno;
    struct thread_info *task = thread_registry_find(id);
    if (task)
        cancellation_record_cancel(site ? thread_recording() : NULL, task, site);
    errno = saved;
    return real_functions.cancel(id);
}

/* This unwinds, too, but not because of a cancellation. */
static void cancellation_mark_exiting(void)
{
    if (thread_base)
        thread_base->cancellation.exiting = true;
}

ENTRY_LAST(pthread_exit, (void *result), result)
{
    (void)site;
    real_find();
    cancellation_mark_exiting();
    real_functions.exit(result);
    __builtin_unreachable();
}

ENTRY_LAST(thrd_exit, (int result), result)
{
    (void)site;
    real_find();
    cancellation_mark_exiting();
    real_functions.thrd_exit(result);
    __builtin_unreachable();
}
