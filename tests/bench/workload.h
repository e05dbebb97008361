/* Synthetic executions of any size, for benchmarks and tests: seven kinds of programs, one event at
 * a time.
 *
 *   uniform       messages to a random line
 *   torus         messages to one of four neighbors
 *   clustered     97 % of the messages within clusters of 20 lines
 *   ring          messages to the next line
 *   monitors      90 % tasks, 10 % monitors; a task enters and leaves one of its four home
 *                 monitors (95 %) or any (Zipf): synchronous pairs
 *   semaphores    as uniform, and 30 % of the events are on shared lines
 *   rwlocks       as semaphores, but an acquisition for reading follows only releases by writers
 *
 * Some lines can be late: their events arrive `lag` events after they happened. Channels are first
 * in, first out, unless `overtaking` is set. */
#ifndef TESTS_BENCH_WORKLOAD_H
#define TESTS_BENCH_WORKLOAD_H

#include "server/order/order.h"

enum workload_kind { UNIFORM, TORUS, CLUSTERED, RING, MONITORS, SEMAPHORES, RWLOCKS, WORKLOADS };
extern const char *const workload_names[WORKLOADS];

/* Types of its events. */
enum {
    WORK_PLAIN = 1,
    WORK_SEND,
    WORK_RECEIVE,
    WORK_ENTER,
    WORK_LEAVE,
    WORK_POST,
    WORK_TAKEN,
    WORK_READ,
    WORK_READ_END,
    WORK_WRITE,
    WORK_WRITE_END,
    WORK_TYPES
};

struct workload_options {
    enum workload_kind kind;
    uint32_t lines;
    double late; /* share of the lines that are late */
    uint64_t lag; /* by this number of events */
    bool overtaking; /* messages may overtake each other */
    unsigned seed;
};

struct workload;

/* One event, or both events of a sync pair. Partners point into the struct itself. */
struct happening {
    struct arrival arrivals[2];
    struct event_id partners[2];
    unsigned count;
};

struct workload *workload_new(const struct workload_options *options);
void workload_free(struct workload *workload);
bool workload_is_shared(const struct workload *workload, uint32_t line);
/* Gets the next happening in the order of arrival. */
void workload_next(struct workload *workload, struct happening *happening);
/* Gets a late happening that is still delayed; returns false if there is none. */
bool workload_rest(struct workload *workload, struct happening *happening);
/* Creates the lines and declares the types in an order. */
void workload_lines(const struct workload *workload, struct order *order);
void workload_accept(struct order *order, const struct happening *happening);

#endif
