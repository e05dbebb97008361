/* A script (wire/script.h) of a run: from its events, in the order of its log.
 *
 * What is about a line that has no events of its own gets tickets, in an order that agrees with all that is known: the
 * events are gone through once more, each thread's one after the other, always the earliest one that nothing before it is
 * lacking of (Kahn 1962, with the time for a choice). */
#ifndef CLIENTS_PLAN_PLAN_H
#define CLIENTS_PLAN_PLAN_H

#include "wire/script.h"
#include "wire/shown.h"

#include <stdbool.h>
#include <stddef.h>

struct plan;

struct plan *plan_new(void);
void plan_free(struct plan *plan);
/* An event of the run; those of a thread in its order, those of a line likewise. */
void plan_event(struct plan *plan, const struct shown_event *event);
/* A thread that nobody is known to have created, by its name. */
void plan_stranger(struct plan *plan, uint32_t thread, const char *name);
/* The name of a type (book_type): once for each that an event has. */
void plan_type(struct plan *plan, uint32_t type, const char *name);
/* A thread's i-th event, as far as it is kept; false: there is none. */
bool plan_act(const struct plan *plan, uint32_t thread, uint64_t i, struct shown_event *event);
/* The script, of *bytes (caller frees); NULL: *why says why there can be none. */
struct script_head *plan_script(struct plan *plan, size_t *bytes, const char **why);

#endif
