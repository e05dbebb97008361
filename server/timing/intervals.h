/* Intervals of threads: what each thread did between its events (ran, or waited for which thread),
 * and which event unblocked it.
 *
 * The time of a thread is divided into intervals without gaps, from its start to its last event:
 * running, and parts of waits.  A wait w..v is divided at its releases x_1 < x_2 < ...: the wait
 * interval that ends with x_j was spent waiting for the thread of that release; the rest between
 * the last release and v is the wake-up latency.  All analyses of waits (attribution, path
 * difference, critical path, activity graph) use this data alone.
 *
 * Filled in the order of the log, so that the awaited thread's intervals are there before the end
 * of the wait; it only grows.  Threads are identified by their thread lines.  Times are ns of the
 * run.  Not thread-safe. */
#ifndef SERVER_TIMING_INTERVALS_H
#define SERVER_TIMING_INTERVALS_H

#include "server/timing/code_segments.h"

#include <stdbool.h>
#include <stdint.h>

enum wait_class { /* from where on the cause of a wait's length is searched */
                  /* since the last synchronization of both: the other could have arrived earlier */
                  WAIT_RENDEZVOUS,
                  /* since the wait's begin: no thread could have arrived earlier */
                  WAIT_CONTENTION,
                  WAIT_TIMEOUT, /* not at all: a timeout ended it */
                  WAIT_CLASSES
};

enum wait_guess { /* why the releasing thread is not certain */
                  GUESS_NONE,
                  GUESS_LATEST, /* the latest of several possible ones */
                  GUESS_LATE_RECEIVER, /* no edge says so: the other side had not arrived yet */
                  GUESSES
};

struct wait_interval {
    int64_t to_ns; /* it begins where the previous one ended, the first one with the wait */
    uint64_t release; /* position of the event of `thread` that released the waiter */
    uint32_t thread; /* the awaited thread */
    uint32_t wait : 28, /* index */
        class : 2, /* WAIT_RENDEZVOUS or WAIT_CONTENTION */
        guess : 2; /* an enum wait_guess */
};

enum unattributed_reason {
    WAIT_ATTRIBUTED,
    /* no event of another thread released it: atomics, the operating system */
    UNATTRIBUTED_UNTRACED,
    UNATTRIBUTED_LOST, /* events on the line, or before it, were lost or discarded */
    UNATTRIBUTED_OPEN, /* it has not ended yet */
    UNATTRIBUTED_DELETED, /* nor will it: another thread deleted the task that waited */
    UNATTRIBUTED_REASONS
};

struct wait_record {
    uint64_t begin, end; /* positions of the events; an open wait has no end (NO_POSITION) */
    int64_t from_ns, to_ns;
    uint32_t thread, about; /* the waiter; the awaited line, 0 unknown */
    /* of its begin; type 0: there is no event, the thread waits for another thread's end */
    uint32_t place, type;
    uint32_t segment; /* its first wait interval, */
    uint16_t count; /* and their number; 0: unattributed, or a timeout */
    uint8_t class; /* class of the whole wait, according to the target description */
    uint8_t unexplained; /* an enum unattributed_reason */
};

enum interval_kind {
    INTERVAL_RUNS,
    INTERVAL_SEGMENT, /* it waited for a thread */
    INTERVAL_LATENCY, /* it was unblocked and had not resumed yet */
    INTERVAL_TIMEOUT,
    INTERVAL_UNATTRIBUTED
};

struct interval {
    int64_t to_ns; /* it begins where the previous one ended, the first one at the thread's start */
    uint64_t position; /* of the event at its end; within a wait the release */
    uint32_t step; /* the code segment (code_segments.h); 0 in a wait interval */
    /* an enum interval_kind; of: index of the wait interval, else of the wait.  For a code segment
     * of calls the place where all of these end, each with the same position; else 0. */
    uint32_t of : 29, is : 3;
};

