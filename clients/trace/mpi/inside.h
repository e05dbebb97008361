/* libpoet-mpi: what an MPI program does, told through poet.h.  It stands before the calls by the
 * profiling interface of MPI (MPI 3.1, chapter 14): each MPI_X here calls PMPI_X.
 *
 * Messages meet by keys: communicator, source, destination, tag and a sequence number, since messages of
 * one source, destination, tag and communicator are received in the order in which they are sent (MPI 3.1,
 * 3.5).  Nothing is added to the program's own messages; communicators get their ids by what all of their
 * members know, without talking.  Only MPI_Init adds one Allgather, of the identities of the ranks' lines. */
#ifndef CLIENTS_TRACE_MPI_INSIDE_H
#define CLIENTS_TRACE_MPI_INSIDE_H

#include "poet.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* ---- process.c ---- */

#define EVENTS(T)                                                                                    \
    T(init) T(initialised) T(finalise) T(finalised) T(send) T(sent) T(isend) T(irecv) T(recv)        \
    T(receive) T(probe) T(probed) T(wait) T(completed) T(together) T(result) T(done)                 \
    T(barrier) T(bcast) T(scatter) T(gather) T(allgather) T(alltoall) T(reduce) T(allreduce)         \
    T(reduce_scatter) T(scan) T(exscan) T(ibarrier) T(ibcast) T(iscatter) T(igather) T(iallgather)   \
    T(ialltoall) T(ireduce) T(iallreduce) T(ireduce_scatter) T(iscan) T(iexscan)

enum event {
#define T(name) EVENT_##name,
    EVENTS(T)
#undef T
    EVENT_COUNT
};

extern bool following;  /* between MPI_Init and MPI_Finalize of a traced program */
extern bool concurrent; /* several threads may call at once */

/* An event where the thread is; site: the call's. */
poet_event_t note(enum event type, poet_line_t about, const void *site);
poet_event_t note_send(enum event type, poet_line_t about, uint64_t high, uint64_t low, int receives,
                       const void *site);
poet_event_t note_receive(enum event type, uint64_t high, const uint64_t *low, int count, bool last,
                          const void *site);
poet_event_t note_meeting(enum event type, uint64_t high, uint64_t low, int members, const void *site);

/* The line of a rank of MPI_COMM_WORLD; 0: it is not traced. */
poet_line_t rank_line(int world);
bool rank_traced(int world);
uint64_t job(void); /* a number of this MPI_COMM_WORLD alone */

#define SITE __builtin_extract_return_addr(__builtin_return_address(0))
#define API __attribute__((visibility("default")))

/* Never held while a call may block. */
void lock(void);
void unlock(void);

uint64_t mix(uint64_t a, uint64_t b);
/* Zeroed memory of ours.  Where there is none, what is under way gets the last of it, and nothing is followed any
 * more; NULL: even that is too little. */
void *take(size_t n, size_t each);
void give(void *p); /* what take() gave; NULL too */

/* ---- comms.c ---- */

struct comm {
    uint64_t id; /* the same in all members, and no other communicator's */
    int rank, size;
    bool inter;
    bool whole;      /* all members are traced */
    int *peers;      /* rank here (of the remote group, if it is an intercommunicator) -> world */
    int peer_count;
    int self;        /* rank in the world */
    uint64_t collectives, children; /* so far */
    poet_line_t line;
    struct request *first, *last; /* posted receives, the oldest first */
};

/* NULL: it is not followed. */
struct comm *comm_of(MPI_Comm handle);
void comms_begin(void);
int peer_of(const struct comm *comm, int rank); /* in the world; -1 none */
poet_line_t peer_line(const struct comm *comm, int rank); /* of MPI_ANY_SOURCE: the communicator's */

/* ---- match.c ---- */

struct plan; /* see collect.c */

struct request {
    enum { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE } kind;
    MPI_Request handle;
    bool known;            /* it has a handle */
    bool persistent, active;
    bool awaited;          /* some thread waits for it now: not to be looked at */
    bool taken;            /* by a call under way: several sends may have the same handle */
    bool over;             /* complete, but which message it got is not known yet */
    bool assigned;         /* `sequence` is */
    struct comm *comm;
    int peer, tag;         /* as posted; of what is over: as received */
    uint64_t sequence;
    struct plan *plan;
    struct request *before, *after; /* among the posted receives */
    struct request *next;  /* in the table, or free */
};

uint64_t send_sequence(const struct comm *comm, int destination, int tag);
void send_key(const struct comm *comm, int destination, int tag, uint64_t sequence, uint64_t key[2]);

/* A receive is posted: call it in the order of posting, under the lock. */
void posted(struct request *receive);
/* The key of the message that it got, and it leaves the posted ones; false: it cannot be told. */
bool received(struct request *receive, int source, int tag, uint64_t key[2]);
void unposted(struct request *receive); /* cancelled or freed */
/* The key of the next message that a receive posted now would get.  sequence: it is taken out of their
 * order, as this number; NULL: it is not. */
bool next_message(struct comm *comm, int source, int tag, uint64_t *sequence, uint64_t key[2]);

struct request *request_new(struct comm *comm, int peer, int tag);
void request_keep(struct request *request, MPI_Request handle);
struct request *request_of(MPI_Request handle); /* one that is not taken; NULL: not followed */
void request_forget(struct request *request);

/* ---- collect.c ---- */

void plan_end(struct plan *plan, const void *site); /* it is complete; frees it */
void plan_free(struct plan *plan);

/* ---- requests.c ---- */

/* A request is complete: records what it brought. */
bool completed(struct request *request, const MPI_Status *status, const void *site);

#pragma GCC visibility pop
#endif
