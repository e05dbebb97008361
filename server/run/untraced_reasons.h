/* What a run does not see: reasons that programs told, and what counters say. */
#ifndef SERVER_RUN_UNTRACED_REASONS_H
#define SERVER_RUN_UNTRACED_REASONS_H

#include "server/run/run.h"
#include "wire/trace_view.h"

#define UNTRACED_REASONS_MAX 256u /* of a run; what comes after is told by its reason alone */

/* A program, by its session, tells a reason and what it is about. */
void untraced_reasons_add(struct run *run, uint32_t session, unsigned reason, const char *about);
void untraced_reasons_free(struct run *run);

/* Events that were lost without a number, or whose numbers are not told yet. */
uint64_t untraced_reasons_lost(const struct run *run);
/* Reasons that hold for the whole run, as bits: hiding ones; and those that do not forbid the
 * answer `concurrent`, but are said with it.  What is lost and was numbered is no such reason: what
 * follows it is doubtful. */
uint32_t untraced_reasons_hiding_order(const struct run *run);
uint32_t untraced_reasons_mechanisms(const struct run *run);
/* Whether calls that would have been recorded are not: threads may hold, wait for or wake what is
 * not known. */
bool untraced_reasons_some(const struct run *run);
/* All of them for people, new memory; what they are about is borrowed. */
struct untraced_info *untraced_reasons_list(const struct run *run, uint32_t *count);

#endif
