/* Which paths of calls are within some functions: all of those that somebody asks about are on the
 * way there.
 *
 * Options of the table: "function", as "PROCESS:ADDRESS" in hexadecimal; "type", the name of a call
 * that is recorded; each may stand there several times. */
#ifndef SERVER_QUERIES_TABLES_FUNCTION_PATHS_H
#define SERVER_QUERIES_TABLES_FUNCTION_PATHS_H

#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"

#define FUNCTION_PATHS_MAX 64u

/* Zero-initialised: nothing is asked about. */
struct function_paths {
    struct within_one {
        struct call_site_key key; /* of a function; with `type` not NULL of none */
        const char *type; /* the request's */
    } ones[FUNCTION_PATHS_MAX];
    uint32_t count;
    /* by path: a bit of each of those that are on the way there; of path 0 there are none */
    uint64_t *on;
    size_t known, room;
};

/* False: the request asks about nothing that there may be. */
bool function_paths_begin(struct function_paths *within, const struct table_view *view);
/* Of a step (step_totals.h).  -1: in which calls it was is not known. */
int function_paths_step(struct function_paths *within, const struct table_view *view,
                        uint32_t step);
/* Of a thread at an event: in all of them, its type included. */
int function_paths_event(struct function_paths *within, const struct table_view *view,
                         uint64_t position);
void function_paths_free(struct function_paths *within);

#endif
