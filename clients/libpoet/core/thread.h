/* The calling thread: what it holds, where it stands, whether it records. */
#ifndef CLIENTS_LIBPOET_CORE_THREAD_H
#define CLIENTS_LIBPOET_CORE_THREAD_H

#include "clients/libpoet/core/current_thread.h"
#include "clients/libpoet/core/likely.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/foreign_threads.h"
#include "clients/libpoet/core/thread_info.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/limits.h"
#include "wire/slot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct object_hold {
    struct sync_object *object; /* NULL for a line that the program moved to */
    struct trace_line *line;
    uint64_t visit;
    unsigned depth; /* recursive visits */
    bool writing;   /* a read-write lock, held by its writer */
};

#define LOST_RANGES 64
#define ONCE_REMEMBERED 16
#define NO_LIFE UINT32_MAX

struct traced_thread {
    struct queue_head *queue;
    struct ring_slot *slots;
    uint64_t head, tail; /* own copy of head; last seen tail */
    uint64_t mask;
    struct thread_profile *measured; /* what it measures of itself, NULL: nothing */
    uintptr_t module_start, module_bytes; /* where the last call came from */
    uint32_t life; /* the one in which its queue was made */
    struct trace_line *own;   /* where it stands by itself */
    struct trace_line *alone; /* the same as far as nobody else numbers it, else NULL */
    struct thread_info *task;  /* NULL: a task of the program's own */
    struct object_hold *holds;
    size_t hold_count, hold_room;
    volatile unsigned busy; /* more than 0: recording, or in a lock of ours; see tracer_lock.c */
    volatile uint8_t
        /* an enum untraced_reason: of the calls since the last record one is not in the trace */
        doubt;
    volatile uint16_t
        untold; /* UNSEEN_BITs: what was not followed, and is to be told with the next record */
    unsigned waiting; /* inside a wait: handlers' events go to the own line */
    bool rests; /* it is no running thread (poet_rests) */
    unsigned off; /* nesting of poet_trace_off */
    int rounds; /* of thread-specific data at its end */
    bool stalled; /* waited once in vain: drop until there is room */
    struct queue_head
        *older; /* the queue before a larger one, until the server has taken what is in it */
    uint64_t older_head;
    uint64_t untaken; /* events that an earlier server had not taken from the queue when it went */
    uint64_t recorded_at; /* the time of its last record, where clock_gap is not 0 */
    uint64_t clock_gap; /* after so much time a record bears the processor clock; 0: not wanted */
    uint64_t cpu_had,
        cpu_since; /* ns: what it had of the clock; of that, from when on it has more */
    bool cpu_anew; /* its clock counts from its next record on */
    uint64_t look_at; /* the time, as slots bear it, of the next look at the server */
    struct lost_range {
        uint32_t line;
        uint64_t first, count;
    } lost[LOST_RANGES];
    bool unnumbered; /* records were dropped that are not in it */
    size_t lost_count;
    struct coroutine *strand; /* the one it runs, NULL its own stack */
    struct poet_stack *stack; /* the innermost that it runs on besides its own; NULL: on its own */
    uintptr_t stack_from, stack_bytes; /* the memory of its own stack; 0 bytes: not known */
    struct once_call *once; /* the initialiser about to run */
    const struct sync_object *ready[ONCE_REMEMBERED]; /* found initialised before */
    unsigned ready_next;
    struct event_id last; /* its last event, once it had written as much as `last_head` */
    uint64_t last_head;
    bool exiting; /* by pthread_exit */
    bool cancelled; /* its first event after that was recorded */
    struct _pthread_cleanup_buffer cleanup; /* cancellation.c */
    struct wire_partner *partners; /* where those of one event are put together */
    char *scratch; /* SCRATCH_BYTES for one text or message, while busy */
    struct thread_profile *measured_kept; /* the memory for that */
    uint32_t measured_later; /* how often that is not tried again yet */
    struct thread_schedule part; /* in a run that is repeated */
    uint32_t asks; /* how often it has asked for whatever there is */
    uint16_t named; /* of a task of the program's own: schedule_text_hash of its name */
    struct traced_thread *next_free;
};