/* Timeline of one thread. */
struct thread_timeline {
    uint32_t thread, maker; /* lines; maker: the creating thread, 0 unknown */
    /* created, started, exited, closed (joined); INTERVALS_NEVER: not, or not recorded */
    int64_t made_ns, start_ns, end_ns, closed_ns;
    uint64_t made, start, end, closed; /* positions of these events, or NO_POSITION */
    /* its first event says that the thread begins there, whether or not its creator is known */
    bool born;
    struct interval *items;
    size_t count, room;
    /* groups of which it was a member, whether it waited or not: barriers, collective operations */
    struct gathering {
        int64_t came_ns, at_ns; /* when it arrived, and when the last member did */
        uint64_t group;
        /* number of its intervals that had ended when it arrived; set by intervals_add_gathering()
         */
        size_t came;
    } *gatherings;
    size_t gathering_count, gathering_room;
    struct interval_edge { /* incoming order edges, whether it waited for them or not, by at_ns */
        int64_t at_ns, from_ns; /* time of the event here; of the other thread's event */
        /* the other thread; the line of the edge, 0: a message, or creation or exit of a thread */
        uint32_t thread, about;
    } *ties;
    size_t tie_count, tie_room;
};

#define INTERVALS_NEVER INT64_MIN

struct intervals {
    struct code_segments steps;
    struct thread_timeline *threads; /* in the order of their first use */
    uint32_t thread_count;
    size_t thread_room;
    uint32_t *thread_of; /* by line - 1: 1 + index, 0 none */
    size_t line_room;
    struct wait_record *waits; /* in the order of the log, which is that of their ends */
    size_t wait_count, wait_room;
    struct wait_interval *segments;
    size_t segment_count, segment_room;
    size_t interval_count, tie_count; /* of all threads */
    uint64_t *violations; /* positions of events by which the program breaks a rule */
    size_t violation_count, violation_room;
};

/* ---- filling: threads by their lines ---- */

void intervals_set_created(struct intervals *all, uint32_t line, uint32_t maker, int64_t at_ns,
                           uint64_t position);
/* Records the first event of the thread itself: its intervals begin here. */
void intervals_start(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position);
void intervals_add_creation(struct intervals *all, uint32_t line);
void intervals_ended(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position);
void intervals_closed(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position);
/* Adds that the thread ran the code segment until its event at to_ns, or until its last event if
 * that is later. */
void intervals_add_run(struct intervals *all, uint32_t line, uint32_t step, int64_t to_ns,
                       uint64_t position);
/* Adds a part of the running time until the event, at a place: a code segment of calls. */
void intervals_add_activity(struct intervals *all, uint32_t line, uint32_t step, int64_t to_ns,
                            uint64_t position, uint32_t place);
/* Adds a wait and returns its index.  The ends of its wait intervals must lie within the wait and
 * not decrease; their `wait` is set here. `step` is the code segment of the latency, the timeout or
 * the unattributed wait. */
uint32_t intervals_add_wait(struct intervals *all, struct wait_record wait,
                            const struct wait_interval *segments, uint32_t count, uint32_t step);
/* Adds a member of a group.  Must be called after everything that the thread did before it arrived
 * was added, and before anything later.  For the last member to arrive, an interval of length 0
 * separates the time before the group from that after it. */
void intervals_add_gathering(struct intervals *all, uint32_t line, struct gathering gathering);
/* Adds an edge from another thread's event to the thread's event at tie.at_ns. (Releases of waits
 * need not be added.) */
void intervals_add_edge(struct intervals *all, uint32_t line, struct interval_edge tie);
void intervals_add_violation(struct intervals *all, uint64_t position);
void intervals_free(struct intervals *all); /* frees the memory; it is empty then */

/* ---- reading ---- */

size_t intervals_bytes(const struct intervals *all); /* approximate size in memory */
/* Returns the timeline of a thread, or NULL if nothing is known of it. */
const struct thread_timeline *intervals_for_thread(const struct intervals *all, uint32_t line);
/* Returns the index of the first interval that ends after a time, or the count if there is none. */
size_t intervals_at(const struct thread_timeline *course, int64_t at_ns);
/* Does the same, searching from *near, the index that was found last; both are at most the count.
 */
size_t intervals_near(const struct thread_timeline *course, int64_t at_ns, size_t *near);
static inline int64_t interval_begin(const struct thread_timeline *course, size_t i)
{
    return i ? course->items[i - 1].to_ns : course->start_ns;
}
static inline int64_t wait_interval_begin(const struct intervals *all, uint32_t segment)
{
    const struct wait_record *wait = &all->waits[all->segments[segment].wait];
    return segment == wait->segment ? wait->from_ns : all->segments[segment - 1].to_ns;
}

#endif
