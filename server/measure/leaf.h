/* Some changes of state in a row, packed: what a row of a pyramid was in, from each change to the next one.
 *
 * A leaf begins with the sums of all that was before it, so that a sum up to any place is found by looking at one leaf.  Then
 * come the states that are in it, each once, and of each change its distance from the first one, in as few bytes
 * as the greatest takes. */
#ifndef SERVER_MEASURE_LEAF_H
#define SERVER_MEASURE_LEAF_H

#include "server/measure/pyramid.h"

#include <stddef.h>

#ifndef LEAF_CHANGES /* tests make it small */
#define LEAF_CHANGES 64u
#endif

struct change { /* to this state */
    int64_t ns;
    uint64_t at; /* position */
    struct pyramid_state state;
};

struct sums { /* by code: ns, positions */
    uint64_t ns[PYRAMID_STATES], at[PYRAMID_STATES];
};

#define LEAF_BYTES (48u + 16u * PYRAMID_STATES + 22u * LEAF_CHANGES) /* of one, at most */

/* 1 .. LEAF_CHANGES changes, in ascending order; returns how many bytes it takes. */
size_t leaf_pack(uint8_t leaf[LEAF_BYTES], const struct change *changes, uint32_t count,
                 const struct sums *before);

/* The same, unpacked, by time or by positions. */
struct leaf {
    uint32_t count;
    int64_t where[LEAF_CHANGES + 2];
    struct pyramid_state state[LEAF_CHANGES + 2];
    uint64_t before[PYRAMID_STATES];
};

void leaf_unpack(const uint8_t *bytes, bool by_time, struct leaf *leaf);

#endif
