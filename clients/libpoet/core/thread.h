/* Threads of the program: what others may know of each, and the state of the calling one (what it
 * holds, on which line it is, whether it records), which no other thread writes. */
#ifndef CLIENTS_LIBPOET_CORE_THREAD_H
#define CLIENTS_LIBPOET_CORE_THREAD_H

#include "base/likely.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/profile/cpu_clock.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "clients/libpoet/user_tasks.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/slot.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

#pragma GCC visibility push(hidden)

/* ---- signals that are blocked in the calling thread ---- */

/* A saved signal mask, one bit for each signal. Signals that a thread's own fault raises are never
 * blocked. */
struct mask {
    uint64_t bits;
};

struct mask mask_hold(void);
void mask_set(struct mask mask); /* Blocks exactly these signals again. */

/* Signal mask of a new thread. Signals are blocked in it until its start is recorded, so that the
 * events of a handler find its line. The creator blocks them while it creates the thread, and
 * restores its own mask after that; the thread sets this mask when it has begun. */
struct mask_new {
    struct mask before;
    bool inherited; /* the new thread inherits its creator's mask */
};

struct mask_new mask_hold_new(const pthread_attr_t *attributes);
void mask_begun(struct mask_new mask); /* Must be called by the new thread itself. */

/* ---- the calling thread ---- */

struct traced_thread;
struct thread_sampling;

/* The calling thread, or NULL if it is not traced. */
extern __thread struct traced_thread *thread_mine __attribute__((tls_model("initial-exec")));
/* The calling thread of the system itself, whichever task it acts as. */
extern __thread struct traced_thread *thread_base __attribute__((tls_model("initial-exec")));

/* ---- threads as others see them: those that create, join, detach and cancel them ---- */

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

/* A thread as others see it; reused once it has no references. */
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
void thread_infos_forked(void); /* Called in a child, before any other use of them. */

/* ---- state of the calling thread ---- */

/* The queue that a thread had before a larger one. */
struct older_queue {
    struct queue_head *queue; /* NULL: the server has taken what is in it */
    uint64_t head;
};

struct object_hold {
    struct sync_object *object; /* NULL for a line that the program moved to */
    struct trace_line *line;
    uint64_t visit;
    uintptr_t site; /* of a mutex: where it was acquired; 0: not known */
    unsigned depth; /* recursive acquisitions */
    bool writing;   /* a read-write lock, held by its writer */
};

#define ONCE_REMEMBERED 16
#define NO_LIFE UINT32_MAX

/* Objects that a thread holds and lines that it moved to, the innermost last. Written by the
 * thread, and read by its signal handlers. */
struct hold_stack {
    struct object_hold *holds;
    size_t count, room;
};

/* Calls of pthread_once by a thread. Written by the thread in interpose/once_calls.c. */
struct thread_once {
    struct once_call *running; /* the initializer about to run */
    const struct sync_object *ready[ONCE_REMEMBERED]; /* found initialized before */
    unsigned ready_next;
};

/* The early end of a thread of the system. Written by the thread in interpose/thread_lifetime.c. */
struct thread_cancellation {
    bool exiting; /* by pthread_exit */
    bool recorded; /* the first event after it was cancelled */
    struct _pthread_cleanup_buffer cleanup;
};

