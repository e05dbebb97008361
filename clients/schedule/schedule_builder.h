/* A script (wire/replay_schedule.h) of a run: from its events, in the order of its log.
 *
 * What is about a line that has no events of its own gets tickets, in an order that agrees with all
 * that is known: the events are gone through once more, each thread's one after the other, always
 * the earliest one that nothing before it is lacking of (Kahn 1962, with the time for a choice). */
#ifndef CLIENTS_SCHEDULE_SCHEDULE_BUILDER_H
#define CLIENTS_SCHEDULE_SCHEDULE_BUILDER_H

#include "wire/replay_schedule.h"
#include "wire/trace_view.h"

#include <stdbool.h>
#include <stddef.h>

struct schedule_builder;

struct schedule_builder *schedule_builder_new(void);
void schedule_builder_free(struct schedule_builder *plan);
/* An event of the run; those of a thread in its order, those of a line likewise. */
void schedule_builder_add_event(struct schedule_builder *plan, const struct event_info *event);
/* A thread that nobody is known to have created, by its name. */
void schedule_builder_add_foreign(struct schedule_builder *plan, uint32_t thread, const char *name);
/* The name of a type (metadata_type_name): once for each that an event has. */
void schedule_builder_set_type(struct schedule_builder *plan, uint32_t type, const char *name);
/* A thread's i-th event, as far as it is kept; false: there is none. */
bool schedule_builder_event_at(const struct schedule_builder *plan, uint32_t thread, uint64_t i,
                               struct event_info *event);
/* The script, of *bytes (caller frees); NULL: *why says why there can be none. */
struct schedule_head *schedule_builder_write(struct schedule_builder *plan, size_t *bytes,
                                             const char **why);

#endif
