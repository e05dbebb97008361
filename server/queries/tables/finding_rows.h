/* Common parts of all findings: their texts, their thresholds, and adding one to the table.
 *
 * A finding is a fact about the run above a stated threshold, with the event to look at first.
 * Each kind of finding in the table adds one note with advice below it. */
#ifndef SERVER_QUERIES_TABLES_FINDING_ROWS_H
#define SERVER_QUERIES_TABLES_FINDING_ROWS_H

#include "server/queries/tables/table_query.h"

#define FEW_NS 1000000 /* times below a millisecond are ignored */
#define LIFE_SHARE 0.1 /* share of a thread's lifetime or of the run; less is ignored */

enum finding_column {
    FINDING_ROW_TEXT,
    FINDING_ROW_THREAD,
    FINDING_ROW_OBJECT,
    FINDING_ROW_UNBLOCKED_BY,
    FINDING_ROW_DURATION,
    FINDING_ROW_SHARE,
    FINDING_ROW_COUNT,
    FINDING_ROW_LOCATION,
    FINDING_ROW_UNBLOCKED_AT,
    FINDING_ROW_EVENT,
    FINDING_ROW_GAIN,
    FINDING_ROW_ON_CPU, /* the thread that ran on the CPU of the one that ended the wait, */
    FINDING_ROW_WAITED  /* of how long a wait */
};

enum finding_row_kind {
    FINDING_ROW_OPEN,     /* waits that have not ended */
    FINDING_ROW_PATH,     /* the thread that dominates the critical path */
    FINDING_ROW_CPU_CONTENTION, /* threads that were runnable, but had no CPU */
    FINDING_ROW_WORKERS, /* tasks of a runtime that were runnable, but on no worker thread */
    FINDING_ROW_WAKEUP_LATENCY,    /* threads with a long wake-up latency */
    FINDING_ROW_LATE_JOIN,     /* threads that exited long before they were joined */
    FINDING_ROW_LOCK,     /* waits for a lock */
    /* waits for units that other threads hold and release, other than locks */
    FINDING_ROW_SEMAPHORE,
    FINDING_ROW_SATURATED,   /* an object that a thread waits for nearly all the time */
    FINDING_ROW_OVERTAKEN,  /* waits in which another thread acquired it more than once */
    FINDING_ROW_PREEMPTED, /* waits for a lock of a holder that was displaced by another thread */
    FINDING_ROW_BOTTLENECK,   /* the thread that other threads mostly wait for */
    FINDING_ROW_LATE_ARRIVAL, /* the thread that others mostly wait for at barriers */
    FINDING_ROW_LATE_SENDER,   /* the thread that sends what receivers mostly wait for */
    FINDING_ROW_USELESS_WAKEUPS,  /* threads that wait again immediately after each wake-up */
    FINDING_ROW_TIMEOUTS,    /* waits that timed out */
    FINDING_ROW_SERIALIZED,      /* threads created one after the other */
    FINDING_ROW_PING_PONG,    /* two threads that wait for each other */
    FINDING_ROW_LITTLE_PARALLELISM, /* many threads, of which about one runs at a time */
    FINDING_ROW_UNATTRIBUTED,
    FINDING_ROW_KINDS
};

/* Zero-initialize it except view and table. */
struct finding_rows {
    const struct table_view *view;
    struct result_table *table;
    int64_t run_ns;
    uint32_t used; /* bit mask of the kinds in the table */
    struct finding_states { /* sums of a thread in the range of the table */
        bool known;
        struct thread_states sums;
    } *states; /* by thread index; to be freed */
};

void finding_rows_columns(struct result_table *table);
/* Adds a row for `threads` threads, of which `thread` is named.  Returns NULL if there are too many
 * rows. */
struct table_cell *finding_rows_add(struct finding_rows *h, enum finding_row_kind kind,
                                    uint32_t threads, uint32_t thread, int64_t ns, int64_t of_ns,
                                    struct event_id event);
/* Sets the cells for the awaited object, the number of times, and where the wait began. */
void finding_rows_wait(const struct finding_rows *h, struct table_cell *cells,
                       const struct wait_record *wait, uint64_t times);
/* Sets the cells for the thread that ended a wait interval, and where. */
void finding_rows_release(const struct finding_rows *h, struct table_cell *cells,
                          const struct wait_interval *segment);
/* Adds notes with advice for each kind of finding that was added. */
void finding_rows_advise(const struct finding_rows *h);

/* Add the findings about locks, and about semaphores with units that their holders release
 * (lock_contention.c); and about patterns of waits (wait_patterns.c). */
void lock_contention_add_findings(struct finding_rows *hinting);
void wait_patterns_add_findings(struct finding_rows *hinting);

/* Returns the sums of a thread's states in the range; valid until the table is filled. */
const struct thread_states *finding_rows_states(struct finding_rows *h,
                                                const struct thread_timeline *course);
/* Returns the lifetime of a thread within the range. */
int64_t finding_rows_life(struct finding_rows *h, uint32_t thread);
/* Returns the end of what counts of the thread: of the range, or of the requested past. */
int64_t finding_rows_until(const struct finding_rows *h, uint32_t thread);
/* Returns the part of a wait, or of a wait interval, that lies in the range; 0 if none does. */
int64_t finding_rows_wait_ns(const struct finding_rows *h, const struct wait_record *wait);
int64_t finding_rows_segment_ns(const struct finding_rows *h, uint32_t segment);

#endif
