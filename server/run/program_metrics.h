/* User-defined metrics of the programs of a run (wire/metric_messages.h): their names, the last
 * reported counts of each thread, and the samples of those that are sampled. */
#ifndef SERVER_RUN_PROGRAM_METRICS_H
#define SERVER_RUN_PROGRAM_METRICS_H

#include "server/run/run.h"
#include "wire/metric_messages.h"

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
const struct program_metric_name *program_metrics_name_at(const struct run *run,
                                                          size_t i); /* in order received */
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
