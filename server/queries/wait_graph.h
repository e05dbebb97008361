/* Who waits for what at the end of what was recorded, and who holds it: what waits.c collects, for
 * those who conclude something from it. */
#ifndef SERVER_QUERIES_WAIT_GRAPH_H
#define SERVER_QUERIES_WAIT_GRAPH_H

#include "server/run/run.h"
#include "wire/query_results.h"

struct waiter {
    uint32_t thread, about; /* lines; about 0: something that was not seen */
    uint32_t object; /* index; of the line that it is about */
    bool at_exit; /* its program ended by itself meanwhile: it need not go on */
    uint64_t position; /* of its last event */
    struct event_id at;
    int64_t time_ns;
    const struct target_event *look; /* of that event */
    bool end; /* it waits for the end of `about` from time_ns on, which the event does not say */
};

/* What is waited for: its holders. */
struct wait_graph_object {
    uint32_t first, count;
};

/* What a line's thread does. */
enum {
    WAITS_NO_PARTNER, /* nobody acts on it */
    WAITS_ENDED,
    WAITS_EXITED, /* its program ended by itself */
    WAITS_ACTS /* it waits, or runs */
};

#define WAITS_RUNS 32u

struct wait_graph {
    const struct run *run;
    uint32_t lines;
    uint8_t *is_thread; /* by line - 1: one of these */
    uint32_t runs[WAITS_RUNS], run_count; /* threads that run: how many, and the first of them */
    struct wait_graph_sleeper { /* of those that run: not, as the kernel says */
        uint32_t thread;
        int64_t since_ns;
        unsigned call; /* an enum asleep */
    } *asleep;
    uint32_t asleep_count;
    uint32_t *waiter_of; /* by line - 1: 1 + index, 0 it does not wait */
    uint32_t *object_of; /* likewise */
    struct waiter *waiters; /* the longest first */
    size_t count;
    struct wait_graph_object *objects;
    size_t object_count;
    struct holder_info *holders;
    size_t holder_count;
};

/* Whom a waiter waits for, one after the other; 0: no more. */
uint32_t wait_graph_blocker(const struct wait_graph *graph, const struct waiter *waiter,
                            uint32_t i);

#endif
