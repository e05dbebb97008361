/* Attribution of a wait's time to the code segments that made it long.
 *
 * Time is attributed only to reasons that make the wait longer, each in its proportion.  Reasons
 * are matched by scope (for calls the function, else the code segment), regardless of the caller
 * and of the thread; within a scope time goes to the code segments and threads that took more.
 * Attributed times are whole nanoseconds and add up to the length of the wait interval: the
 * remainder of the division goes to the largest fractions. */
#ifndef SERVER_ANALYSIS_ATTRIBUTION_H
#define SERVER_ANALYSIS_ATTRIBUTION_H

#include "server/analysis/wait_attribution.h"

/* Meira's three causes of waiting. */
enum cause_kind {
    CAUSE_IMBALANCE, /* load imbalance: both threads were in that scope, the awaited one longer */
    CAUSE_SERIAL, /* insufficient parallelism: only the awaited thread was in that scope */
    /* contention and communication: the holder of a lock, the transfer of a message */
    CAUSE_CONTENTION,
    CAUSE_KINDS
};

struct attributed_time {
    uint32_t pair; /* wait_attribution_pair() */
    int64_t ns; /* greater than 0 */
    uint8_t kind; /* an enum cause_kind */
    bool direct; /* caused by the awaited thread itself, not by one that delayed it */
};

/* Scratch memory and the result of the last call.  Zero-initialize it. */
struct attribution {
    struct attributed_time *items; /* sorted by scope, code segment, thread */
    size_t count, room;
    struct path_share *shares;
    size_t share_count, share_room;
    int64_t *weights, *parts;
    struct attribution_remainder *rest;
    size_t weight_room, part_room, rest_room;
    uint64_t communication; /* bit mask of the categories of code segments that are communication */
    uint8_t (*category)(const void *context, uint32_t step); /* NULL: the segment's own category */
    const void *context;
};

/* Attributes `ns` of a wait interval that is explained: to its reasons, or to all that ran
 * meanwhile. */
void attribution_compute(struct attribution *charges, const struct wait_attribution *why,
                         uint32_t segment, enum path_list_kind which, int64_t ns);
/* Distributes a whole in proportion to weights, which must not be negative nor all 0. */
void attribution_apportion(struct attribution *charges, int64_t whole, const int64_t *weights,
                           int64_t *parts, size_t count);
void attribution_free(struct attribution *charges); /* frees the memory; it is empty then */

#endif
