/* The connection to the event server, and the queues that are handed over on it. */
#ifndef CLIENTS_LIBPOET_CORE_SERVER_CONNECTION_H
#define CLIENTS_LIBPOET_CORE_SERVER_CONNECTION_H

#include "wire/message.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* The number of the present life, from 1 (lifecycle.h); 0: not traced.  The kernel clears it in a
 * child with memory of its own, however that was made: no thread there writes into a queue of its
 * parent's. */
extern _Atomic uint32_t current_lifetime;
extern uint64_t process_instance; /* names this process among all */

void server_begin(void); /* reads the environment */
uint32_t current_lifetime_exchange(uint32_t life); /* the one before */
bool current_lifetime_is_cleared(void); /* this is a child that was not told of */
uint32_t current_lifetime_before_fork(void);
bool server_connection_begin(
    int fd, const struct encoder *first); /* a new life on it; false: it does not take the first */
bool server_queue_create(struct traced_thread *thread,
                         uint32_t most_slots); /* makes the queue and hands it over */
/* For queues that grow, queue_grow.c. */
extern bool server_reads_older_queues; /* the server takes what is in an older queue first */
extern bool server_takes_regions; /* it takes regions of threads */
extern bool server_takes_heaps; /* it takes heaps as wire/heap_region.h has them now */
extern bool server_takes_metrics; /* and is told of meters */
extern bool server_takes_call_records; /* and rings of when each call began and ended */
extern bool server_allows_remote; /* programs of other machines may be in the run */
extern bool server_is_scarce; /* has little room */
extern bool server_wants_end; /* wants to know that the program ends by itself */
extern bool server_awaits; /* and that a task waits for the end of another */
extern bool server_takes_placements; /* and which task is on which thread of the system */
bool queue_may_grow(const struct traced_thread *thread);
int queue_memory(
    size_t bytes); /* that the server may map, of a size that stays; -1: there is none here */
void queue_prepare(struct traced_thread *thread, void *memory, uint32_t slots);
/* A message of few bytes, if it can be sent without waiting; also from a signal handler. */
bool server_send_at_once(const struct encoder *out, int descriptor, uint32_t life);
#define QUEUE_WHOLE UINT32_MAX
#define QUEUE_SMALL 1024u
void server_queue_done(struct traced_thread *thread);
void server_queue_forked(
    struct traced_thread *thread); /* in a child: it is not the child's to write to */
void server_wake(void);
void server_check(void); /* gives up if the server has gone; does not wait */
bool server_alive(void);
bool server_send(const struct encoder *out, uint32_t life); /* false: that life is over */
bool server_send_with(const struct encoder *out, int descriptor, uint32_t life); /* or it is slow */
extern bool server_needs_socket; /* no memory can be shared with it: queues are sent */
bool server_may_share(void);
void server_forget(void); /* the life ends here, quietly */
void server_forked(void); /* the same, in the child */
void server_connection_abandon(void); /* in a child: the connection is its parent's, and stays */
unsigned server_wait_ms(void);

#pragma GCC visibility pop
#endif