struct traced_thread {
    struct queue_head *queue;
    struct ring_slot *slots;
    uint64_t head, tail; /* own copy of head; last read tail */
    uint64_t mask;
    struct thread_profile *profile; /* its measurements; NULL: none */
    uintptr_t module_start, module_bytes; /* where the last call came from */
    uint32_t life; /* the lifetime in which its queue was made */
    struct trace_line *own; /* its own line */
    /* the same, unless other processes number it, too, else NULL */
    struct trace_line *unshared_line;
    struct thread_info *task; /* NULL: a user-level task */
    struct hold_stack hold_stack;
    /* more than 0: recording, or in a lock of libpoet's; see tracer_lock.c */
    volatile unsigned busy;
    /* an enum untraced_reason: at least one call since the last record is not in the trace */
    volatile uint8_t untraced_reason;
    /* UNSEEN_BITs: untraced synchronization to be reported with the next record */
    volatile uint16_t unreported;
    unsigned waiting; /* inside a wait: events of handlers go to the own line */
    bool idle; /* poet_rests */
    unsigned off_depth; /* nesting of poet_trace_off; and HANDLER_SILENT */
    unsigned calls_off_depth; /* nesting of poet_calls_off */
    uint32_t calls_wanted; /* what was wanted of its calls before it: WANTED_ bits */
    int destructor_rounds; /* of thread-specific data, begun at its end */
    bool stalled; /* a wait for room failed: drop until there is room */
    struct older_queue older_queue;
    /* events that an earlier server had not taken from the queue when its connection was lost */
    uint64_t untaken;
    struct thread_cpu_clock cpu_clock;
    uint64_t server_check_at; /* time, in the unit of slots, of the next check of the server */
    struct lost_events lost_events;
    struct coroutine *coroutine; /* the coroutine that it runs; NULL: its own stack */
    struct task_stacks stacks;
    struct thread_once once_calls;
    struct event_id last; /* its last event, once it had written as much as `last_head` */
    uint64_t last_head;
    struct thread_cancellation cancellation;
    struct wire_partner *partners; /* where the partners of one event are collected */
    char *scratch; /* SCRATCH_BYTES for one text or message, while busy */
    struct thread_profile *profile_kept; /* memory for measurements, kept */
    struct thread_sampling *sampling_kept; /* the same for samples */
    uint32_t profile_retry; /* how often to skip before the next attempt */
    struct thread_schedule schedule; /* in a replayed run */
    uint32_t choices_begun; /* how many nondeterministic calls it has begun */
    uint16_t name_hash; /* of a user-level task: schedule_text_hash of its name */
    struct traced_thread *next_free;
};

/* A bit of off_depth: the thread runs a signal handler that has recorded nothing yet. The next call
 * that the handler records takes the slow path, which records that the handler begins. */
#define HANDLER_SILENT 0x80000000u

/* Returns whether the program turned tracing off in the thread. */
static inline bool thread_is_off(const struct traced_thread *thread)
{
    return (thread->off_depth & ~HANDLER_SILENT) != 0;
}

/* Begins a section in which the calling thread records, or changes state that records depend on: a
 * signal handler that interrupts it must not record. Sections nest. */
static inline void busy_begin(struct traced_thread *thread)
{
    thread->busy++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void busy_end(struct traced_thread *thread)
{
    atomic_signal_fence(memory_order_seq_cst);
    thread->busy--;
}

/* Returns the calling thread if it may record, now or once tracing is on again. */
static inline struct traced_thread *thread_self(void)
{
    struct traced_thread *t = thread_mine;
    return t && t->life == atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed)
               ? t
               : NULL;
}

/* Handles a thread that cannot simply record: NULL, or one that has begun a new lifetime. */
struct traced_thread *thread_present_slow(struct traced_thread *thread);
/* Gives a line to a thread in a child of fork that has none yet. Returns NULL if that fails; else
 * the thread itself. */
struct traced_thread *thread_begin_child(struct traced_thread *thread);

/* Returns the calling thread if it may record now. */
static inline struct traced_thread *thread_present(void)
{
    struct traced_thread *t = thread_mine;
    if (!t ||
        LIKELY(t->life == atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed) &&
               !t->off_depth && !t->busy))
        return t;
    return thread_present_slow(t);
}

/* Returns the calling thread for a call that must be recorded; a thread that has no line yet gets
 * one. */
static inline struct traced_thread *thread_recording(void)
{
    if (LIKELY(thread_mine))
        return thread_present();
    return atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed) ? thread_adopt()
                                                                               : NULL;
}

/* Returns the calling thread for a call that changes tracked state even if it is not recorded:
 * `site` 0. */
static inline struct traced_thread *thread_at(uintptr_t site)
{
    return site ? thread_recording() : thread_present();
}

/* Returns the environment of a runtime with user-level threads, in which threads of the system have
 * no lines; else NULL. */
const char *thread_runtime(void);

/* Creates the state of the calling thread. Returns NULL if it must not be traced. */
struct traced_thread *thread_create_traced(struct thread_info *task);
struct traced_thread *
thread_create_user_task(struct trace_line *line); /* Creates the state of a user-level task. */
void thread_end(struct traced_thread *thread);
/* Notes that a synchronizing call was made that is not traced. */
void thread_note_untraced(struct traced_thread *thread, enum untraced_reason why);
/* Notes that a call could not be recorded: it is counted, and the thread's next record has the
 * reason. */
void thread_note_loss(struct traced_thread *thread, enum untraced_reason why);
#define SCRATCH_BYTES (LIMIT_TEXT_BYTES + 512u)
/* Returns a buffer of SCRATCH_BYTES, or NULL if there is no memory. Must be called while busy. */
char *thread_scratch(struct traced_thread *thread);
/* Called in a child after fork; unborn: it may begin a lifetime. */
void thread_forget(bool unborn);
struct trace_line *thread_find_place(struct traced_thread *thread);
struct object_hold *thread_find_hold(struct traced_thread *thread,
                                     const struct sync_object *object);
