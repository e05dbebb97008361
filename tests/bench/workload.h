/* Executions of any size, for figures and tests: seven kinds of program, an event at a time.
 *
 *   uniform       messages to a random line
 *   torus         messages to one of four neighbours
 *   clustered     97 % of the messages within clusters of 20 lines
 *   ring          messages to the next line
 *   monitors      90 % tasks, 10 % monitors; a task enters and leaves one of its four home
 *                 monitors (95 %) or any (Zipf): synchronous pairs
 *   semaphores    as uniform, and 30 % of the events are on shared lines
 *   rwlocks       as semaphores, but what is taken for reading follows only what writers gave back
 *
 * Some lines can be late: their events come a few hundred thousand events after they happened.
 * Channels are first in, first out, or, if so wished, not. */
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
    uint64_t lag; /* by so many events */
    bool overtaking; /* messages may overtake each other */
    unsigned seed;
};

struct workload;

/* One event, or the two ends of a pair.  Partners point into the struct itself. */
struct happening {
    struct arrival arrivals[2];
    struct event_id partners[2];
    unsigned count;
};

struct workload *workload_new(const struct workload_options *options);
void workload_free(struct workload *workload);
bool workload_is_shared(const struct workload *workload, uint32_t line);
/* The next happening in the order of arrival. */
void workload_next(struct workload *workload, struct happening *happening);
/* Late ones that are still held back; false when there is none. */
bool workload_rest(struct workload *workload, struct happening *happening);
/* Makes the lines in an order and says what its types mean. */
void workload_lines(const struct workload *workload, struct order *order);
void workload_accept(struct order *order, const struct happening *happening);

#endif
