/* The lives of all threads that a table is about, piece by piece, so that nobody has to wait for a
 * long one. */
#ifndef SERVER_QUERIES_TABLES_LIFETIME_SWEEP_H
#define SERVER_QUERIES_TABLES_LIFETIME_SWEEP_H

#include "server/queries/tables/table_query.h"

/* Zero-initialised: at the begin. */
struct lifetime_sweep {
    uint32_t thread; /* index, of those that are measured */
    int64_t from_ns; /* of its next piece; not of its first */
    bool within; /* something of it was seen */
};

struct lifetime_piece {
    const struct thread_timeline *course;
    int64_t from_ns, to_ns; /* at both ends, a spell ends there */
    bool first; /* of the thread */
};

enum lifetime_sweep_result {
    LIFETIME_SWEEP_PIECE,
    LIFETIME_SWEEP_BUDGET_SPENT /* the budget is over */,
    LIFETIME_SWEEP_DONE
};

/* The next piece, of as many intervals as the budget has. */
enum lifetime_sweep_result lifetime_sweep_next(struct lifetime_sweep *sweep,
                                               const struct table_view *view, uint64_t *budget,
                                               struct lifetime_piece *piece);

#endif
