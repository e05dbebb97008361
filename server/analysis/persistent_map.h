/* Persistent map: sums by small numbers, of which earlier states can be kept.
 *
 * A state is a tree of nodes with 16 children.  Adding copies the path to the changed leaf, so a
 * snapshot costs only what changed since the previous one, and the difference of two states skips
 * what they share.  Between two snapshots the nodes are changed in place.  Memory is freed only
 * with the whole map.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_PERSISTENT_MAP_H
#define SERVER_ANALYSIS_PERSISTENT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct persistent_map_node;
struct persistent_map_chunk;

/* The memory of any number of states.  Zero-initialize it. */
struct persistent_map {
    struct persistent_map_chunk *pieces;
    size_t used; /* nodes in the newest piece */
    size_t bytes; /* of all pieces */
    uint32_t epochs;
};

/* One state; all sums of a zero-initialized one are 0.  A copy of the struct is a snapshot if
 * persistent_map_snapshot() was called before copying. */
struct persistent_map_root {
    struct persistent_map_node *root;
    uint32_t height; /* levels of nodes */
    uint32_t epoch; /* epoch of the nodes that it may change in place */
};

void persistent_map_add(struct persistent_map *sums, struct persistent_map_root *state,
                        uint32_t key, int64_t amount);
/* Makes the present contents immutable for those that copy the state; more can be added to the
 * state afterwards. */
void persistent_map_snapshot(struct persistent_map *sums, struct persistent_map_root *state);
int64_t persistent_map_get(const struct persistent_map_root *state, uint32_t key);
/* Calls `tell` for each key whose sums differ, in ascending order, with the sum of `a` minus that
 * of `b`. */
void persistent_map_difference(const struct persistent_map_root *a,
                               const struct persistent_map_root *b,
                               void (*tell)(void *context, uint32_t key, int64_t amount),
                               void *context);
void persistent_map_free(struct persistent_map *sums); /* frees the memory and all states */

#endif
