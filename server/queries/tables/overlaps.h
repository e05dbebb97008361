/* Concurrent calls of each thread: how many began while other threads were at work, computed from
 * the call records and the kernel's context switches.  A thread that is asleep, in whatever call,
 * is not at work.
 *
 * A thread itself counts with what it knows at the call: which others are in traced waits.  This
 * exact count needs a whole run that has ended, with all calls and all context switches kept. */
#ifndef SERVER_QUERIES_TABLES_OVERLAPS_H
#define SERVER_QUERIES_TABLES_OVERLAPS_H

#include "server/queries/tables/table_query.h"
#include "server/timing/call_entries.h"
#include "server/timing/concurrency_levels.h"

/* A thread with intervals, and the times at which it was at work. */
struct overlaps_course {
    struct overlaps_work {
        int64_t from_ns, to_ns;
    } *items;
    size_t count, room;
};

/* A thread that measured its calls: by context, how many were kept, and how many of these began
 * while other threads were at work. */
struct overlaps_thread {
    uint64_t *calls, *concurrent;
};

/* Zero-initialize it: the result is not known then. */
struct overlaps {
    const struct table_view *view;
    struct concurrency_levels levels;
    struct overlaps_course *courses; /* by thread index of the run's intervals */
    uint32_t course_count;
    struct overlaps_thread *threads; /* by thread index of the run's contexts */
    uint32_t thread_count;
    uint32_t next; /* index of the thread being counted */
    struct call_entries_walk walk;
    size_t near, own; /* indices found last, where the next search begins */
    bool known, walks;
    bool whole; /* all calls of all contexts counted so far were kept */
};

/* Begins; sets `known` if there will be a result. */
void overlaps_begin(struct overlaps *overlaps, const struct table_view *view);
/* Processes about `budget` calls; returns true when all are processed. */
bool overlaps_step(struct overlaps *overlaps, uint64_t *budget);
/* Returns the number of concurrent calls of each context of a thread, once all are processed; NULL
 * if not known. */
const uint64_t *overlaps_of(const struct overlaps *overlaps, uint32_t thread);
void overlaps_free(struct overlaps *overlaps); /* frees the memory; it is empty then */

#endif
