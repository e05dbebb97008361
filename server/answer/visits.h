/* How the events of one shared line stand to one event.
 *
 * Visits of a shared line overlap, so neither its past nor its future there is one stretch.  But the events of one
 * thread are ordered among themselves: of each thread the past is those up to one of them, the future those from one
 * of them on.  What a thread did on its own line says nearly all of it; the few events between are compared. */
#ifndef SERVER_ANSWER_VISITS_H
#define SERVER_ANSWER_VISITS_H

#include "server/run/run.h"
#include "wire/found.h"

struct visits;

/* past and future: of the event at `position`, done; borrowed.  hidden: something that nobody saw may order what is
 * not ordered. */
struct visits *visits_new(const struct run *run, uint64_t position, const struct reach *past,
                          const struct reach *future, bool hidden);
void visits_free(struct visits *visits);
void visits_begin(struct visits *visits, uint32_t line);
/* Adds what it finds out to `count`; *budget is in events.  True when all of the line is counted. */
bool visits_step(struct visits *visits, uint64_t *budget, struct shown_count *count);

#endif