/* The calling thread records, or changes what it records from: a signal handler that comes in
 * between must not.  Nested as often as need be. */
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

/* The same as far as it may record, now or once it is on again. */
static inline struct traced_thread *thread_self(void)
{
    struct traced_thread *t = thread_mine;
    return t && t->life == atomic_load_explicit(&current_lifetime, memory_order_relaxed) ? t : NULL;
}

/* One that does not simply record: NULL, or a thread that has begun a new life. */
struct traced_thread *thread_present_slow(struct traced_thread *thread);
/* In a child of fork that has no line yet: gives it one; NULL: in vain.  Else the thread itself. */
struct traced_thread *thread_begin_child(struct traced_thread *thread);

/* The same as far as it may record now. */
static inline struct traced_thread *thread_present(void)
{
    struct traced_thread *t = thread_mine;
    if (!t || LIKELY(t->life == atomic_load_explicit(&current_lifetime, memory_order_relaxed) &&
                     !t->off && !t->busy))
        return t;
    return thread_present_slow(t);
}

/* The same for a call that is to be recorded: a thread that has no line yet gets one. */
static inline struct traced_thread *thread_recording(void)
{
    if (LIKELY(thread_mine != NULL))
        return thread_present();
    return atomic_load_explicit(&current_lifetime, memory_order_relaxed) ? thread_adopt() : NULL;
}

/* For a call that matters to the books even where it is not to be recorded: `site` 0. */
static inline struct traced_thread *thread_at(uintptr_t site)
{
    return site ? thread_recording() : thread_present();
}

/* The environment of a runtime that has threads of its own, so that the system's have no lines;
 * else NULL. */
const char *thread_runtime(void);

struct traced_thread *
thread_create_traced(struct thread_info *task); /* for the calling thread; NULL: not to be traced */
struct traced_thread *
thread_create_user_task(struct trace_line *line); /* for a task of the program's own */
void thread_end(struct traced_thread *thread);
/* A synchronising call was seen but cannot be followed. */
void thread_note_untraced(struct traced_thread *thread, enum untraced_reason why);
/* A call that would have been recorded is not: it is counted, and the thread's next record bears
 * the reason. */
void thread_note_loss(struct traced_thread *thread, enum untraced_reason why);
#define SCRATCH_BYTES (LIMIT_TEXT_BYTES + 512u)
char *thread_scratch(struct traced_thread *thread); /* call while busy; NULL: no memory */
void thread_forget(bool unborn); /* in a child after fork; unborn: it may begin a life */
struct trace_line *thread_find_place(struct traced_thread *thread);
struct object_hold *thread_find_hold(struct traced_thread *thread,
                                     const struct sync_object *object);
bool thread_grow_holds(struct traced_thread *thread); /* for more holds */
void thread_pop_inner(struct traced_thread *thread, struct object_hold *hold);

/* Where it stands. */
static inline struct trace_line *thread_place(struct traced_thread *thread)
{
    return LIKELY(!thread->hold_count) ? thread->own : thread_find_place(thread);
}

/* Its hold of an object, or NULL. */
static inline struct object_hold *thread_hold(struct traced_thread *thread,
                                              const struct sync_object *object)
{
    return LIKELY(!thread->hold_count) ? NULL : thread_find_hold(thread, object);
}

/* NULL: there is no memory. */
static inline struct object_hold *thread_push(struct traced_thread *thread,
                                              struct sync_object *object, struct trace_line *line)
{
    if (!LIKELY(thread->hold_count < thread->hold_room) && !thread_grow_holds(thread))
        return NULL;
    struct object_hold *hold = &thread->holds[thread->hold_count];
    *hold = (struct object_hold){
        .object = object, .line = line, .visit = object ? object->visit : 0, .depth = 1};
    atomic_signal_fence(memory_order_seq_cst); /* a handler looks where the thread is */
    thread->hold_count++;
    return hold;
}

static inline void thread_pop(struct traced_thread *thread, struct object_hold *hold)
{
    if (LIKELY(hold == &thread->holds[thread->hold_count - 1]))
        thread->hold_count--;
    else
        thread_pop_inner(thread, hold);
}

#pragma GCC visibility pop
#endif
