/* Threads as seen by other threads: by those that create, join, detach and cancel them. */
#ifndef CLIENTS_LIBPOET_CORE_THREAD_INFO_H
#define CLIENTS_LIBPOET_CORE_THREAD_INFO_H

#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/mask.h"
#include "clients/libpoet/core/sync_object.h"
#include "wire/event_types.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

#pragma GCC visibility push(hidden)

/* ThreadSanitizer's own state of a thread is gone in the last round of thread-specific
 * destructors. */
#if defined(__SANITIZE_THREAD__)
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define LAST_ROUND PTHREAD_DESTRUCTOR_ITERATIONS
#endif

/* The canceller of a thread: one, several, or one that was not recorded. */
struct cancel {
    const void *by; /* NULL: not cancelled yet */
    struct event_id at; /* the first time; line 0: not known */
    uint32_t life;
    bool several;
};

/* A thread as seen by those that join and detach it. */
struct thread_info {
    struct trace_line line;
    struct thread_info *free_next;
    uint64_t end; /* number of its end event, 0 none */
    bool dropped; /* it ended, but its end event found no room */
    uintptr_t entry; /* its function: the site of its start and end */
    _Atomic unsigned flags;
    latch binding;
    struct cancel cancel; /* under `binding` */
    pid_t tid; /* set by the thread itself; 0 not yet */
    /* number of references: its creator's, and its own until it is joined */
    _Atomic unsigned keepers;
    /* Created by a call that is not recorded: */
    void *(*function)(void *); /* what it runs */
    thrd_start_t function_c11; /*   or this */
    void *argument;
    struct mask_new mask;
    struct event_id after; /* the last event of its creator, */
    uint32_t after_life; /* and the lifetime of that */
    unsigned made; /* its number among threads of its kind; 0: not known */
    /* schedule_text_hash of its name, of one that was not created by a recorded call */
    uint16_t named;
    bool doubtful; /* untraced events may precede its first event */
};
#define TASK_ENDED 1u
#define TASK_DETACHED 2u
#define TASK_BOUND 4u /* found by its id */

struct thread_info *thread_info_new(unsigned keepers);
void thread_info_release(struct thread_info *task);

#pragma GCC visibility pop
#endif
