/* How many calls of each thread began while other threads were at work, by when the calls began and
 * when the kernel switched the threads: a thread that sleeps, in whatever call, is not at work.
 *
 * A thread counts what it knows as it calls: which others are in waits that are recorded.  This is
 * known of a whole run that has ended, of which each call was kept and each thread's switches
 * were. */
#ifndef SERVER_QUERIES_TABLES_OVERLAPS_H
#define SERVER_QUERIES_TABLES_OVERLAPS_H

#include "server/queries/tables/table_query.h"
#include "server/timing/call_entries.h"
#include "server/timing/concurrency_levels.h"

/* A thread of the order, and when it was at work. */
struct overlaps_course {
    struct overlaps_work {
        int64_t from_ns, to_ns;
    } *items;
    size_t count, room;
};

/* A thread that measured its calls, by context: how many were kept, and how many of them began
 * while other threads were at work. */
struct overlaps_thread {
    uint64_t *calls, *concurrent;
};

/* Zero-initialised: not known. */
struct overlaps {
    const struct table_view *view;
    struct concurrency_levels levels;
    struct overlaps_course *courses; /* as the run's intervals have them */
    uint32_t course_count;
    struct overlaps_thread *threads; /* as the run's contexts have them */
    uint32_t thread_count;
    uint32_t next; /* thread that is counted */
    struct call_entries_walk walk;
    size_t near, own; /* indices that were found last */
    bool known, walks;
    bool whole; /* so far: of all contexts each call was kept */
};

/* Known is set where an answer will be there. */
void overlaps_begin(struct overlaps *overlaps, const struct table_view *view);
/* Looks at about `budget` calls more; true: that was all. */
bool overlaps_step(struct overlaps *overlaps, uint64_t *budget);
/* Of each context of a thread of the run's contexts, once all are looked at; NULL: not known. */
const uint64_t *overlaps_of(const struct overlaps *overlaps, uint32_t thread);
void overlaps_free(struct overlaps *overlaps); /* empties it */

#endif
