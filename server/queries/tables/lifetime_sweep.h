/* Sweep over the lifetimes of all threads of a table, in pieces, so that a long one delays no other
 * request. */
#ifndef SERVER_QUERIES_TABLES_LIFETIME_SWEEP_H
#define SERVER_QUERIES_TABLES_LIFETIME_SWEEP_H

#include "server/queries/tables/table_query.h"

/* Zero-initialize it: the sweep is at its beginning then. */
struct lifetime_sweep {
    uint32_t thread; /* thread index among those with intervals */
    int64_t from_ns; /* begin of its next piece, after the first one */
    bool within; /* a piece of this thread was visited */
};

struct lifetime_piece {
    const struct thread_timeline *course;
    int64_t from_ns, to_ns; /* both are borders of state intervals */
    bool first; /* the first of the thread */
};

enum lifetime_sweep_result {
    LIFETIME_SWEEP_PIECE,
    LIFETIME_SWEEP_BUDGET_SPENT /* the budget is used up */,
    LIFETIME_SWEEP_DONE
};

/* Returns the next piece, with as many intervals as the budget allows. */
enum lifetime_sweep_result lifetime_sweep_next(struct lifetime_sweep *sweep,
                                               const struct table_view *view, uint64_t *budget,
                                               struct lifetime_piece *piece);

#endif
