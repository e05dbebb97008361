/* Synchronization operations of threads (on locks and condition variables), and the findings about
 * orders that did not occur (bug_prediction.h). */
#ifndef SERVER_ANALYSIS_FINDINGS_H
#define SERVER_ANALYSIS_FINDINGS_H

#include "server/analysis/must_happen_before.h"

enum sync_op_kind {
    SYNC_OP_REQUEST, /* requests a lock and waits until it has it */
    SYNC_OP_ACQUIRE, /* acquired the lock */
    SYNC_OP_RELEASE, /* released the lock */
    SYNC_OP_REFUSED, /* did not get the requested lock, and continues */
    SYNC_OP_WAIT, /* waits for a signal, and releases the lock meanwhile */
    SYNC_OP_SIGNAL, /* wakes one waiter, or all of them */
    SYNC_OP_WOKEN, /* its wait ended, and it holds the lock again */
    SYNC_OP_RECEIVE /* receives the first message to arrive, from any sender */
};

/* One synchronization operation of a thread. */
struct sync_op {
    enum sync_op_kind is;
    bool shared; /* ACQUIRE: shared with others that acquired it so */
    bool timed; /* REQUEST, WAIT: with a timeout */
    bool all; /* SIGNAL: wakes all waiters */
    /* Trace lines. lock: 0 for SIGNAL; about: what is waited for or signaled, or on which line the
     * messages are. */
    uint32_t thread, lock, about;
    uint32_t sender; /* RECEIVE: the sending thread, */
    uint64_t sent, began; /* the event that sent; the event at which the receiver began to wait */
    struct mhb_clock_mark sent_mark;
    uint32_t place; /* call site */
    uint64_t position;
    struct mhb_clock_mark mark;
};

/* In the order in which they are reported: the worst first. */
#define FINDING_KINDS(K)                                                                           \
    K(LOCK_ORDER_INVERSION, "lock-order-inversion") /* each holds what the next one requests */    \
    K(LOST_WAKEUP, "lost-wakeup") /* a signal before the wait for it, which is not received */     \
    K(SIGNAL_NOT_BROADCAST, "signal-not-broadcast") /* a signal wakes one of several waiters */    \
    K(MESSAGE_RACE, "message-race") /* another message for a receive from any */                   \
    K(EARLY_SIGNAL, "early-signal") /* the signaling critical section precedes the wait */         \
    K(ATOMICITY, "atomicity-violation") /* a critical section between two of one thread */         \
    K(ORDER_VIOLATION, "order-violation") /* two critical sections of a lock, reversed */

enum finding_kind {
#define K(NAME, word) FINDING_##NAME,
    FINDING_KINDS(K)
#undef K
        FINDING_KIND_COUNT
};

const char *finding_name(enum finding_kind kind);
/* Returns whether a finding says only that an order is not enforced: correct, if that is meant. */
bool finding_is_order(enum finding_kind kind);

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
};

/* Appends a finding without participants. */
struct finding *findings_add(struct findings *findings, enum finding_kind kind);
void finding_add_participant(struct finding *finding, struct finding_participant part);
void findings_free(struct findings *findings);

#endif
