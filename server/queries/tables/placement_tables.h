/* Tables of placements, and of CPUs; and the names of the places where threads ran, with the
 * numbers used in a table: for tasks of a runtime their worker threads
 * (server/timing/placements.h) and clusters, for threads the CPUs of the machine. */
#ifndef SERVER_QUERIES_TABLES_PLACEMENT_TABLES_H
#define SERVER_QUERIES_TABLES_PLACEMENT_TABLES_H

#include "server/queries/tables/table_query.h"

enum placement_by { PLACEMENT_BY_WORKER, PLACEMENT_BY_CLUSTER, PLACEMENT_BY_CPU };

struct placement_names {
    const struct cpu_states *spans;
    const struct run *run;
    enum placement_by by;
    uint32_t *clusters; /* by worker thread - 1: the first worker thread of the same cluster */
};

/* Begins with the table's `by`.  Returns false with the reason in *error if the places of threads
 * are unknown. */
bool placement_names_begin(struct placement_names *places, const struct table_view *view,
                           struct error *error);
void placement_names_free(struct placement_names *places);

/* Returns the place in which a thread ran, given `on` of a state interval (thread_states.h). */
uint32_t placement_names_place(const struct placement_names *places, uint32_t thread, uint32_t on);
/* Returns the name of a place; the caller frees it. */
char *placement_names_name(const struct placement_names *places, uint32_t place);
/* Returns "processor", "cluster" or "cpu". */
const char *placement_names_kind(const struct placement_names *places);
void placement_names_note(const struct placement_names *places, struct result_table *table);

/* Returns the place of a thread as one text, such as "worker 2 of cluster c"; NULL if it is
 * unknown.  The caller frees it. */
char *placement_names_text(const struct cpu_states *spans, uint32_t thread, uint32_t on);

#endif
