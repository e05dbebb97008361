/* The lives of all threads that a table is about, piece by piece, so that nobody has to wait for a long one. */
#ifndef SERVER_ANSWER_TABLE_SWEEP_H
#define SERVER_ANSWER_TABLE_SWEEP_H

#include "server/answer/table/table.h"

/* Zero-initialised: at the begin. */
struct sweep {
    uint32_t thread; /* index, of those that are measured */
    int64_t from_ns; /* of its next piece; not of its first */
    bool within; /* something of it was seen */
};

struct sweep_piece {
    const struct course_of *course;
    int64_t from_ns, to_ns; /* at both ends, a spell ends there */
    bool first; /* of the thread */
};

enum sweep_is { SWEEP_PIECE, SWEEP_TIRED /* the budget is over */, SWEEP_DONE };

/* The next piece, of as many intervals as the budget has. */
enum sweep_is sweep_next(struct sweep *sweep, const struct table_view *view, uint64_t *budget,
                         struct sweep_piece *piece);

#endif
