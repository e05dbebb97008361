/* Hang diagnosis: which waiting threads will never resume, and why.
 *
 *  A thread that waits for a lock or for the end of another thread resumes if that thread does.
 * A thread that waits to be woken (for a signal, a post, the other members of a barrier) resumes
 * if a thread is left that could wake it.  A diagnosis is certain if it holds whatever the
 * threads do that can still run; an uncertain one is reported with the reason. */
#ifndef SERVER_QUERIES_HANG_DIAGNOSIS_H
#define SERVER_QUERIES_HANG_DIAGNOSIS_H

#include "server/queries/wait_graph.h"
#include "wire/request.h"

struct hang_diagnosis;

/* Begins a diagnosis.  The graph must be complete, and is borrowed. */
struct hang_diagnosis *hang_diagnosis_new(const struct wait_graph *graph);
void hang_diagnosis_free(struct hang_diagnosis *verdicts);
/* Returns true once the diagnosis is complete. */
bool hang_diagnosis_step(struct hang_diagnosis *verdicts, uint64_t *budget);
enum wait_outcome hang_diagnosis_outcome(const struct hang_diagnosis *verdicts, size_t waiter);
/* Returns why all diagnoses of OUTCOME_POSSIBLE are uncertain: bits of diagnosis_uncertainty. */
uint32_t hang_diagnosis_doubts(const struct hang_diagnosis *verdicts);
/* Gets the i-th of the threads that ever read from, or wrote to, the stream or queue at which this
 * one waits; if none did, of the only other thread.  Returns false past the last. */
bool hang_diagnosis_candidate(const struct hang_diagnosis *verdicts, size_t waiter, unsigned i,
                              struct holder_info *holder);
/* Appends a response part for each object that a thread waits to be woken by; returns true when all
 * are appended. */
bool hang_diagnosis_put(struct hang_diagnosis *verdicts, struct response *reply);

#endif
