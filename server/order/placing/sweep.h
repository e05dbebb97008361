/* Inside of placing: the sweeps to either side of the cut (place.c), and what they pass over (leap.c). */
#ifndef SERVER_ORDER_PLACING_SWEEP_H
#define SERVER_ORDER_PLACING_SWEEP_H

#include "server/order/placing/fold.h"
#include "memory/map.h"
#include "server/order/placing/place.h"

/* One sweep over the log, away from the cut. */
struct sweep {
    uint64_t base;   /* right: position of column[0]; left: column[i] is of base - 1 - i */
    uint64_t at;     /* right: next position; left: all from here on is done */
    int32_t *column;
    size_t room, known; /* left: how much of column[] holds what effects pushed to their causes */
    int32_t *line, *hidden, *row; /* newest column per line, and drawn in a cluster's row */
    size_t open;     /* lines in rows that may still get an event in the window */
    uint64_t looked; /* events it looked at for the window wanted */
    struct seen {    /* what it found on lines in rows, in the order of the sweep */
        uint64_t position;
        int32_t column;
        uint32_t line;
        bool drawn;
    } *seen;
    size_t seen_count, seen_room;
    bool ready, done, unresolved;
    /* of a window with many lines: the newest column of each thread, which of them are watched, and whether
     * an event was seen of a thread that nobody knows, so that the sweep goes on (acting.h) */
    int32_t *acted;
    uint8_t *watched;
    bool strangers;
    struct map far; /* left: columns pushed to causes that are far away */
    /* right: stretches that were passed over; how it was before the first of them */
    struct leap {
        uint64_t from, to; /* positions from .. to - 1 */
        uint64_t sum;      /* of positions passed over so far, with these */
    } *leaps;
    size_t leap_count, leap_room;
    int32_t leap_edge;
    struct sweep *before;
    uint64_t wait, waited; /* points between two tries */
};

struct place_job {
    const struct order *order;
    struct placing placing;
    uint64_t *cut;
    size_t lines, hidden_lines;
    bool leaps; /* may stretches be passed over? */
    uint32_t *acting; /* threads: see acting.h */
    size_t acting_count, acting_room;
    struct sweep left, right;
    struct folds folds;
};

int32_t *sweep_newest(struct place_job *job, struct sweep *sweep, uint32_t line);
int32_t sweep_right_edge(const struct place_job *job);

/* Leaps, to the right.  Along a line columns grow, so once a line has one beyond the window, all its
 * further events are beyond it.  While the next event of every other line is far away, nothing in between
 * can be in the window, and need not be looked at: the window costs what is in it, not what happens
 * while a thread that is in it sleeps.  To the left that cannot be done: what follows an event is not known
 * from the event. */
bool leap_allowed(const struct placing *placing);
void leap_right(struct place_job *job, struct sweep *sweep);
/* For a window that reaches further than the one that leaps were made for: back to before the first. */
void leap_undo(struct place_job *job, struct sweep *sweep, int32_t edge);
void leap_free(struct sweep *sweep);

/* Where the column of a position is kept, and what it is. */
size_t sweep_index(const struct sweep *sweep, uint64_t position);
int32_t sweep_column(const struct sweep *sweep, uint64_t position);

#endif
