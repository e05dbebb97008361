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
        struct call_site_key key; /* of a function; unused if `type` is not NULL */
        const char *type; /* owned by the request */
    } ones[FUNCTION_PATHS_MAX];
    uint32_t count;
    /* by path number: bit i is set if ones[i] is on the path; 0 for path 0 */
    uint64_t *on;
    size_t known, room;
};

/* Returns false if a function of the request is malformed, or if it names none. */
bool function_paths_begin(struct function_paths *within, const struct table_view *view);
/* Returns 1 if all requested functions are on the call path of a code segment, 0 if not, -1 if its
 * calls are unknown. */
int function_paths_step(struct function_paths *within, const struct table_view *view,
                        uint32_t step);
/* Does the same for the call path at an event, to which the event's own
                         * type is added. */
int function_paths_event(struct function_paths *within, const struct table_view *view,
                         uint64_t position);
void function_paths_free(struct function_paths *within);

#endif
