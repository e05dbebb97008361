/* Figures of a run over time: what a process or a thread stood at, as it was told now and then.
 *
 * Of each meter of each process or thread there is one.  Meters are those of the operating system
 * (wire/os_usage.h), those of heaps, and a program's own, whose names are told apart.  A series has
 * room for so many points; when it is full every other one goes, so that a long one is coarser and
 * never greater.  Its newest point stays.  Nothing of it is saved: what was told is in the trace
 * file, and is told again when that is read. */
#ifndef SERVER_RUN_OS_METRICS_H
#define SERVER_RUN_OS_METRICS_H

#include "server/run/run.h"
#include "wire/os_usage.h"

#define OS_METRICS_POINTS 4096u

/* Codes of meters; below them are those of enum usage_meter. */
#define OS_METRICS_HEAP_LIVE 256u   /* bytes that were asked for and not given back */
#define OS_METRICS_HEAP_BLOCKS 257u /* how many these are */
#define OS_METRICS_OWN 1024u        /* and its code: a program's own */

#define OS_METRICS_NO_PROCESS UINT32_MAX /* process of what belongs to no program */

struct os_metric_point {
    int64_t at_ns; /* of the run */
    int64_t value;
};

struct os_metric_series {
    uint32_t process, thread; /* the thread's line; 0: the whole process */
    uint32_t meter;
    bool exact; /* the last point is what the process or thread said at its end */
    uint64_t samples; /* that were taken in all */
    int64_t most, least;
    struct os_metric_point *points; /* by time */
    uint32_t count;
    int64_t apart_ns; /* between two points, at least, but for the last one */
};

struct os_metric_kind {
    const char *name, *unit; /* "bytes", "ns"; "" a number */
    bool grows; /* it only grows, else it is a level */
    int64_t scale; /* values are so many to one of the unit; 0 means 1 */
};

/* A figure: process, thread, meter and exact are looked at.  Left out are those that are earlier
 * than what is there of their series, and samples after an exact one. */
void os_metrics_add(struct run *run, const struct os_metric_series *of,
                    struct os_metric_point point);
/* How a process calls a meter of its own; the newest says it.  The texts are copied. */
void os_metrics_name(struct run *run, uint32_t process, uint32_t meter, struct os_metric_kind as);

size_t os_metrics_count(const struct run *run);
const struct os_metric_series *os_metrics_at(const struct run *run, size_t i); /* as they came */
/* NULL: there is none.  A thread's line says which process it is in; 0: the whole process. */
const struct os_metric_series *os_metrics_find(const struct run *run, uint32_t process,
                                               uint32_t thread, uint32_t meter);
/* What it is called; the texts are the run's, until the next is named. */
struct os_metric_kind os_metrics_meter(const struct run *run,
                                       const struct os_metric_series *series);
/* Until when its last point holds: no longer than its process was there; of what grows, than it was
 * looked at. */
int64_t os_metrics_until_ns(const struct run *run, const struct os_metric_series *series);

struct os_metrics_store;
void os_metrics_free(struct os_metrics_store *all); /* of NULL nothing */

#endif
