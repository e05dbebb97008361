/* Functions in which a thread was created: those that its creator had open at that time, and those
 * in which the creator itself was created.  Not thread-safe. */
#ifndef SERVER_QUERIES_TABLES_CREATOR_FUNCTIONS_H
#define SERVER_QUERIES_TABLES_CREATOR_FUNCTIONS_H

#include "base/map.h"
#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"

/* Zero-initialize it. */
struct creator_functions {
    uint32_t line; /* line of the creator that was looked up last; 0: none */
    size_t count; /* number of contexts of that thread */
    uint32_t *scopes; /* scope number of each of them */
};

/* Adds to a set the scopes in which the thread of a line was created; none if its creator measured
 * no calls. */
void creator_functions_within(struct creator_functions *creators, const struct table_view *view,
                              struct scope_numbers *scopes, uint32_t line, struct map *within);
void creator_functions_free(struct creator_functions *creators); /* frees the memory; it is empty */

#endif
