/* Source of the thread states in a table (server/timing/cpu_states.h): of each thread the best one
 * that is known, as in every other view of its states. */
#ifndef SERVER_QUERIES_TABLES_CPU_SOURCE_H
#define SERVER_QUERIES_TABLES_CPU_SOURCE_H

#include "server/queries/tables/table_query.h"

/* Chooses the CPU states that the table uses: the source named by its option "source" ("order",
 * "samples", "clock", "switches"), or the best. */
void cpu_source_choose(const struct table_view *view, struct lifetimes *lives);

/* Returns whether the CPU states of the thread are known while the order says that it ran. */
bool cpu_source_known(const struct table_view *view, const struct thread_timeline *course);

/* Returns the source of a thread's states as a text for a column. */
const char *cpu_source_name(const struct table_view *view, const struct thread_timeline *course);

/* Counts for the notes about the sources of a table's states.  Zero-initialize it, and add each
 * row. */
struct cpu_source_counts {
    uint32_t rows[CPU_SOURCE_SOURCES];
    uint32_t tasks; /* of switches: tasks of a runtime, from their worker threads */
    uint32_t undelayed; /* from CPU clocks, without information about runnable time */
    uint32_t cut; /* from samples, of which the last is not that of the thread's exit */
    /* the longest time between two samples; for clocks see cpu_states_uncertainty_ns() */
    int64_t apart_ns[CPU_SOURCE_SOURCES];
};
void cpu_source_row(struct cpu_source_counts *counts, const struct table_view *view,
                    const struct thread_timeline *course);
/* Returns whether any row has a better source than the order. */
bool cpu_source_any(const struct cpu_source_counts *counts);
const char *cpu_source_text(const struct cpu_source_counts *counts);
void cpu_source_note(struct result_table *table, const struct table_view *view,
                     const struct cpu_source_counts *counts);

#endif
