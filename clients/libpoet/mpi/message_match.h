/* Message matching: which message a receive got, and the keys that pair sends and receives. Must
 * hold the lock for all functions. */
#ifndef CLIENTS_LIBPOET_MPI_MESSAGE_MATCH_H
#define CLIENTS_LIBPOET_MPI_MESSAGE_MATCH_H

#include "clients/libpoet/mpi/communicators.h"
#include "clients/libpoet/mpi/mpi_request.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

uint64_t message_match_send_sequence(const struct communicator *comm, int destination, int tag);
void message_match_send_key(const struct communicator *comm, int destination, int tag,
                            uint64_t sequence, uint64_t key[2]);

/* Registers a posted receive. Must be called in the order of posting, under the lock. */
void message_match_post(struct mpi_request *receive);
/* Gets the key of the message that it received, and removes it from the posted ones. Returns false
 * if it cannot be determined. */
bool message_match_receive(struct mpi_request *receive, int source, int tag, uint64_t key[2]);
void message_match_unpost(struct mpi_request *receive); /* Called when it was cancelled or freed. */
/* Gets the key of the next message that a receive posted now would get. sequence: the message is
 * consumed out of order, as this number; NULL: it is not consumed. */
bool message_match_next(struct communicator *comm, int source, int tag, uint64_t *sequence,
                        uint64_t key[2]);

#pragma GCC visibility pop
#endif
