/* Replay of completion calls for several requests: which requests are completed when. Calls that
 * found nothing complete are not events: how many come first is not replayed. */
#ifndef CLIENTS_LIBPOET_MPI_WAITSOME_REPLAY_H
#define CLIENTS_LIBPOET_MPI_WAITSOME_REPLAY_H

#include "clients/libpoet/mpi/request_batch.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Returns whether a run is being replayed and there is a receive among them. */
bool waitsome_replay_is_active(const struct request_batch *batch);
/* Returns the receive that the thread's next event reports; -1: none of them. */
int waitsome_replay_next_receive(const struct request_batch *batch);

/* Waits for a receive that was complete in the recorded run, unless its sender does not send it. */
int waitsome_replay_long(MPI_Request *handle, int *flag, MPI_Status *status);
/* Tests one receive with the recorded result: complete or not. */
int waitsome_replay_test(const struct request_batch *batch, MPI_Request *handle, int *flag,
                         MPI_Status *status);
int waitsome_replay_test_all(struct request_batch *batch, MPI_Request *handles, int *flag);

/* Completes the receives that were complete in the recorded run, then others that are complete now,
 * and records them. *done: how many. waits: waits as long as needed; sets *done to 0 if the
 * recorded result is not known. */
int waitsome_replay_some(struct request_batch *batch, MPI_Request *handles, int *done, int *indices,
                         bool waits, const void *site);
/* Completes at most `most` other requests, which are not receives. */
int waitsome_replay_others(struct request_batch *batch, MPI_Request *handles, int *done,
                           int *indices, int most, const void *site);

#pragma GCC visibility pop
#endif
