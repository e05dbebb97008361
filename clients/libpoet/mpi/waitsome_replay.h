/* Which of several requests are done, and when, in a run that is repeated: those that were done
 * then.  Misses are not events: how often a call found nothing before is as it is now. */
#ifndef CLIENTS_LIBPOET_MPI_WAITSOME_REPLAY_H
#define CLIENTS_LIBPOET_MPI_WAITSOME_REPLAY_H

#include "clients/libpoet/mpi/request_batch.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* The run is, and there is a receive among them. */
bool waitsome_replay_is_active(const struct request_batch *batch);
/* The receive of which the thread's next event tells; -1: it is none of them. */
int waitsome_replay_next_receive(const struct request_batch *batch);

/* What was there then comes, unless whoever is to send it does not. */
int waitsome_replay_long(MPI_Request *handle, int *flag, MPI_Status *status);
/* One receive was there when it was tested, or was not. */
int waitsome_replay_test(const struct request_batch *batch, MPI_Request *handle, int *flag,
                         MPI_Status *status);
int waitsome_replay_test_all(struct request_batch *batch, MPI_Request *handles, int *flag);

/* The receives that were done then, and after them others that are done now; told as they are
 * done.  *done: how many.  waits: for as long as it takes; nothing is done where that cannot be
 * said (`*done` is 0). */
int waitsome_replay_some(struct request_batch *batch, MPI_Request *handles, int *done, int *indices,
                         bool waits, const void *site);
/* Of those that are no receives, `most` that are done now. */
int waitsome_replay_others(struct request_batch *batch, MPI_Request *handles, int *done,
                           int *indices, int most, const void *site);

#pragma GCC visibility pop
#endif
