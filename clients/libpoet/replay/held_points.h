/* Schedule control (wire/schedule_control.h): threads are held at points of the code until
 * others are in position, at most a second. The method is that of DeadlockFuzzer (Joshi, Park,
 * Sen and Naik 2009): a thread that is about to acquire a lock while it holds another is held
 * until the other threads of a cycle have come, too. */
#ifndef CLIENTS_LIBPOET_REPLAY_HELD_POINTS_H
#define CLIENTS_LIBPOET_REPLAY_HELD_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct record;
struct trace_line;

bool hold_point_begin(void); /* Reads POET_SCHEDULE_CONTROL. */
/* Called before a thread requests a lock. */
void hold_point_before_lock(struct traced_thread *thread, const struct trace_line *line,
                            uintptr_t site);
/* Called before a thread acquires a unit of a semaphore. */
void hold_point_before_unit(struct traced_thread *thread, const struct trace_line *line,
                            uintptr_t site);
/* Called before a record takes its numbers, and afterwards. */
void hold_point_before_event(struct traced_thread *thread, const struct record *record);
void hold_point_after_event(struct traced_thread *thread);
/* Called when a thread has recorded that it acquired a lock, where its signal handlers record. */
void hold_point_after_lock(const struct traced_thread *thread);

#pragma GCC visibility pop
#endif
