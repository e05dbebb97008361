/* Which paths of calls are within some functions: all of those that somebody asks about are on the way there.
 *
 * Options of the table: "function", as "PROCESS:ADDRESS" in hexadecimal; "type", the name of a call that is recorded; each may
 * stand there several times. */
#ifndef SERVER_ANSWER_TABLE_WITHIN_H
#define SERVER_ANSWER_TABLE_WITHIN_H

#include "server/answer/table/table.h"
#include "server/run/places.h"

#define WITHIN_MOST 64u

/* Zero-initialised: nothing is asked about. */
struct within {
    struct within_one {
        struct place_key key; /* of a function; with `type` not NULL of none */
        const char *type; /* the request's */
    } ones[WITHIN_MOST];
    uint32_t count;
    uint64_t *
        on; /* by path: a bit of each of those that are on the way there; of path 0 there are none */
    size_t known, room;
};

/* False: the request asks about nothing that there may be. */
bool within_begin(struct within *within, const struct table_view *view);
/* Of a step (steps.h).  -1: in which calls it was is not known. */
int within_step(struct within *within, const struct table_view *view, uint32_t step);
/* Of a thread at an event: in all of them, its type included. */
int within_event(struct within *within, const struct table_view *view, uint64_t position);
void within_free(struct within *within);

#endif
