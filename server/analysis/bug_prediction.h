/* Predicted bugs of a run: interleavings that did not occur and that no traced synchronization
 * excludes, each with the events that show it.
 *
 * The caller feeds, in the order of the log, the synchronization operations of the threads, with
 * their must-happen-before clocks (must_happen_before.h).  Found are cycles of lock acquisitions
 * (lock_order.h), signals that no thread would receive (wakeup_races.h), and critical sections and
 * messages whose order depends on scheduling (order_races.h).  It is not known whether the program
 * would behave the same up to that point: a finding says what could happen, not what must. */
#ifndef SERVER_ANALYSIS_BUG_PREDICTION_H
#define SERVER_ANALYSIS_BUG_PREDICTION_H

#include "server/analysis/findings.h"

struct bug_prediction;

struct bug_prediction *predict_new(void);
void predict_feed(struct bug_prediction *prediction, const struct sync_op *op);
/* Searches, after all operations were fed, with about `budget` steps.  Returns true when all is
 * found. */
bool predict_step(struct bug_prediction *prediction, uint64_t *budget);
/* Returns the findings, the most likely first; valid once predict_step() returned true. */
const struct findings *predict_results(struct bug_prediction *prediction);
void predict_free(struct bug_prediction *prediction);

#endif
