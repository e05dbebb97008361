/* Source of run metadata for the computation of intervals: times, places, and the meanings of event
 * types, all as codes. */
#ifndef SERVER_TIMING_RUN_METADATA_SOURCE_H
#define SERVER_TIMING_RUN_METADATA_SOURCE_H

#include "server/timing/code_segments.h"
#include "server/order/order.h"

struct event_meaning { /* meaning of an event type on a kind of line */
    bool waits;
    uint8_t class; /* an enum wait_class, if it waits */
    uint8_t category; /* category of the code segments in which its thread waits; 0: none */
    bool releases; /* other threads may enter the line while its thread waits */
    bool may_pass; /* also recorded by a thread that need not wait */
    bool by_clock; /* a wait that ends with it timed out */
    bool interrupts; /* a waiting thread continues to wait after it */
    bool gathers; /* its thread waits until all others wait by it, too, without an order edge */
    bool sends; /* its thread waits for the receiver of what it sent */
    bool opens, ends, closes; /* events of the line's own thread */
    bool begins; /* likewise; it may be its first event */
    bool enters, leaves; /* its thread enters or leaves the line; not on a thread's own line */
    bool violates; /* the program breaks a rule by it */
    bool takes, gives; /* likewise for counted units: one is taken or given */
    uint64_t is; /* the bit of a type that can release waits; else 0 */
    /* bits of the types that release the waiter; 0: any event directly before the wait's end */
    uint64_t causes;
};

/* State of reading a thread's activity records. */
struct measured_activity {
    uint64_t next; /* the next item of its records */
    struct code_segment_key step; /* the code segment in which it continued after its last event */
    bool known; /* `step` is known */
};

#define ACTIVITY_MAX 256u

struct activity_piece {
    struct code_segment_key step; /* STEP_CODE: not known which one */
    int64_t ns;
};

/* Wait for the end of a thread, which no event records. */
struct awaiting {
    int64_t from_ns;
    uint32_t about; /* the line of that thread */
    uint32_t site;
};

struct run_metadata_source {
    const void *context;
    const struct order *order;
    /* Returns the time of an event, ns of the run. */
    int64_t (*time)(const void *context, const struct order_event *event);
    /* Never returns NULL; the result is constant and remains valid. */
    const struct event_meaning *(*meaning)(const void *context, const struct order_event *event);
    uint32_t (*place)(const void *context, uint32_t site); /* returns 0 for none */
    /* Reads the code segments of a thread up to its event, at most ACTIVITY_MAX.  Returns how many,
     * or -1 if nothing was recorded; updates *doing to the segment after the event.  NULL: there
     * are no records. */
    int (*did)(const void *context, struct measured_activity *doing,
               const struct order_event *event, struct activity_piece *pieces);
    /* Sets *awaiting to what the thread of an event waits for after it; returns false for nothing.
     * NULL: no thread waits so. */
    bool (*awaits)(const void *context, const struct order_event *event, struct awaiting *awaiting);
};

#endif
