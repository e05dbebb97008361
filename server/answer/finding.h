/* Searches, counts, lists and steps: which events there are. */
#ifndef SERVER_ANSWER_FINDING_H
#define SERVER_ANSWER_FINDING_H

#include "server/answer/jobs.h"
#include "server/run/run.h"
#include "wire/asked.h"

extern const struct job_sort finding_jobs; /* of struct finding_job */

/* Takes the request over.  An expression that is none is told with the answer. */
struct finding_job *finding_begin(const struct run *run, struct search_request *request);

/* How many events stand how to one of them; a question (question.h) that may take a while. */
struct count_job *count_begin(const struct run *run, struct ref at);
bool count_step(struct count_job *job, uint64_t budget);
void count_put(struct count_job *job, struct out *out);
void count_free(struct count_job *job);

/* EVENT for each of `count` events of the log from a position on, those of hidden lines left out. */
void answer_list(struct out *out, const struct run *run, uint64_t position, uint32_t count);
/* One hit, or none. */
void answer_step(struct out *out, const struct run *run, struct ref from, enum asked_step step);

#endif
