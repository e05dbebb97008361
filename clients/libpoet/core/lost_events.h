/* Events that found no room in a queue. They are counted, and their numbers are reported once there
 * is room again, by the thread itself or, if it has ended, by another one. */
#ifndef CLIENTS_LIBPOET_CORE_LOST_EVENTS_H
#define CLIENTS_LIBPOET_CORE_LOST_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct queue_head;

#define LOST_RANGES 64

/* Events that a thread dropped and has not reported yet. Written by the thread only. */
struct lost_events {
    struct lost_range {
        uint32_t line;
        uint64_t first, count;
    } ranges[LOST_RANGES];
    bool unnumbered; /* it dropped records that are not in the ranges */
    size_t count;
};

/* Counts events that found no room, if they took no numbers. */
void lost_events_count_dropped(struct traced_thread *thread, unsigned events);
/* Counts events that found no room, with the numbers that they took on a line. */
void lost_events_add(struct traced_thread *thread, uint32_t line, uint64_t first, uint64_t count);
/* Makes room for more ranges by handing those that there are to other threads. Returns false if
 * there are too many. */
bool lost_events_hand_over(struct traced_thread *thread);
/* Returns how many events lie in the queue from tail to head, which the server has not taken. */
uint64_t lost_events_count_untaken(const struct queue_head *queue, uint64_t tail, uint64_t head);
/* Returns, as the process ends with this thread, how many of its events are lost at least if the
 * server reports that it has no room; else 0. */
uint64_t lost_events_count_no_room(const struct traced_thread *thread);
/* Reports what the calling thread dropped, if there is room. Must be called while busy. */
void lost_events_announce(struct traced_thread *thread);
/* Reports what was dropped, also by threads that have ended, as far as there is room. */
void lost_events_forward(struct traced_thread *thread);
/* The thread ends: other threads report the rest. */
void lost_events_thread_end(struct traced_thread *thread);
void lost_events_send(void); /* the process ends */
void lost_events_forked(void);

#pragma GCC visibility pop
#endif
