/* Replacement of a full queue by a larger one. */
#ifndef CLIENTS_LIBPOET_CORE_QUEUE_GROW_H
#define CLIENTS_LIBPOET_CORE_QUEUE_GROW_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct queue_head;

/* The queue that a thread had before a larger one. Written by the thread only. */
struct older_queue {
    struct queue_head *queue; /* NULL: the server has taken what is in it */
    uint64_t head;
};

/* Makes a larger queue for a thread whose queue is full. Returns false if there is none now. */
bool queue_grow(struct traced_thread *thread);
void queue_drop_older(struct older_queue *older); /* unmaps it */
void queue_grow_forget(const struct traced_thread *thread); /* it is done */
void queue_grow_forked(void);

#pragma GCC visibility pop
#endif
