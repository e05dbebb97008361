/* The shared queue of one thread of a program (wire/slot.h), as the server reads it. */
#ifndef SERVER_INTAKE_QUEUE_H
#define SERVER_INTAKE_QUEUE_H

#include "server/intake/ticks.h"
#include "wire/slot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue {
    struct queue *next;
    struct queue_head *head; /* mapped; nothing in it is trusted */
    size_t bytes;
    uint64_t slots, tail; /* our own copies */
    uint64_t waited_ns, dropped, unfollowed;
    uint32_t thread;
    struct slot *batch; /* copied out, journalled, not told yet */
    size_t batch_count, batch_room;
    uint32_t batch_epoch; /* of the region that it was journalled in */
    bool done, behind; /* the thread has ended; there is more than was copied */
};

/* Maps a queue and puts it at the front of a list; the descriptor stays the caller's.  NULL, or what is
 * wrong with it. */
const char *queue_add(struct queue **list, int fd, uint32_t slots);
void queue_free(struct queue *queue);
/* Copies what is new into `batch`, whole records, about `most` slots; false if the queue is nonsense.
 * What is copied is looked at only there: the program may write on in the queue. */
bool queue_copy(struct queue *queue, struct ticks *ticks, size_t most);
/* Gives back the room of what lies before `tail`, and wakes a thread that waits for it. */
void queue_give_room(struct queue *queue);

#endif
