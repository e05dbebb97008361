/* Questions about events, from ORDER, WHY and COUNT messages, answered in steps so that nothing waits
 * for a long one. */
#ifndef SERVER_ANSWER_QUESTION_H
#define SERVER_ANSWER_QUESTION_H

#include "server/answer/jobs.h"
#include "server/run/run.h"

extern const struct job_sort question_jobs; /* of struct question */

/* Takes the events out of the message; type is MESSAGE_ORDER, MESSAGE_WHY or MESSAGE_COUNT. */
struct question *question_new(const struct run *run, unsigned type, struct in *in);

#endif
