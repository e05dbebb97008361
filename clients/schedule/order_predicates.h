/* Orders that separate the failed runs of a program from those that passed: statistical debugging.
 *
 * Each run is a sequence of operations: what a thread of that name did with an object of that name,
 * and where. From these follow predicates, each true or false in a run: that an operation came
 * before another, directly before it on the same object, or between two operations of another
 * thread; that it was performed often, or not often. They are ranked by the probability that they
 * are distributed over failed and passed runs as they are by chance (Fisher's exact test). The
 * method is that of cooperative bug isolation (Liblit, Naik, Zheng, Aiken and Jordan 2005) with the
 * patterns of Falcon (Park, Vuduc and Harrold 2010).
 *
 * Not thread-safe. */
#ifndef CLIENTS_SCHEDULE_ORDER_PREDICATES_H
#define CLIENTS_SCHEDULE_ORDER_PREDICATES_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREDICATE_RUNS_MOST 4096u

struct order_predicates;

/* An operation that all runs have in common. The texts must not contain newlines; they are
 * copied. */
struct predicate_operation {
    const char *thread, *type, *object, *place; /* object, place: "" none */
    bool guards; /* the object is a lock: its order follows from that of what it guards */
    bool request; /* not an event of the object: the thread is about to use it */
};

enum predicate_kind {
    PREDICATE_BETWEEN, /* `middle` between `first` and `last`, consecutive in their thread */
    PREDICATE_ADJACENT, /* `first` directly before `last` on the same object */
    PREDICATE_BEFORE, /* the first time of `first` before the first time of `last` */
    PREDICATE_MISSING, /* the same, and `last` was not performed in the run of the example */
    PREDICATE_AT_LEAST, /* `first` was performed at least `count` times */
    PREDICATE_AT_MOST /* at most */
};

struct order_predicate {
    enum predicate_kind kind;
    uint32_t first, middle, last; /* operations */
    uint32_t count;
    bool same_object;
    uint32_t failed, passed; /* in how many runs it is true */
    double chance; /* the probability that at least that many of these runs failed by chance */
    /* in the first failed run in which it is true: that run, the events of first, middle and last
     * (line 0: none), and when it became true, as a number of operations from the beginning */
    uint32_t run;
    struct event_id events[3];
    uint32_t position;
};

/* runs: how many runs follow at most. */
struct order_predicates *order_predicates_new(uint32_t runs);
void order_predicates_free(struct order_predicates *predicates);
/* Begins a run, from 0. */
void order_predicates_begin_run(struct order_predicates *predicates, bool failed);
/* Returns the number of an operation, from 0. Different ones differ in any of the texts. */
uint32_t order_predicates_operation(struct order_predicates *predicates,
                                    const struct predicate_operation *operation);
/* Adds an operation of the run, in the order of the run. thread, object: lines of this run. */
void order_predicates_add(struct order_predicates *predicates, uint32_t operation, uint32_t thread,
                          uint32_t object, struct event_id at);
/* Valid until the predicates are freed. */
const struct predicate_operation *
order_predicates_described(const struct order_predicates *predicates, uint32_t operation);
/* Returns the predicates that are true in a greater share of the failed runs than of the others,
 * the least probable by chance first, then those of one object (of locks after others), then the
 * earliest. Only the first of several about the same threads, objects and runs is returned. The
 * array is the caller's. tested: the number of predicates that were compared; those of the same
 * runs count as one. */
struct order_predicate *order_predicates_rank(const struct order_predicates *predicates,
                                              uint32_t *count, uint64_t *tested);
/* Returns whether predicates were left out: too many operations in all, or between two of one
 * thread. */
bool order_predicates_are_partial(const struct order_predicates *predicates);

#endif