bool thread_grow_holds(struct traced_thread *thread); /* Makes room for more holds. */
void thread_pop_inner(struct traced_thread *thread, struct object_hold *hold);

/* Returns the line on which the thread is. */
static inline struct trace_line *thread_place(struct traced_thread *thread)
{
    return LIKELY(!thread->hold_stack.count) ? thread->own : thread_find_place(thread);
}

/* Returns the thread's hold of an object, or NULL. */
static inline struct object_hold *thread_hold(struct traced_thread *thread,
                                              const struct sync_object *object)
{
    return LIKELY(!thread->hold_stack.count) ? NULL : thread_find_hold(thread, object);
}

/* Adds a hold. Returns NULL if there is no memory. */
static inline struct object_hold *thread_push(struct traced_thread *thread,
                                              struct sync_object *object, struct trace_line *line)
{
    if (UNLIKELY(thread->hold_stack.count >= thread->hold_stack.room) && !thread_grow_holds(thread))
        return NULL;
    struct object_hold *hold = &thread->hold_stack.holds[thread->hold_stack.count];
    *hold = (struct object_hold){
        .object = object, .line = line, .visit = object ? object->visit : 0, .depth = 1};
    atomic_signal_fence(memory_order_seq_cst); /* a signal handler may read the thread's line */
    thread->hold_stack.count++;
    return hold;
}

static inline void thread_pop(struct traced_thread *thread, struct object_hold *hold)
{
    if (LIKELY(hold == &thread->hold_stack.holds[thread->hold_stack.count - 1]))
        thread->hold_stack.count--;
    else
        thread_pop_inner(thread, hold);
}

/* ---- waits at futexes that no event records ---- */

/* A wait at a futex: its address, or that of an object of at most QUEUE_FUTEX_BYTES that contains
 * it; the call in the program; an address in the library's function that was called there, 0 none;
 * and the once flag of the future that is awaited, 0 none. */
struct futex_wait {
    uintptr_t word, site, library, once;
};

/* Says, until thread_futex_end(), where in the program a thread waits at a futex.  The server reads
 * it if the wait is long.  thread: NULL does nothing. */
static inline void thread_futex_begin(struct traced_thread *thread, struct futex_wait wait)
{
    if (!thread || !thread->queue)
        return;
    atomic_store_explicit(&thread->queue->futex_site, wait.site, memory_order_relaxed);
    atomic_store_explicit(&thread->queue->futex_library, wait.library, memory_order_relaxed);
    atomic_store_explicit(&thread->queue->futex_once, wait.once, memory_order_relaxed);
    atomic_store_explicit(&thread->queue->futex_word, wait.word, memory_order_relaxed);
}

static inline void thread_futex_end(void)
{
    struct traced_thread *t = thread_mine; /* a signal handler may have given it another queue */
    if (t && t->queue)
        atomic_store_explicit(&t->queue->futex_word, 0, memory_order_relaxed);
}

/* ---- the signal handler that a thread runs ---- */

struct running_handler {
    int signal; /* 0: none */
    const void *frame; /* an address in the frame that called it */
    struct traced_thread *thread; /* NULL: it is not recorded */
    bool silent; /* the handler that it interrupts had recorded nothing yet */
    bool recorded; /* that it begins */
};

/* The calling thread enters the handler of a signal; returns the one that it interrupts. The
 * records of a handler are between its begin and its end; one that records nothing has neither. */
struct running_handler running_handler_enter(int signal, const void *frame);
void running_handler_leave(struct running_handler interrupted);
/* The library that a thread closes, while its destructors run. */
struct running_close {
    const char *library; /* NULL: none; borrowed */
    const void *frame; /* of the call */
};

/* The calling thread begins to close a library; returns what it closed around that. */
struct running_close running_close_begin(const char *library, const void *frame);
void running_close_end(struct running_close outer);
/* Writes where in the program's control flow the calling thread is: "in the handler of SIGUSR1"
 * (TEXT_IN_HANDLER), "in dlclose(plugin.so)" (TEXT_IN_CLOSE).  Returns its length; 0 if it runs no
 * handler and closes no library, or may have left it by a jump. */
size_t running_context_text(char *text, size_t size);

#pragma GCC visibility pop
#endif
