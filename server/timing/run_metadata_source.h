/* What measuring must know of a run beside its order: times, places, and what its types mean.  All
 * as codes. */
#ifndef SERVER_TIMING_RUN_METADATA_SOURCE_H
#define SERVER_TIMING_RUN_METADATA_SOURCE_H

#include "server/timing/code_segments.h"
#include "server/order/order.h"

struct event_meaning { /* of a type on a kind of line */
    bool waits;
    uint8_t class; /* an enum wait_class, of one that waits */
    uint8_t category; /* of the steps in which its thread waits; 0: none in particular */
    bool releases; /* others may enter the line while its thread waits */
    bool by_clock; /* a wait that ends with it was ended by the clock */
    bool interrupts; /* a thread that waits when it comes waits on */
    bool gathers; /* its thread waits until all others wait by it, too; no order says so */
    bool sends; /* its thread waits for one that comes for what it gave */
    bool opens, ends, closes; /* of the line's own thread */
    bool begins; /* likewise: it may be its first */
    bool enters,
        leaves; /* its thread comes into the line, goes out of it; nothing of a thread's own line */
    bool takes, gives; /* likewise, of what is counted: one is taken there, one given */
    uint64_t is; /* its bit, of a type that is a cause of some that waits; else 0 */
    /* bits of the types that let go on who waits; 0: whatever comes before its end */
    uint64_t causes;
};

/* Of a thread, as it is followed. */
struct measured_activity {
    uint64_t next; /* of what its records told */
    struct code_segment_key step; /* in which it went on from its last event */
    bool known; /* that is */
};

#define ACTIVITY_MAX 256u

struct activity_piece {
    struct code_segment_key step; /* is STEP_CODE: which one is not known */
    int64_t ns;
};

/* For the end of which thread one waits after an event, which no event tells. */
struct awaiting {
    int64_t from_ns;
    uint32_t about; /* its line */
};

struct run_metadata_source {
    const void *context;
    const struct order *order;
    int64_t (*time)(const void *context, const struct order_event *event); /* ns of the run */
    /* Never NULL; stays, and never changes. */
    const struct event_meaning *(*meaning)(const void *context, const struct order_event *event);
    uint32_t (*place)(const void *context, uint32_t site); /* 0: none */
    /* The steps of a thread up to its event, ACTIVITY_MAX at most: how many; -1: it told of none.
     * What it does then is in `doing`.  NULL: nobody told of any. */
    int (*did)(const void *context, struct measured_activity *doing,
               const struct order_event *event, struct activity_piece *pieces);
    /* What the thread of an event waits for after it; false: for nothing.  NULL: none does. */
    bool (*awaits)(const void *context, const struct order_event *event, struct awaiting *awaiting);
};

#endif
