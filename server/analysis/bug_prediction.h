/* Predicted bugs of a run: interleavings that did not occur and that no traced synchronization
 * excludes, each with the events that show it.
 *
 * The caller feeds, in the order of the log, the synchronization operations of the threads, with
 * their must-happen-before clocks (must_happen_before.h).  Found are cycles of lock acquisitions
 * and nested read locks (lock_order.c), locks that a thread holds while it waits for one that
 * requests them (wait_locks.c), tasks of a pool that wait for others (pool_tasks.c), locks that can
 * be held at a fork (fork_locks.c), or when a signal handler requests them (handler_locks.c),
 * objects that are destroyed while they are used (destroyed_objects.c), sends that return only
 * since a message is buffered (unsafe_sends.c), signals that no thread would receive
 * (wakeup_races.c), and critical sections and messages in an order that depends on scheduling
 * (order_races.c).  It is not known whether the program would behave the same up to that point: a
 * finding says what could happen, not what must. */
#ifndef SERVER_ANALYSIS_BUG_PREDICTION_H
#define SERVER_ANALYSIS_BUG_PREDICTION_H

#include "server/analysis/findings.h"

struct bug_prediction;

struct bug_prediction *predict_new(void);
/* Sets the order in which uses of an object and its destruction are compared, which must exist
 * until the findings are there. Without it, only findings that occurred are
 * reported. */
void predict_set_order(struct bug_prediction *prediction, const struct order *order);
void predict_feed(struct bug_prediction *prediction, const struct sync_op *op);
/* Searches, after all operations were fed, with about `budget` steps.  Returns true when all is
 * found. */
bool predict_step(struct bug_prediction *prediction, uint64_t *budget);
/* Returns the findings, the most likely first; valid once predict_step() returned true. */
const struct findings *predict_results(struct bug_prediction *prediction);
void predict_free(struct bug_prediction *prediction);

#endif
