/* Clocks of several hosts, tied by all messages between them (bounds.h): for certain between what bounds each of them is. */
#ifndef SERVER_RUN_TYING_H
#define SERVER_RUN_TYING_H

#include "memory/map.h"
#include "server/run/bounds.h"

struct bond { /* of two clocks between which messages went: a < b */
    uint32_t a, b;
    struct ways forth, back; /* from a; to a */
};

struct tying {
    uint32_t clocks;
    double middle;
    struct bond *bonds;
    size_t count, room;
    struct map places; /* a, b -> 1 + place of the bond */
    size_t *begin,
        *of; /* once it is closed: the bonds of a clock c are of[begin[c]] to of[begin[c + 1] - 1] */
};

struct tied { /* to the first clock */
    bool known, uneven; /* uneven: bounds were widened */
    struct between ahead_ns, drift;
};

struct tying *tying_new(uint32_t clocks, double middle);
/* Which bond it is: a clock is not tied to itself. */
size_t tying_note(struct tying *tying, uint32_t from, uint32_t to, int64_t sent, int64_t got);
void tying_close(struct tying *tying); /* all is noted */
size_t bond_messages(const struct bond *bond);
uint32_t bond_other(const struct bond *bond, uint32_t clock);
/* How far each clock is ahead when the first one shows so much. */
void tying_bound(const struct tying *tying, double shown, struct tied *bounds);
void tying_free(struct tying *tying);

#endif
