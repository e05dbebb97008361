/* Source of the thread states in a table, and what CPU time adds to them
 * (server/timing/cpu_states.h, server/run/os_metrics.h).
 *
 * All of one column has the same source: the best one that all threads of the table about which
 * anything is known have. */
#ifndef SERVER_QUERIES_TABLES_CPU_SOURCE_H
#define SERVER_QUERIES_TABLES_CPU_SOURCE_H

#include "server/queries/tables/table_query.h"

/* Chooses the CPU states that the table uses: the source named by its option "source" ("order",
 * "samples", "clock", "switches"), or the best. */
void cpu_source_choose(const struct table_view *view, struct lifetimes *lives);

/* Divides the sums of a whole lifetime by what the thread reported at its exit: it was running for
 * its CPU time, runnable for its scheduling delay, and off-CPU (other) for the rest.  Returns false
 * if it reported nothing, if the table is not about the whole lifetime, or if context switches are
 * more precise. */
bool cpu_source_split(const struct table_view *view, const struct thread_timeline *course,
                      struct thread_states *sums);
/* Returns whether the CPU states of the thread are known while the order says that it ran. */
bool cpu_source_known(const struct table_view *view, const struct thread_timeline *course);

/* Counts for the note about the source of a table's states.  Zero-initialize it, and add each row.
 */
struct cpu_source_counts {
    uint32_t rows, known; /* known: rows with a better source than the order */
    uint32_t tasks; /* of known rows: tasks of a runtime, from their worker threads */
    uint32_t undelayed; /* from CPU clocks, without information about runnable time */
    /* the longest time between two samples; for clocks see cpu_states_uncertainty_ns() */
    int64_t apart_ns;
};
void cpu_source_row(struct cpu_source_counts *counts, const struct table_view *view,
                    const struct thread_timeline *course);
/* ended: all values are those that the threads reported at their exits. */
const char *cpu_source_text(const struct table_view *view, const struct cpu_source_counts *counts,
                            bool ended);
void cpu_source_note(struct result_table *table, const struct table_view *view,
                     const struct cpu_source_counts *counts, bool ended);

#endif
