/* Ties between the clocks of several hosts, by all messages between them (clock_bounds.h): certain
 * bounds of each clock. */
#ifndef SERVER_RUN_CLOCK_TIES_H
#define SERVER_RUN_CLOCK_TIES_H

#include "base/map.h"
#include "server/run/clock_bounds.h"

struct clock_pair { /* two clocks between which messages were sent: a < b */
    uint32_t a, b;
    struct clock_messages forth, back; /* from a to b; from b to a */
};

struct clock_ties {
    uint32_t clocks;
    double middle;
    struct clock_pair *bonds;
    size_t count, room;
    struct map places; /* a, b -> 1 + place of the bond */
    /* once it is closed: the bonds of a clock c are of[begin[c]] to of[begin[c + 1] - 1] */
    size_t *begin, *of;
};

struct clock_tied { /* a clock relative to the first one */
    bool known, uneven; /* uneven: bounds were widened */
    struct clock_interval ahead_ns, drift;
};

struct clock_ties *clock_ties_new(uint32_t clocks, double middle);
/* Records a message and returns the index of its pair of clocks, which must differ. */
size_t clock_ties_note(struct clock_ties *tying, uint32_t from, uint32_t to, int64_t sent,
                       int64_t got);
void clock_ties_close(struct clock_ties *tying); /* must follow the last clock_ties_note() */
size_t clock_pair_messages(const struct clock_pair *bond);
uint32_t clock_pair_other(const struct clock_pair *bond, uint32_t clock);
/* Computes how far each clock is ahead when the first one shows `shown`. */
void clock_ties_bound(const struct clock_ties *tying, double shown, struct clock_tied *bounds);
void clock_ties_free(struct clock_ties *tying);

#endif
