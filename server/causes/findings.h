/* What threads do with locks and conditions, deed by deed, and what is found of orders that did not happen (maybe.h). */
#ifndef SERVER_CAUSES_FINDINGS_H
#define SERVER_CAUSES_FINDINGS_H

#include "server/causes/sure.h"

enum deed_is {
    DEED_ASKS, /* for a lock, and waits until it has it */
    DEED_TAKES, /* it is in the lock */
    DEED_GIVES, /* it is out */
    DEED_REFUSED, /* it does not get what it asked for, and goes on */
    DEED_WAITS, /* for a call, and lets others into the lock meanwhile */
    DEED_CALLS, /* one that waits is woken, or all of them */
    DEED_WOKEN, /* its wait is over, and it is in the lock again */
    DEED_RECEIVES /* what the first to come sent, of any */
};

/* One deed of a thread. */
struct deed {
    enum deed_is is;
    bool shared; /* TAKES: others may be in it, too, who came in so */
    bool timed; /* ASKS, WAITS: or until a time has come */
    bool all; /* CALLS: all who wait are woken */
    /* Lines; lock: 0 of CALLS; about: what is waited for, called for, or whose messages are. */
    uint32_t thread, lock, about;
    uint32_t sender; /* RECEIVES: a thread, */
    uint64_t sent, began; /* the event by which it sent; by which the receiver began to wait */
    struct sure_mark sent_mark;
    uint32_t place; /* of the code */
    uint64_t position;
    struct sure_mark mark;
};

/* In the order in which they are told: what is worst first. */
#define MAYBE_KINDS(K)                                                                             \
    K(INVERSION, "inversion") /* each holds what the next one asks for */                          \
    K(LOST, "lost") /* a call that comes before the wait for it, and is not heard */               \
    K(MISSED, "missed") /* a call that wakes one of several */                                     \
    K(MESSAGE, "message") /* another message for a receive that takes any */                       \
    K(UNHEARD, "unheard") /* a visit with a call before the one that waits for it */               \
    K(BETWEEN, "between") /* another visit of a lock between two of one thread */                  \
    K(FIRST, "first") /* two visits of a lock, the other way round */

enum maybe_kind {
#define K(NAME, word) MAYBE_##NAME,
    MAYBE_KINDS(K)
#undef K
        MAYBE_KIND_COUNT
};

const char *maybe_word(enum maybe_kind kind);

/* One thread's part in it: what it does there, first, and then. */
struct maybe_part {
    uint32_t thread, lock, then_lock;
    uint64_t position, then; /* events; then NO_POSITION: there is no such */
    uint64_t
        begin; /* the event by which it asked, to be held there; NO_POSITION: then `position` */
};

#define MAYBE_PARTS 8u

struct finding {
    enum maybe_kind kind;
    uint64_t times; /* as often as it was found */
    uint32_t part_count;
    struct maybe_part parts[MAYBE_PARTS];
};

struct findings {
    struct finding *items;
    size_t count, room;
    bool cut; /* there may be more: it was too much to look at all */
};

/* A new one, with no parts. */
struct finding *findings_add(struct findings *findings, enum maybe_kind kind);
void findings_part(struct finding *finding, struct maybe_part part);
void findings_free(struct findings *findings);

#endif
