/* Where threads ran: the processors of a table, numbered as they are shown: tasks of a runtime ran
 * on threads of the system that run them (server/timing/placements.h) and in their clusters,
 * threads of the system on processors of the machine. */
#ifndef SERVER_QUERIES_TABLES_PLACEMENT_NAMES_H
#define SERVER_QUERIES_TABLES_PLACEMENT_NAMES_H

#include "server/queries/tables/table_query.h"

enum placement_by { PLACEMENT_BY_WORKER, PLACEMENT_BY_CLUSTER, PLACEMENT_BY_CPU };

struct placement_names {
    const struct cpu_states *spans;
    const struct run *run;
    enum placement_by by;
    uint32_t *clusters; /* by carrier - 1: the first carrier that has the same cluster */
};

/* Of the table's `by`.  NULL, or the problem (the caller's to free): it is not known where threads
 * ran. */
char *placement_names_begin(struct placement_names *places, const struct table_view *view);
void placement_names_free(struct placement_names *places);

/* The place in which a thread ran, where a spell of it says so (thread_states.h). */
uint32_t placement_names_place(const struct placement_names *places, uint32_t thread, uint32_t on);
bool placement_names_is_known(const struct placement_names *places, uint32_t place);
char *placement_names_name(const struct placement_names *places,
                           uint32_t place); /* the caller's to free */
const char *placement_names_cluster(const struct placement_names *places,
                                    uint32_t place); /* "" none */
const char *placement_names_kind(const struct placement_names *places); /* "processor" */
bool placement_names_has_clusters(
    const struct placement_names *places); /* and they are not said by the names */
void placement_names_note(const struct placement_names *places, struct result_table *table);

/* The same in one text, "processor 2 of cluster c", for a thread and where it ran; NULL: not
 * known. */
char *placement_names_text(const struct cpu_states *spans, uint32_t thread, uint32_t on);

#endif
