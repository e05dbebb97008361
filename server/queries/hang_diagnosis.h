/* What becomes of those who wait: who can never go on, and why.
 *
 * A thread that waits for a lock or for the end of another goes on if that one does.  One that
 * waits to be woken (for a signal, a post, the others of a barrier) goes on if somebody is left who
 * could wake it.  What is not certain is told with the reason: certain is only what holds whatever
 * the threads do that can still go on. */
#ifndef SERVER_QUERIES_HANG_DIAGNOSIS_H
#define SERVER_QUERIES_HANG_DIAGNOSIS_H

#include "server/queries/wait_graph.h"
#include "wire/request.h"

struct hang_diagnosis;

/* The graph is whole, and borrowed. */
struct hang_diagnosis *hang_diagnosis_new(const struct wait_graph *graph);
void hang_diagnosis_free(struct hang_diagnosis *verdicts);
bool hang_diagnosis_step(struct hang_diagnosis *verdicts,
                         uint64_t *budget); /* true when it is done */
enum wait_outcome hang_diagnosis_outcome(const struct hang_diagnosis *verdicts, size_t waiter);
/* A part for each object that somebody waits to be woken by; true: that was all. */
bool hang_diagnosis_put(struct hang_diagnosis *verdicts, struct response *reply);

#endif
