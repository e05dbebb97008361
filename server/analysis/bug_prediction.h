/* What else a run could have done: orders that did not happen, each with the events that show it.
 *
 * Told deed by deed, in the order of the log, what its threads do with locks and conditions, and
 * what is certainly before what (must_happen_before.h); found are cycles in which locks are taken
 * (lock_order.h), calls that nobody would hear (wakeup_races.h), and visits whose order luck
 * decided (order_races.h).  That the program would do the same up to there is not known: it is what
 * could be, not what must. */
#ifndef SERVER_ANALYSIS_BUG_PREDICTION_H
#define SERVER_ANALYSIS_BUG_PREDICTION_H

#include "server/analysis/findings.h"

struct bug_prediction;

struct bug_prediction *predict_new(void);
void predict_feed(struct bug_prediction *maybe, const struct sync_op *deed);
/* After all deeds; about `budget` looks more, true when all is found. */
bool predict_step(struct bug_prediction *maybe, uint64_t *budget);
/* The most likely first, once all is found. */
const struct findings *predict_results(struct bug_prediction *maybe);
void predict_free(struct bug_prediction *maybe);

#endif
