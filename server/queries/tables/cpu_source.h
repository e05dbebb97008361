/* What tells of the states of threads, and what processor time adds to that
 * (server/timing/cpu_states.h, server/run/os_metrics.h).
 *
 * In one column all is of one source: of the threads of a table that anything is known of, the best
 * one that all have. */
#ifndef SERVER_QUERIES_TABLES_CPU_SOURCE_H
#define SERVER_QUERIES_TABLES_CPU_SOURCE_H

#include "server/queries/tables/table_query.h"

/* Which spans the table is to look at, as its option "source" says ("order", "samples", "clock",
 * "switches"), or the best. */
void cpu_source_choose(const struct table_view *view, struct lifetimes *lives);

/* Splits the sums of a whole life by what the thread said itself at its end: it ran as long as it
 * had a processor, was ready as long as it wanted one in vain, and in the system for the rest.
 * False: it said nothing, or the table is not about all of the life, or switches tell more. */
bool cpu_source_split(const struct table_view *view, const struct thread_timeline *course,
                      struct thread_states *sums);
/* Is it known of the thread where it was while the order says that it ran? */
bool cpu_source_known(const struct table_view *view, const struct thread_timeline *course);

/* What a table says of where its states come from.  Zero-initialised; of each row that it has. */
struct cpu_source_counts {
    uint32_t rows, known; /* of known ones more than the order */
    uint32_t tasks; /* of known ones those of a runtime, by the threads that they were on */
    uint32_t undelayed; /* by their clocks, and nothing tells when they were ready */
    /* between two samples, at most; by clocks, what cpu_states_uncertainty_ns says */
    int64_t apart_ns;
};
void cpu_source_row(struct cpu_source_counts *said, const struct table_view *view,
                    const struct thread_timeline *course);
/* ended: all is of what the threads said at their ends. */
const char *cpu_source_text(const struct table_view *view, const struct cpu_source_counts *said,
                            bool ended);
void cpu_source_note(struct result_table *table, const struct table_view *view,
                     const struct cpu_source_counts *said, bool ended);

#endif
