/* What threads do with locks and conditions, deed by deed, and what is found of orders that did not
 * happen (bug_prediction.h). */
#ifndef SERVER_ANALYSIS_FINDINGS_H
#define SERVER_ANALYSIS_FINDINGS_H

#include "server/analysis/must_happen_before.h"

enum sync_op_kind {
    SYNC_OP_REQUEST, /* for a lock, and waits until it has it */
    SYNC_OP_ACQUIRE, /* it is in the lock */
    SYNC_OP_RELEASE, /* it is out */
    SYNC_OP_REFUSED, /* it does not get what it asked for, and goes on */
    SYNC_OP_WAIT, /* for a call, and lets others into the lock meanwhile */
    SYNC_OP_SIGNAL, /* one that waits is woken, or all of them */
    SYNC_OP_WOKEN, /* its wait is over, and it is in the lock again */
    SYNC_OP_RECEIVE /* what the first to come sent, of any */
};

/* One deed of a thread. */
struct sync_op {
    enum sync_op_kind is;
    bool shared; /* TAKES: others may be in it, too, who came in so */
    bool timed; /* ASKS, WAITS: or until a time has come */
    bool all; /* CALLS: all who wait are woken */
    /* Lines; lock: 0 of CALLS; about: what is waited for, called for, or whose messages are. */
    uint32_t thread, lock, about;
    uint32_t sender; /* RECEIVES: a thread, */
    uint64_t sent, began; /* the event by which it sent; by which the receiver began to wait */
    struct mhb_clock_mark sent_mark;
    uint32_t place; /* of the code */
    uint64_t position;
    struct mhb_clock_mark mark;
};

/* In the order in which they are told: what is worst first. */
#define FINDING_KINDS(K)                                                                           \
    K(LOCK_ORDER_INVERSION, "lock-order-inversion") /* each holds what the next one asks for */    \
    K(LOST_WAKEUP, "lost-wakeup") /* a call that comes before the wait for it, and is not heard */ \
    K(SIGNAL_NOT_BROADCAST, "signal-not-broadcast") /* a call that wakes one of several */         \
    K(MESSAGE_RACE, "message-race") /* another message for a receive that takes any */             \
    K(EARLY_SIGNAL, "early-signal") /* a visit with a call before the one that waits for it */     \
    K(ATOMICITY, "atomicity-violation") /* another visit of a lock between two of one thread */    \
    K(ORDER_VIOLATION, "order-violation") /* two visits of a lock, the other way round */

enum finding_kind {
#define K(NAME, word) FINDING_##NAME,
    FINDING_KINDS(K)
#undef K
        FINDING_KIND_COUNT
};

const char *finding_name(enum finding_kind kind);

/* One thread's part in it: what it does there, first, and then. */
struct finding_participant {
    uint32_t thread, lock, then_lock;
    uint64_t position, then; /* events; then NO_POSITION: there is no such */
    /* the event by which it asked, to be held there; NO_POSITION: then `position` */
    uint64_t begin;
};

#define FINDING_PARTICIPANTS 8u

struct finding {
    enum finding_kind kind;
    uint64_t times; /* as often as it was found */
    uint32_t part_count;
    struct finding_participant parts[FINDING_PARTICIPANTS];
};

struct findings {
    struct finding *items;
    size_t count, room;
    bool cut; /* there may be more: it was too much to look at all */
};

/* A new one, with no parts. */
struct finding *findings_add(struct findings *findings, enum finding_kind kind);
void finding_add_participant(struct finding *finding, struct finding_participant part);
void findings_free(struct findings *findings);

#endif
