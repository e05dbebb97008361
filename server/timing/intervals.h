/* What each thread did between its events: ran, or waited, for whom, and who let it go on.
 *
 * A thread's time is cut into intervals, one after the other without a gap from where it started to
 * its last event: of running, and of waits in parts.  A wait w..v is cut at its releases x_1 < x_2
 * < ... : the segment that ends with x_j was spent waiting for the thread that released it then;
 * what is left between the last release and v is the latency.  All that explains waiting (blame,
 * difference, path, graph) is computed from this alone.
 *
 * Filled in the order of the log, so that whom somebody waited for is there before the end of that
 * wait; it only grows.  Threads are named by their own lines.  Times are ns of the run.  Not
 * thread-safe. */
#ifndef SERVER_TIMING_INTERVALS_H
#define SERVER_TIMING_INTERVALS_H

#include "server/timing/code_segments.h"

#include <stdbool.h>
#include <stdint.h>

enum wait_class { /* how far back one looks for why it took so long */
                  /* to where the two met last: the other could have come earlier */
                  WAIT_RENDEZVOUS,
                  WAIT_CONTENTION, /* to the wait's begin: nobody could have come earlier */
                  WAIT_TIMEOUT, /* nowhere: the clock ended it */
                  WAIT_CLASSES
};

enum wait_guess { /* why somebody is not certainly who let it go on */
                  GUESS_NONE,
                  GUESS_LATEST, /* the latest of several that may have been it */
                  GUESS_LATE_RECEIVER, /* no edge says so: the other side was not there yet */
                  GUESSES
};

struct wait_interval {
    int64_t to_ns; /* begins where the one before ended, the first with the wait */
    uint64_t release; /* position of the event by which the thread let it go on */
    uint32_t thread; /* whom it waited for */
    uint32_t wait : 28, /* index */
        class : 2, /* WAIT_RENDEZVOUS or WAIT_CONTENTION */
        guess : 2; /* an enum wait_guess */
};

enum unattributed_reason {
    WAIT_ATTRIBUTED,
    UNATTRIBUTED_UNTRACED, /* no event of another thread let it go on: atomics, the system */
    UNATTRIBUTED_LOST, /* events of the line, or before it, were lost or are forgotten */
    UNATTRIBUTED_OPEN, /* it had not ended at the end of what is known */
    UNATTRIBUTED_REASONS
};

struct wait_record {
    uint64_t begin, end; /* positions of the events; an open one has no end (NO_POSITION) */
    int64_t from_ns, to_ns;
    uint32_t thread, about; /* who waited; the line that it waited for, 0 unknown */
    uint32_t place, type; /* of its begin; type 0: no event, the thread waits for an end */
    uint32_t segment; /* the first of its segments, */
    uint16_t count; /* and how many; 0: not explained, or a timer */
    uint8_t class; /* of the whole, as the description says */
    uint8_t unexplained; /* an enum unattributed_reason */
};

enum interval_kind {
    INTERVAL_RUNS,
    INTERVAL_SEGMENT, /* it waited for somebody */
    INTERVAL_LATENCY, /* it was let go and did not go on yet */
    INTERVAL_TIMEOUT,
    INTERVAL_UNATTRIBUTED
};

struct interval {
    int64_t to_ns; /* begins where the one before ended, the first where the thread started */
    uint64_t position; /* of the event at its end; within a wait the release */
    uint32_t step; /* what it did (code_segments.h); 0 in a segment */
    uint32_t of : 29,
        is : 3; /* an enum interval_kind; of: a segment's index, else the wait's; of a step of calls the
                 * place where all of these end, each with the same position; else 0 */
};

/* One thread's life and course. */
struct thread_timeline {
    uint32_t thread, maker; /* lines; maker 0: whoever made it is not known */
    int64_t made_ns, start_ns, end_ns, closed_ns; /* INTERVALS_NEVER: not, or not seen */
    uint64_t made, start, end, closed; /* positions likewise, or NO_POSITION */
    bool born; /* where it starts it says that it begins, whoever made it */
    struct interval *items;
    size_t count, room;
    struct
        gathering { /* groups that it was a member of, as it waited or not: barriers, collectives */
        int64_t came_ns, at_ns; /* when it came, and the last member */
        uint64_t group;
        /* how many of its intervals were over when it came; set by intervals_add_gathering */
        size_t came;
    } *gatherings;
    size_t gathering_count, gathering_room;
    struct interval_edge { /* order from other threads, as it waited for it or not, by at_ns */
        int64_t at_ns, from_ns; /* when it came here; the other thread's event */
        uint32_t thread,
            about; /* the other one; the line by which it is known, 0: a message, a life */
    } *ties;
    size_t tie_count, tie_room;
};

#define INTERVALS_NEVER INT64_MIN

struct intervals {
    struct code_segments steps;
    struct thread_timeline *threads; /* in the order of their first being told of */
    uint32_t thread_count;
    size_t thread_room;
    uint32_t *thread_of; /* by line - 1: 1 + index, 0 none */
    size_t line_room;
    struct wait_record *waits; /* in the order of the log: by their ends */
    size_t wait_count, wait_room;
    struct wait_interval *segments;
    size_t segment_count, segment_room;
    size_t interval_count, tie_count; /* of all threads */
};

/* ---- filling: threads by their lines ---- */

/* The thread's index, made on first use. */
uint32_t intervals_thread(struct intervals *all, uint32_t line);
void intervals_set_created(struct intervals *all, uint32_t line, uint32_t maker, int64_t at_ns,
                           uint64_t position);
/* Its first event of its own: intervals begin here. */
void intervals_start(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position);
void intervals_add_creation(struct intervals *all, uint32_t line);
void intervals_ended(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position);
void intervals_closed(struct intervals *all, uint32_t line, int64_t at_ns, uint64_t position);
/* It ran the step until its event at a time, no earlier than its last one (else: at that). */
void intervals_add_run(struct intervals *all, uint32_t line, uint32_t step, int64_t to_ns,
                       uint64_t position);
/* A part of what it ran until that event, at that place: a step of calls. */
void intervals_add_activity(struct intervals *all, uint32_t line, uint32_t step, int64_t to_ns,
                            uint64_t position, uint32_t place);
/* It waited: the segments' ends lie within the wait and do not fall; their `wait` is set here.
 * latency, or what a timer or an unexplained wait is called, is a step of its own.  Returns the
 * wait's index. */
uint32_t intervals_add_wait(struct intervals *all, struct wait_record wait,
                            const struct wait_interval *segments, uint32_t count, uint32_t step);
/* A member of a group, told when all that it did until it came is, and nothing after that.  Where
 * it was the last to come, an interval of no length parts what was before the group from what was
 * after it. */
void intervals_add_gathering(struct intervals *all, uint32_t line, struct gathering gathering);
/* Its event at tie.at_ns is after one of another thread.  (Releases of waits need not be told
 * again.) */
void intervals_add_edge(struct intervals *all, uint32_t line, struct interval_edge tie);
void intervals_free(struct intervals *all); /* empties it */

/* ---- looking ---- */

size_t intervals_bytes(const struct intervals *all); /* in memory, about */
/* NULL: nothing is known of such a thread. */
const struct thread_timeline *intervals_for_thread(const struct intervals *all, uint32_t line);
/* Index of the first interval that ends after a time; the count, if none does. */
size_t intervals_at(const struct thread_timeline *course, int64_t at_ns);
/* The same, where *near, the index that was found last, is mostly near it; both are at most the
 * count. */
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
