/* The memory that programs share by passing descriptors: queues, profile regions and rings
 * are mapped for the capture thread, as many as the system permits; heap allocations and metric
 * cells are read at intervals and written to the journals. */
#ifndef SERVER_CONNECTIONS_SHARED_MEMORY_H
#define SERVER_CONNECTIONS_SHARED_MEMORY_H

#include "server/connections/connection.h"

/* Handles a message that shares memory, with the descriptor in the peer's channel; returns false
 * for other types.  *why is then the reason why the program is refused, or NULL. */
bool shared_memory_receive(struct connection *peer, unsigned type, struct decoder *in,
                           const char **why);
/* Receives the declaration of a metric: the body of a METER. */
void cell_sampler_named(struct connection *peer, const uint8_t *body, size_t size);
/* Read the memory of all programs that is due. */
void heap_sampler_step(struct server *server);
void cell_sampler_step(struct server *server);
/* Reads the cells of a program, whether they are due or not. */
void cell_sampler_now(struct connection *peer);
/* Reads once more, before the last chunks of a program are written. */
void shared_memory_end(struct connection *peer);

#endif
