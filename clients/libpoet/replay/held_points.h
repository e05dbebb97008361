/* A run that is led towards an order (wire/schedule_control.h): threads are held at points of the
 * code until others are where they are to be, a second at most.
 *
 * As in DeadlockFuzzer (Joshi, Park, Sen and Naik 2009): who is about to take a lock while it holds
 * another is held until the others of a cycle have come, too. */
#ifndef CLIENTS_LIBPOET_REPLAY_HELD_POINTS_H
#define CLIENTS_LIBPOET_REPLAY_HELD_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct record;
struct trace_line;

extern bool hold_points_active; /* set at the start and never changed */

bool hold_point_begin(void); /* reads POET_SCHEDULE_CONTROL */
/* Before a thread asks for a lock. */
void hold_point_before_lock(struct traced_thread *thread, const struct trace_line *line,
                            uintptr_t site);
/* Before a record takes its numbers, and afterwards. */
void hold_point_before_event(struct traced_thread *thread, const struct record *record);
void hold_point_after_event(void);

#pragma GCC visibility pop
#endif
