/* Sums by small numbers, of which an old state can be kept: persistent maps.
 *
 * A state is a tree of nodes of 16; adding copies the way down to what it changes, so that a kept
 * state costs only what changed since the one before, and the difference of two states passes over
 * what they share.  Between two keepings the nodes are changed in place.  Nothing is given back
 * before all of it is.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_PERSISTENT_MAP_H
#define SERVER_ANALYSIS_PERSISTENT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct persistent_map_node;
struct persistent_map_chunk;

/* The memory of any number of states.  Zero-initialised: none. */
struct persistent_map {
    struct persistent_map_chunk *pieces;
    size_t used; /* nodes in the newest piece */
    size_t bytes; /* of all pieces */
    uint32_t epochs;
};

/* One state: all sums are 0 in a zero-initialised one.  A copy of it is the state as it is, once
 * persistent_map_snapshot() was called for it. */
struct persistent_map_root {
    struct persistent_map_node *root;
    uint32_t height; /* levels of nodes */
    uint32_t epoch; /* whose nodes it may change in place */
};

void persistent_map_add(struct persistent_map *sums, struct persistent_map_root *state,
                        uint32_t key, int64_t amount);
/* What was in the state stays as it is for those who copied it; the state may be added to
 * further. */
void persistent_map_snapshot(struct persistent_map *sums, struct persistent_map_root *state);
int64_t persistent_map_get(const struct persistent_map_root *state, uint32_t key);
/* Tells each key whose sums differ, in rising order, with `a`'s less `b`'s. */
void persistent_map_difference(const struct persistent_map_root *a,
                               const struct persistent_map_root *b,
                               void (*tell)(void *context, uint32_t key, int64_t amount),
                               void *context);
void persistent_map_free(struct persistent_map *sums); /* all states of it are gone; empties it */

#endif
