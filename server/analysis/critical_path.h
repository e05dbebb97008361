/* Critical path of a run: what determined the time until an event.
 *
 * It is followed backwards from that event.  While the thread ran, the code that it ran is on the
 * path.  If it had waited, the wake-up latency is on the path, and before that the thread that
 * unblocked it.  Before its start its creator is on the path (Yang and Miller 1988; Böhme and
 * others 2012).  The pieces follow each other without a gap, so their sum is the time from the
 * start of the first piece to the end of the path, to the nanosecond. */
#ifndef SERVER_ANALYSIS_CRITICAL_PATH_H
#define SERVER_ANALYSIS_CRITICAL_PATH_H

#include "server/timing/intervals.h"

enum path_piece_kind {
    PATH_RUNS,
    PATH_LATENCY,    /* it was unblocked and has not resumed yet */
    PATH_TIMEOUT,      /* a timeout ended its wait */
    PATH_STARTS,     /* it was created and has not started yet */
    /* it waited, and no traced event ended the wait; or nothing is known of that time */
    PATH_UNATTRIBUTED
};

struct path_piece {
    int64_t from_ns, to_ns;
    uint64_t position; /* of the event at its end */
    uint32_t thread; /* line */
    uint32_t step; /* 0: no named code segment */
    uint8_t is; /* an enum path_piece_kind */
    bool hop; /* the next piece belongs to another thread */
};

/* Zero-initialize it.  The pieces are in the order of time once critical_path_step() returned true.
 */
struct critical_path {
    struct path_piece *pieces;
    size_t count, room, hops;
    const struct intervals *all; /* private, with the rest */
    uint32_t at; /* 1 + index of a thread; 0: the path is complete */
    int64_t at_ns;
    size_t *near, near_room; /* by thread: index of the interval that was found last */
    size_t idle; /* consecutive hops that led no further back */
    bool hopped;
};

/* Begins at the thread's event at a time.  With thread 0 it begins at the latest end of any thread,
 * or at that time if it is earlier. */
void critical_path_begin(struct critical_path *path, const struct intervals *all, uint32_t thread,
                         int64_t to_ns);
/* Adds about `budget` pieces; returns true when the path is complete.  The intervals may grow
 * meanwhile. */
bool critical_path_step(struct critical_path *path, uint64_t budget);
static inline int64_t critical_path_length(const struct critical_path *path)
{
    return path->count ? path->pieces[path->count - 1].to_ns - path->pieces[0].from_ns : 0;
}
void critical_path_free(struct critical_path *path);

#endif
