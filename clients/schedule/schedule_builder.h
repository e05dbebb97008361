/* Building the replay schedule (wire/replay_schedule.h) of a run from its events, in the order of
 * its log.
 *
 * Events about a line that has no events of its own get tickets, in an order consistent with the
 * recorded order: a second pass goes through each thread's events in sequence, always choosing the
 * earliest one with no predecessor that is not done (Kahn 1962, with time as the tie-breaker). */
#ifndef CLIENTS_SCHEDULE_SCHEDULE_BUILDER_H
#define CLIENTS_SCHEDULE_SCHEDULE_BUILDER_H

#include "wire/replay_schedule.h"
#include "wire/trace_view.h"

#include <stdbool.h>
#include <stddef.h>

struct schedule_builder;

struct schedule_builder *schedule_builder_new(void);
void schedule_builder_free(struct schedule_builder *plan);
/* Adds an event of the run; those of a thread, and those of a line, in their order. */
void schedule_builder_add_event(struct schedule_builder *plan, const struct event_info *event);
/* Adds a thread without a known creator, by its name. */
void schedule_builder_add_foreign(struct schedule_builder *plan, uint32_t thread, const char *name);
/* Sets the name of a type (metadata_type_name): once for each type that occurs. */
void schedule_builder_set_type(struct schedule_builder *plan, uint32_t type, const char *name);
/* Gets a thread's i-th event; returns false if there is none. */
bool schedule_builder_event_at(const struct schedule_builder *plan, uint32_t thread, uint64_t i,
                               struct event_info *event);
/* Returns the schedule, *bytes long, which the caller frees; NULL with the reason in *why if it
 * cannot be made. */
struct schedule_head *schedule_builder_write(struct schedule_builder *plan, size_t *bytes,
                                             const char **why);

#endif
