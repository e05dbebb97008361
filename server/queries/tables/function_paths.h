/* Filter for call paths that contain all of some requested functions.
 *
 * Options of the table: "function", as "PROCESS:ADDRESS" in hexadecimal; "type", the name of a
 * recorded call.  Each may be given several times. */
#ifndef SERVER_QUERIES_TABLES_FUNCTION_PATHS_H
#define SERVER_QUERIES_TABLES_FUNCTION_PATHS_H

#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"

#define FUNCTION_PATHS_MAX 64u

/* Zero-initialize it. */
struct function_paths {
    struct within_one {
        struct call_site_key key; /* of a function, if `type` is NULL */
        const char *type; /* owned by the request */
    } ones[FUNCTION_PATHS_MAX];
    uint32_t count;
    /* by path: a bit for each function that is on it; 0 for path 0 */
    uint64_t *on;
    size_t known, room;
};

/* Returns false if the request names nothing that can exist. */
bool function_paths_begin(struct function_paths *within, const struct table_view *view);
/* Returns whether a code segment (step_totals.h) is in all of them; -1 if its calls are not known.
 */
int function_paths_step(struct function_paths *within, const struct table_view *view,
                        uint32_t step);
/* Returns whether the thread was in all of them at an event, whose type counts, too. */
int function_paths_event(struct function_paths *within, const struct table_view *view,
                         uint64_t position);
void function_paths_free(struct function_paths *within);

#endif
