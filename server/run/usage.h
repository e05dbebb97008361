/* What the operating system said of a run's processes and threads (wire/usage.h), over time.
 *
 * Of each meter of each process or thread there is a series of what it stood at.  A series has room for so many points;
 * when it is full every other one goes, so that a long one is coarser and never greater.  Its newest point stays. */
#ifndef SERVER_RUN_USAGE_H
#define SERVER_RUN_USAGE_H

#include "server/run/run.h"
#include "wire/usage.h"

#define USAGE_POINTS 4096u

struct usage_point {
    int64_t at_ns; /* of the run */
    uint64_t value;
};

struct usage_series {
    uint32_t process, thread; /* the thread's line; 0: the whole process */
    uint16_t meter; /* an enum usage_meter, or HEAP_METER_* (wire/heap.h) */
    bool exact; /* the last point is what the process or thread said at its end */
    uint64_t samples; /* that were taken in all */
    uint64_t most, least;
    struct usage_point *points; /* by time */
    uint32_t count;
    int64_t apart_ns; /* between two points, at least, but for the last one */
};

/* A figure.  Left out are those that are earlier than what is there of their series, and samples after an exact one. */
void usage_add(struct run *run, const struct usage_series *of, struct usage_point point);
size_t usage_count(const struct run *run);
const struct usage_series *usage_series_at(const struct run *run, size_t i); /* as they came */

/* Of a thread's line; NULL: there is none. */
const struct usage_series *usage_find(const struct run *run, uint32_t thread,
                                      enum usage_meter meter);

struct usage;
void usage_free(struct usage *usage); /* of NULL nothing */

#endif
