/* What found no room: it is counted, and the numbers that it took are told once there is room
 * again, by the thread itself or, where that has ended, by others. */
#ifndef CLIENTS_LIBPOET_CORE_LOST_EVENTS_H
#define CLIENTS_LIBPOET_CORE_LOST_EVENTS_H

#include "clients/libpoet/core/thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern _Atomic uint64_t dropped_events; /* events that found no room in time */

/* So many events found no room, and no numbers were taken for them. */
void lost_events_count_dropped(struct traced_thread *thread, unsigned events);
/* Likewise, with their numbers on a line. */
void lost_events_add(struct traced_thread *thread, uint32_t line, uint64_t first, uint64_t count);
/* Makes room for more ranges: others tell what there is of them.  False: there are too many. */
bool lost_events_hand_over(struct traced_thread *thread);
/* How many events lie in the queue from tail to head: the server has not taken them. */
uint64_t lost_events_count_untaken(const struct queue_head *queue, uint64_t tail, uint64_t head);
/* As the process ends with this thread: how many events of it are lost at least, where the server
 * says that it has no room; else 0. */
uint64_t lost_events_count_no_room(const struct traced_thread *thread);
/* Tells what the calling thread dropped, if there is room.  Call while busy. */
void lost_events_announce(struct traced_thread *thread);
/* Tells what was dropped, also by threads that have ended, as far as there is room. */
void lost_events_forward(struct traced_thread *thread);
void lost_events_thread_end(struct traced_thread *thread); /* it ends: others tell the rest */
void lost_events_send(void); /* the process ends */
void lost_events_forked(void);

#pragma GCC visibility pop
#endif
