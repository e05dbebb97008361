/* The critical path: what decided how long it took until an event.
 *
 * Back from that event: as long as its thread ran, what it ran is on the path; where it had waited,
 * the time until it went on after it was let go is, and then what the thread did that let it go;
 * where it began, what its maker did before (Yang and Miller 1988; Böhme and others 2012).  The
 * pieces follow each other without a gap, so that their sum is the time from the path's first piece
 * to its end, to the nanosecond. */
#ifndef SERVER_ANALYSIS_CRITICAL_PATH_H
#define SERVER_ANALYSIS_CRITICAL_PATH_H

#include "server/timing/intervals.h"

enum path_piece_kind {
    PATH_RUNS,
    PATH_LATENCY,    /* it was let go, and did not go on yet */
    PATH_TIMEOUT,      /* only the clock let it go on */
    PATH_STARTS,     /* it was made, and had not begun */
    /* it waited, and what let it go on is not known; or nothing is known of that time */
    PATH_UNATTRIBUTED
};

struct path_piece {
    int64_t from_ns, to_ns;
    uint64_t position; /* of the event at its end */
    uint32_t thread; /* line */
    uint32_t step; /* 0: none has a name */
    uint8_t is; /* an enum path_piece_kind */
    bool hop; /* what comes after it is another thread's */
};

/* Zero-initialised; the pieces are in the order of time once critical_path_step was true. */
struct critical_path {
    struct path_piece *pieces;
    size_t count, room, hops;
    const struct intervals *all; /* private, with the rest */
    uint32_t at; /* 1 + index of a thread; 0: it is whole */
    int64_t at_ns;
    size_t *near, near_room; /* by thread: the interval looked at last */
    size_t idle; /* hops one after the other that led no further back */
    bool hopped;
};

/* From the thread's event at a time; thread 0: from the latest end there is, or that time if it is
 * before. */
void critical_path_begin(struct critical_path *path, const struct intervals *all, uint32_t thread,
                         int64_t to_ns);
/* Goes on for about `budget` pieces; true when it is whole.  The intervals may grow meanwhile. */
bool critical_path_step(struct critical_path *path, uint64_t budget);
static inline int64_t critical_path_length(const struct critical_path *path)
{
    return path->count ? path->pieces[path->count - 1].to_ns - path->pieces[0].from_ns : 0;
}
void critical_path_free(struct critical_path *path);

#endif
