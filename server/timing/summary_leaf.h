/* Leaf of a state summary tree: several changes of state of a row, packed.
 *
 * A leaf begins with the sums of everything before it, so that a sum up to any place needs only one
 * leaf.  Then follow its different states, and for each change its distance from the first one, in
 * as many bytes as the greatest distance takes. */
#ifndef SERVER_TIMING_SUMMARY_LEAF_H
#define SERVER_TIMING_SUMMARY_LEAF_H

#include "server/timing/state_summary_tree.h"

#include <stddef.h>

#ifndef SUMMARY_LEAF_CHANGES /* tests make it small */
#define SUMMARY_LEAF_CHANGES 64u
#endif

struct summary_change { /* a change to this state */
    int64_t ns;
    uint64_t at; /* position */
    struct summary_state state;
};

struct summary_sums { /* by state code: ns, positions */
    uint64_t ns[SUMMARY_TREE_STATES], at[SUMMARY_TREE_STATES];
};

#define SUMMARY_LEAF_BYTES                                                                         \
    (48u + 16u * SUMMARY_TREE_STATES + 22u * SUMMARY_LEAF_CHANGES) /* maximum size of one */

/* Packs 1 ..  SUMMARY_LEAF_CHANGES changes in ascending order; returns the number of bytes. */
size_t summary_leaf_pack(uint8_t leaf[SUMMARY_LEAF_BYTES], const struct summary_change *changes,
                         uint32_t count, const struct summary_sums *before);

/* An unpacked leaf, by time or by positions. */
struct summary_leaf {
    uint32_t count;
    int64_t where[SUMMARY_LEAF_CHANGES + 2];
    struct summary_state state[SUMMARY_LEAF_CHANGES + 2];
    uint64_t before[SUMMARY_TREE_STATES];
};

void summary_leaf_unpack(const uint8_t *bytes, bool by_time, struct summary_leaf *leaf);

#endif
