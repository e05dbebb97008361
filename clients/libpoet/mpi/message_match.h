/* Which message a receive got: the keys by which sends and receives meet.  All under the lock. */
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

/* A receive is posted: call it in the order of posting, under the lock. */
void message_match_post(struct mpi_request *receive);
/* The key of the message that it got, and it leaves the posted ones; false: it cannot be told. */
bool message_match_receive(struct mpi_request *receive, int source, int tag, uint64_t key[2]);
void message_match_unpost(struct mpi_request *receive); /* cancelled or freed */
/* The key of the next message that a receive posted now would get.  sequence: it is taken out of
 * their order, as this number; NULL: it is not. */
bool message_match_next(struct communicator *comm, int source, int tag, uint64_t *sequence,
                        uint64_t key[2]);

#pragma GCC visibility pop
#endif
