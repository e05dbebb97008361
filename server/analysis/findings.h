/* Synchronization operations of threads (on locks and condition variables), the findings about
 * orders that did not occur (bug_prediction.h), and the interface of the predictors that find
 * them. */
#ifndef SERVER_ANALYSIS_FINDINGS_H
#define SERVER_ANALYSIS_FINDINGS_H

#include "base/map.h"
#include "server/analysis/must_happen_before.h"
#include "wire/finding_kinds.h"

enum sync_op_kind {
    SYNC_OP_REQUEST, /* requests a lock and waits until it has it */
    SYNC_OP_ACQUIRE, /* acquired the lock */
    SYNC_OP_RELEASE, /* released the lock */
    SYNC_OP_REFUSED, /* did not get the requested lock, and continues */
    SYNC_OP_WAIT, /* waits for a signal, and releases the lock meanwhile */
    SYNC_OP_SIGNAL, /* wakes one waiter, or all of them */
    SYNC_OP_WOKEN, /* its wait ended, and it holds the lock again */
    SYNC_OP_RECEIVE, /* receives the first message to arrive, from any sender */
    SYNC_OP_REREAD, /* acquired a read-write lock again that it read-holds, and that prefers
                       waiting writers */
    SYNC_OP_FORK, /* creates a process, in which only this thread continues */
    SYNC_OP_SEND, /* sends a message, and waits until it may change the data */
    SYNC_OP_MESSAGE, /* receives a message, or finds it by a probe */
    SYNC_OP_UNBLOCK, /* its wait for another thread ended, such as a join or a barrier */
    SYNC_OP_POST, /* posts a unit to a semaphore that is not a lock */
    /* For predictors that take all operations: */
    SYNC_OP_USE, /* uses an object in whatever way */
    SYNC_OP_DESTROY, /* destroys an object */
    SYNC_OP_REUSE, /* is about to use an object that was destroyed */
    SYNC_OP_HANDLER_BEGIN, /* runs a signal handler from here, */
    SYNC_OP_HANDLER_END, /* until here */
    SYNC_OP_SIGNAL_MASK /* blocks and unblocks signals */
};

/* One synchronization operation of a thread. */
struct sync_op {
    enum sync_op_kind is;
    bool shared; /* ACQUIRE: shared with others that acquired it so */
    bool timed; /* REQUEST, WAIT: with a timeout */
    bool unit; /* the lock is a semaphore */
    bool unchecked; /* WAIT: no test of a predicate precedes it at its call site */
    bool may_share; /* ACQUIRE: of a read-write lock */
    bool all; /* SIGNAL: wakes all waiters */
    bool any; /* MESSAGE: from any sender, or requested before the thread waited for it */
    /* USE: the thread holds the object or waits at it, no longer does so, or wakes waiters */
    bool opens, closes, signals;
    bool in_use; /* DESTROY: a thread holds the object or waits at it */
    bool wakes; /* DESTROY: it is one at which threads wait for signals */
    bool own; /* DESTROY: no other thread initialized it */
    uint64_t object; /* DESTROY, REUSE: the same for all objects at one address */
    /* Trace lines. lock: 0 for SIGNAL; about: what is waited for or signaled, or on which line the
     * messages are. */
    uint32_t thread, lock, about;
    /* REQUEST in a process that a fork created: the line of the same lock in the parent, 0: none;
     * and the fork */
    uint32_t inherited;
    uint64_t fork;
    const char
        *text; /* HANDLER_BEGIN: the signal; SIGNAL_MASK: "blocks SIGA, unblocks SIGB SIGC" */
    /* RECEIVE, HANDLER_BEGIN: the sending thread; UNBLOCK: the thread that ended the wait; 0: not
     * known */
    uint32_t sender;
    /* the event that sent; the event at which the receiver began to wait; UNBLOCK: that at which
     * the thread did, with its call site in `place` and its clock in `sent_mark` */
    uint64_t sent, began;
    struct mhb_clock_mark sent_mark;
    uint32_t place; /* call site */
    uint64_t position;
    int64_t time_ns;
    struct mhb_clock_mark mark;
};

/* The part of one thread in a finding: its first and its second operation. */
struct finding_participant {
    uint32_t thread, lock, then_lock;
    uint64_t position, then; /* events; `then` is NO_POSITION if there is only one */
    /* event of the request, at which schedule control holds the thread; NO_POSITION: hold it at
     * `position` */
    uint64_t begin;
};

#define FINDING_PARTICIPANTS 8u

struct finding {
    enum finding_kind kind;
    uint64_t times; /* how often it was found */
    uint32_t part_count;
    struct finding_participant parts[FINDING_PARTICIPANTS];
};

struct findings {
    struct finding *items;
    size_t count, room;
    bool cut; /* there may be more: the search was limited */
    const struct order *order; /* of the run; NULL: only what occurred is found */
};

/* Appends a finding without participants. */
struct finding *findings_add(struct findings *findings, enum finding_kind kind);

/* Counts another occurrence of the finding that findings_remember_last() stored under a key, and
 * returns it.  Returns NULL if there is none. */
struct finding *findings_count_again(struct findings *findings, const struct map *found, uint64_t a,
                                     uint64_t b);
/* Stores the number of the last finding under a key, usually the call sites. */
void findings_remember_last(const struct findings *findings, struct map *found, uint64_t a,
                            uint64_t b);
void finding_add_participant(struct finding *finding, struct finding_participant part);
/* Adds a participant with one event, of an object. */
void finding_add_event(struct finding *finding, uint32_t thread, uint32_t object,
                       uint64_t position);
void findings_free(struct findings *findings);

/* A predictor of bugs of some kinds: a file with a `const struct predictor predictor_NAME` and a
 * row of PREDICTORS. */
struct predictor {
    size_t size; /* of its state, zero-initialized at first, which free() frees */
    bool units; /* operations on semaphores are fed, too */
    bool all; /* all operations are fed, on objects of any kind, of handlers, and within others */
    void (*feed)(void *state, const struct sync_op *op);
    /* Adds findings, after all operations were fed, with about `budget` steps.  Returns true when
     * all are found. */
    bool (*step)(void *state, struct findings *findings, uint64_t *budget);
    void (*free)(void *state);
};

#define PREDICTORS(P)                                                                              \
    P(lock_order)                                                                                  \
    P(wakeup_races)                                                                                \
    P(wait_locks)                                                                                  \
    P(pool_tasks) P(fork_locks) P(handler_locks) P(destroyed_objects) P(unsafe_sends)              \
        P(order_races)
#define P(name) extern const struct predictor predictor_##name;
PREDICTORS(P)
#undef P

#endif
