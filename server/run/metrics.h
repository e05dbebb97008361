/* Metrics of a run: series of sampled values of its processes and threads, and what programs
 * report of the metrics that they maintain.
 *
 * There is one series for each metric of each process or thread.  Metrics are those of the
 * operating system (wire/os_usage.h), those of heaps, and user-defined ones, which have names.
 * A series has room for a fixed number of points; when it is full, every other point is removed,
 * so that a long series is coarser but not larger.  The newest point is kept.  Series are not
 * saved: the samples are in the trace file and are delivered again when that is read.
 *
 * Metrics of programs (wire/metric_messages.h) have names, the last reported counts of each thread,
 * and sums of the samples of those that are sampled.  Not thread-safe. */
#ifndef SERVER_RUN_METRICS_H
#define SERVER_RUN_METRICS_H

#include "server/run/run.h"
#include "wire/metric_messages.h"
#include "wire/os_usage.h"

/* ---- series ---- */

#define OS_METRICS_POINTS 4096u

/* Codes of metrics; lower codes are those of enum usage_meter, and USAGE_NO_COUNTER plus one of
 * them, of which the value is an errno. */
#define OS_METRICS_HEAP_LIVE 256u   /* bytes that were allocated and not freed */
#define OS_METRICS_HEAP_BLOCKS 257u /* number of these blocks */
#define OS_METRICS_OWN 1024u        /* plus the code of a user-defined metric */

#define OS_METRICS_NO_PROCESS UINT32_MAX /* process of a series that belongs to no program */

struct os_metric_point {
    int64_t at_ns; /* of the run */
    int64_t value;
};

struct os_metric_series {
    uint32_t process, thread; /* the thread's line; 0: the whole process */
    uint32_t meter;
    bool exact; /* the last point is a final value, reported when the process or thread ended */
    uint64_t samples; /* number of all samples received */
    int64_t most, least;
    struct os_metric_point *points; /* sorted by time */
    uint32_t count;
    int64_t apart_ns; /* minimum distance between two points, except before the last one */
};

struct os_metric_kind {
    const char *name, *unit; /* "bytes", "ns"; "" a number */
    bool grows; /* the value only grows (a counter); else it is a level (a gauge) */
    int64_t scale; /* values per unit; 0 means 1 */
};

/* Compares two series by process, thread and metric, for qsort(). */
int os_metric_series_compare(const struct os_metric_series *x, const struct os_metric_series *y);
/* Adds a point to the series of the given process, thread, meter and exact.  Ignores points
 * earlier than the newest one of the series, and samples after an exact point. */
void os_metrics_add(struct run *run, const struct os_metric_series *of,
                    struct os_metric_point point);
/* Sets a process's name and unit of a user-defined metric; the last call holds.  Copies the
 * texts. */
void os_metrics_name(struct run *run, uint32_t process, uint32_t meter, struct os_metric_kind as);

size_t os_metrics_count(const struct run *run);
/* Returns a series by its index, in the order of their first points. */
const struct os_metric_series *os_metrics_at(const struct run *run, size_t i);
/* Returns a series, or NULL. thread: a line of that process; 0: the whole process. */
const struct os_metric_series *os_metrics_find(const struct run *run, uint32_t process,
                                               uint32_t thread, uint32_t meter);
/* Returns the name and unit of a metric; the run owns the texts, which are valid until the next
 * os_metrics_name(). */
struct os_metric_kind os_metrics_meter(const struct run *run,
                                       const struct os_metric_series *series);
/* Returns until when the last point of a series holds: at most until the end of its process; for
 * a growing metric, until its last sample. */
int64_t os_metrics_until_ns(const struct run *run, const struct os_metric_series *series);

/* ---- metrics of programs ---- */

#define PROGRAM_METRICS_NO_PROCESS UINT32_MAX /* session of metrics that belong to no program */

struct program_metric_name {
    uint32_t session, code;
    uint8_t kind; /* an enum metric_kind */
    char *name, *unit;
};

struct program_metric_sums {
    uint32_t session, thread; /* code of the thread's own line in its program */
    uint32_t line; /* number of that line in the run; 0: not announced yet */
    uint64_t time_ns; /* time of the report, by the program's monotonic clock */
    struct metric_sums sums;
    bool unsaved;
};

/* Samples of a sampled metric, which has the value of a sample until the next one. */
struct program_metric_samples {
    uint32_t session, code;
    uint64_t count; /* how often something else was seen */
    int64_t least, most, last;
    int64_t first_ns, last_ns; /* of the run */
    double total; /* value times ns, summed from the first sample to the last */
};

/* Declares a metric; a later declaration replaces an earlier one.  Copies the texts. */
void program_metrics_declare(struct run *run, const struct program_metric_name *name);
void program_metrics_count(struct run *run, const struct program_metric_sums *sums);
void program_metrics_sample(struct run *run, uint32_t session, uint32_t code, int64_t at_ns,
                            int64_t value);

/* Returns the name of a metric, or NULL if it was not declared. */
const struct program_metric_name *program_metrics_name(const struct run *run, uint32_t session,
                                                       uint32_t code);
/* Returns the code of an external metric by its name; 0 if it was not declared yet. */
uint32_t program_metrics_code(const struct run *run, const char *name);

size_t program_metrics_names(const struct run *run);
/* Returns a name by its index, in the order in which they were received. */
const struct program_metric_name *program_metrics_name_at(const struct run *run, size_t i);
size_t program_metrics_counted(const struct run *run);
struct program_metric_sums *program_metrics_counted_at(const struct run *run, size_t i);
size_t program_metrics_sampled(const struct run *run);
const struct program_metric_samples *program_metrics_sampled_at(const struct run *run, size_t i);

/* Writes all counts that changed since the last call, as bodies of METERS. */
void program_metrics_save(struct run *run,
                          void (*save)(void *user, uint32_t session, uint32_t thread,
                                       const struct encoder *body),
                          void *user);

#endif
