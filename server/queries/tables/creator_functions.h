/* The functions in which a thread was made: those that its maker had open as it made it, and those
 * in which the maker was made itself.  The event that made the thread bears the calling context of
 * its maker. */
#ifndef SERVER_QUERIES_TABLES_CREATOR_FUNCTIONS_H
#define SERVER_QUERIES_TABLES_CREATOR_FUNCTIONS_H

#include "base/map.h"
#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"

#define CREATOR_FUNCTIONS_DEPTH 64u /* makers of makers, at most */

/* Zero-initialised: no maker was met. */
struct creator_functions {
    uint32_t line; /* of the maker that was met last; 0: none */
    size_t count; /* its contexts */
    uint32_t *scopes; /* of these */
};

/* Adds the scopes in which the thread of a line was made to a set; none where its maker measured no
 * calls. */
void creator_functions_within(struct creator_functions *makers, const struct table_view *view,
                              struct scope_numbers *scopes, uint32_t line, struct map *within);
void creator_functions_free(struct creator_functions *makers); /* empties it */

#endif
