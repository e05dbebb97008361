/* What else a run could have done: orders that did not happen, each with the events that show it.
 *
 * Told deed by deed, in the order of the log, what its threads do with locks and conditions, and what is certainly before
 * what (sure.h); found are cycles in which locks are taken (inversions.h), calls that nobody would hear (wakings.h), and
 * visits whose order luck decided (flips.h).  That the program would do the same up to there is not known: it is what could
 * be, not what must. */
#ifndef SERVER_CAUSES_MAYBE_H
#define SERVER_CAUSES_MAYBE_H

#include "server/causes/sure.h"

enum deed_is {
    DEED_ASKS, /* for a lock, and waits until it has it */
    DEED_TAKES, /* it is in the lock */
    DEED_GIVES, /* it is out */
    DEED_REFUSED, /* it does not get what it asked for, and goes on */
    DEED_WAITS, /* for a call, and lets others into the lock meanwhile */
    DEED_CALLS, /* one that waits is woken, or all of them */
    DEED_ENDS /* a wait, by the clock */
};

/* One deed of a thread. */
struct deed {
    enum deed_is is;
    bool shared; /* TAKES: others may be in it, too, who came in so */
    bool timed; /* ASKS, WAITS: or until a time has come */
    bool all; /* CALLS: all who wait are woken */
    uint32_t thread, lock,
        about; /* lines; lock: 0 of CALLS; about: what is waited for, called for */
    uint32_t place; /* of the code */
    uint64_t position;
    struct sure_mark mark;
};

/* In the order in which they are told: what is worst first. */
#define MAYBE_KINDS(K)                                                                             \
    K(INVERSION, "inversion") /* each holds what the next one asks for */                          \
    K(LOST, "lost") /* a call that comes before the wait for it, and is not heard */               \
    K(MISSED, "missed") /* a call that wakes one of several */                                     \
    K(BETWEEN, "between") /* another visit of a lock between two of one thread */                  \
    K(MESSAGE, "message") /* another message for a receive that takes any */                       \
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

/* ---- all of them ---- */

struct maybe;

struct maybe *maybe_new(void);
void maybe_deed(struct maybe *maybe, const struct deed *deed);
/* After all deeds; about `budget` looks more, true when all is found. */
bool maybe_go_on(struct maybe *maybe, uint64_t *budget);
/* The most likely first, once all is found. */
const struct findings *maybe_found(struct maybe *maybe);
void maybe_free(struct maybe *maybe);

#endif
