/* Charges: a wait's time shared out among those who made it long, by what they did.
 *
 * Only reasons that make the wait longer are charged, each in its proportion, matched by scope (of
 * calls the function, else the step) whoever called it and whatever thread took it; within a scope
 * then the steps and threads that took more.  Charges are whole nanoseconds and add up to the
 * segment's length:  what is left of the division goes to the largest remainders. */
#ifndef SERVER_ANALYSIS_ATTRIBUTION_H
#define SERVER_ANALYSIS_ATTRIBUTION_H

#include "server/analysis/wait_attribution.h"

/* Meira's three kinds of waiting. */
enum cause_kind {
    CAUSE_IMBALANCE, /* both were in that scope, the other longer */
    CAUSE_SERIAL, /* only the other was: too little can be done at once */
    CAUSE_CONTENTION, /* communication, and exclusion: who held it, the way of the news */
    CAUSE_KINDS
};

struct attributed_time {
    uint32_t pair; /* wait_attribution_pair() */
    int64_t ns; /* over 0 */
    uint8_t kind; /* an enum cause_kind */
    bool direct; /* by the thread that was waited for, not by one that made that one late */
};

/* Scratch, and what the last call found.  Zero-initialised. */
struct attribution {
    struct attributed_time *items; /* in the order of scopes, then of steps, then of threads */
    size_t count, room;
    struct path_share *shares;
    size_t share_count, share_room;
    int64_t *weights, *parts;
    struct attribution_remainder *rest;
    size_t weight_room, part_room, rest_room;
    uint64_t communication; /* bit by bit: which categories of steps are of communication */
    uint8_t (*category)(const void *context, uint32_t step); /* NULL: as the step has it */
    const void *context;
};

/* Charges so much of a segment of a wait that is known: to its reasons, or to all that ran
 * meanwhile. */
void attribution_compute(struct attribution *charges, const struct wait_attribution *why,
                         uint32_t segment, enum path_list_kind which, int64_t ns);
/* Shares a whole out by weights that are not negative, not all 0. */
void attribution_apportion(struct attribution *charges, int64_t whole, const int64_t *weights,
                           int64_t *parts, size_t count);
void attribution_free(struct attribution *charges); /* empties it */

#endif
