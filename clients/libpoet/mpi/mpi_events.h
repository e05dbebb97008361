/* The events of MPI calls, recorded through poet.h. */
#ifndef CLIENTS_LIBPOET_MPI_MPI_EVENTS_H
#define CLIENTS_LIBPOET_MPI_MPI_EVENTS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* clang-format off */
#define EVENTS(T)                                                                                  \
    T(init) T(initialized) T(finalize) T(finalized) T(send) T(sent) T(bsend) T(isend) T(irecv)     \
    T(recv) T(receive) T(probe) T(probed) T(wait) T(completed) T(together) T(result) T(done)       \
    T(barrier) T(bcast) T(scatter) T(gather) T(allgather) T(alltoall) T(reduce) T(allreduce)       \
    T(reduce_scatter) T(scan) T(exscan) T(ibarrier) T(ibcast) T(iscatter) T(igather) T(iallgather) \
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

/* Declares the types, before the first event. */
void mpi_events_begin(void);

/* Records an event on the line where the thread is; site: the call's. */
poet_event_t event_record(enum mpi_event type, poet_line_t about, const void *site);
poet_event_t event_record_send(enum mpi_event type, poet_line_t about, uint64_t high, uint64_t low,
                               int receives, const void *site);
poet_event_t event_record_receive(enum mpi_event type, uint64_t high, const uint64_t *low,
                                  int count, bool last, const void *site);
/* Records an event that received the message of `source`, as the result of that nondeterministic
 * call (0: none); key NULL: it is not known which message. together: the call reports the following
 * event, too. */
poet_event_t mpi_event_record_received(enum mpi_event type, poet_line_t about,
                                       const uint64_t key[2], uint32_t asked, int source,
                                       bool together, const void *site);
/* Counts a receive as a nondeterministic call, even if it is not recorded as one. Returns, for
 * MPI_ANY_SOURCE in a replayed run, the recorded source; else `from`. */
int mpi_event_request_source(enum mpi_event type, int from, uint32_t *asked);
/* Limit of repetitions of a test for what the recorded run found: a program that only polls may
 * poll again, and do other work meanwhile. */
#define LOOKS_MOST 1000
/* Returns whether the thread's next recorded event has that type; -1: no run is being replayed. */
int mpi_event_replay_next(enum mpi_event type);
/* Returns which nondeterministic call the next event, of that type, reports, and its result; 0:
 * none. together: its call reports the following event, too. */
uint32_t mpi_event_replay_choice(enum mpi_event type, int *got, bool *together);
poet_event_t event_record_group(enum mpi_event type, uint64_t high, uint64_t low, int members,
                                const void *site);

/* A call that waits, recorded by an event of that type. */
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
