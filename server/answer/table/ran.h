/* Where threads ran: the processors of a table, numbered as they are shown: tasks of a runtime ran on threads of the
 * system that run them (server/measure/stays.h) and in their clusters, threads of the system on processors of the machine. */
#ifndef SERVER_ANSWER_TABLE_RAN_H
#define SERVER_ANSWER_TABLE_RAN_H

#include "server/answer/table/table.h"

enum ran_by { RAN_PROCESSOR, RAN_CLUSTER, RAN_CPU };

struct ran_places {
    const struct spans *spans;
    const struct run *run;
    enum ran_by by;
    uint32_t *clusters; /* by carrier - 1: the first carrier that has the same cluster */
};

/* Of the table's `by`.  NULL, or the problem (the caller's to free): it is not known where threads ran. */
char *ran_begin(struct ran_places *places, const struct table_view *view);
void ran_free(struct ran_places *places);

/* The place in which a thread ran, where a spell of it says so (states.h). */
uint32_t ran_place(const struct ran_places *places, uint32_t thread, uint32_t on);
bool ran_is_known(const struct ran_places *places, uint32_t place);
char *ran_name(const struct ran_places *places, uint32_t place); /* the caller's to free */
const char *ran_cluster(const struct ran_places *places, uint32_t place); /* "" none */
const char *ran_word(const struct ran_places *places); /* "processor" */
bool ran_has_clusters(const struct ran_places *places); /* and they are not said by the names */
void ran_note(const struct ran_places *places, struct shown_table *table);

/* The same in one text, "processor 2 of cluster c", for a thread and where it ran; NULL: not known. */
char *ran_said(const struct spans *spans, uint32_t thread, uint32_t on);

#endif
