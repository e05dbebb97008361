/* The events that MPI calls leave, told through poet.h. */
#ifndef CLIENTS_LIBPOET_MPI_MPI_EVENTS_H
#define CLIENTS_LIBPOET_MPI_MPI_EVENTS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* clang-format off */
#define EVENTS(T)                                                                                    \
    T(init) T(initialised) T(finalise) T(finalised) T(send) T(sent) T(isend) T(irecv) T(recv)        \
    T(receive) T(probe) T(probed) T(wait) T(completed) T(together) T(result) T(done)                 \
    T(barrier) T(bcast) T(scatter) T(gather) T(allgather) T(alltoall) T(reduce) T(allreduce)         \
    T(reduce_scatter) T(scan) T(exscan) T(ibarrier) T(ibcast) T(iscatter) T(igather) T(iallgather)   \
    T(ialltoall) T(ireduce) T(iallreduce) T(ireduce_scatter) T(iscan) T(iexscan)
/* clang-format on */

/* clang-format off */
enum mpi_event {
#define T(name) EVENT_##name,
    EVENTS(T)
#undef T
    EVENT_COUNT
};
/* clang-format on */

/* Makes the types known, before the first event. */
void mpi_events_begin(void);

/* An event where the thread is; site: the call's. */
poet_event_t event_record(enum mpi_event type, poet_line_t about, const void *site);
poet_event_t event_record_send(enum mpi_event type, poet_line_t about, uint64_t high, uint64_t low,
                               int receives, const void *site);
poet_event_t event_record_receive(enum mpi_event type, uint64_t high, const uint64_t *low,
                                  int count, bool last, const void *site);
/* What got the message of `source`, which answers that ask (0: none); key NULL: which message is
 * not known. together: the call tells of another one behind it. */
poet_event_t mpi_event_record_received(enum mpi_event type, poet_line_t about,
                                       const uint64_t key[2], uint32_t asked, int source,
                                       bool together, const void *site);
/* A receive is one ask, whether or not that is told.  From MPI_ANY_SOURCE (`from`): whose message
 * it got when it was recorded, in a run that is repeated; else `from`, and for all others. */
int mpi_event_request_source(enum mpi_event type, int from, uint32_t *asked);
/* For what was there then: who only looks looks again, and may have more to do. */
#define LOOKS_MOST 1000
/* Whether the thread's next event then was of that type; -1: nothing is repeated. */
int mpi_event_replay_next(enum mpi_event type);
/* Which ask the next event, of that type, tells of, and what that got; 0: none.  together: its call
 * told of the event behind it, too. */
uint32_t mpi_event_replay_choice(enum mpi_event type, int *got, bool *together);
poet_event_t event_record_group(enum mpi_event type, uint64_t high, uint64_t low, int members,
                                const void *site);

/* A call that waits, told by an event of that type. */
#define WAITING(type, call)                                                                        \
    ({                                                                                             \
        mpi_event_wait_begin(type);                                                                \
        int result_ = (call);                                                                      \
        mpi_event_wait_end(type);                                                                  \
        result_;                                                                                   \
    })
void mpi_event_wait_begin(enum mpi_event type);
void mpi_event_wait_end(enum mpi_event type);

#pragma GCC visibility pop
#endif
