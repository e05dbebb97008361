/* Data of one row of a state summary tree.  For state_summary_tree.c, which fills it, and
 * summary_sweep.c, which reads it. */
#ifndef SERVER_TIMING_SUMMARY_ROW_H
#define SERVER_TIMING_SUMMARY_ROW_H

#include "base/spilled_array.h"
#include "server/timing/summary_leaf.h"

#ifndef SUMMARY_TREE_FAN /* tests make it small */
#define SUMMARY_TREE_FAN 64u
#endif

/* By time (0) and by position (1). */
enum summary_side { SIDE_NS, SIDE_AT, SIDES };

/* A leaf, or a node of SUMMARY_TREE_FAN leaves: its begin, and its longest part that names a line.
 */
struct summary_branch {
    int64_t begin[SIDES];
    uint64_t longest[SIDES];
    uint32_t about[SIDES]; /* 0 none */
    uint64_t place; /* in the spilled array */
};

/* A node's leaves; values that are read for many leaves at once are adjacent. */
struct summary_node {
    struct node_side {
        int64_t begin[SUMMARY_TREE_FAN];
        uint64_t longest[SUMMARY_TREE_FAN];
        uint32_t about[SUMMARY_TREE_FAN];
    } sides[SIDES];
    uint64_t place[SUMMARY_TREE_FAN];
};

struct summary_row {
    struct summary_branch *nodes, *leaves; /* leaves: those that are in no node yet */
    size_t node_count, node_room, leaf_count, leaf_room;
    struct summary_change *changes; /* those that are in no leaf yet */
    size_t change_count, change_room;
    struct summary_sums before; /* sums of all leaves */
    struct summary_change now; /* the newest change, which may be replaced or dropped */
    bool begun;
};

struct summary_tree {
    struct summary_row **rows; /* by number - 1; NULL: it never changed */
    size_t room;
    struct spilled_array spill;
    uint64_t *filled; /* by chunk of the spilled array: position of its last write */
    size_t filled_room;
    bool full;
};

static inline struct summary_state summary_row_last(const struct summary_row *row)
{
    return row->change_count ? row->changes[row->change_count - 1].state
                             : (struct summary_state){0, SUMMARY_TREE_NONE};
}

#endif
