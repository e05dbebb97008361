/* A run that is led towards an order (wire/steer.h): threads are held at points of the code until others are where they
 * are to be, a second at most.
 *
 * As in DeadlockFuzzer (Joshi, Park, Sen and Naik 2009): who is about to take a lock while it holds another is held until
 * the others of a cycle have come, too. */
#ifndef CLIENTS_TRACE_REPLAY_STEER_H
#define CLIENTS_TRACE_REPLAY_STEER_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct thread;
struct record;
struct line;

extern bool steers; /* set at the start and never changed */

bool steer_begin(void); /* reads POET_STEER */
/* Before a thread asks for a lock. */
void steer_lock(struct thread *thread, const struct line *line, uintptr_t site);
/* Before a record takes its numbers, and afterwards. */
void steer_meet(struct thread *thread, const struct record *record);
void steer_met(void);

#pragma GCC visibility pop
#endif
