/* What a pyramid has of a row.  For pyramid.c, which fills it, and sweep.c, which reads it. */
#ifndef SERVER_MEASURE_ROWS_H
#define SERVER_MEASURE_ROWS_H

#include "memory/spill.h"
#include "server/measure/leaf.h"

#ifndef PYRAMID_FAN /* tests make it small */
#define PYRAMID_FAN 64u
#endif

/* By time (0) and by position (1). */
enum side { SIDE_NS, SIDE_AT, SIDES };

/* A leaf, or a node of PYRAMID_FAN leaves: where it begins, and its longest stretch that is about a line. */
struct branch {
    int64_t begin[SIDES];
    uint64_t longest[SIDES];
    uint32_t about[SIDES]; /* 0 none */
    uint64_t place; /* in the spill */
};

/* Its leaves, with what is read of many of them side by side. */
struct node {
    struct node_side {
        int64_t begin[PYRAMID_FAN];
        uint64_t longest[PYRAMID_FAN];
        uint32_t about[PYRAMID_FAN];
    } sides[SIDES];
    uint64_t place[PYRAMID_FAN];
};

struct row {
    struct branch *nodes, *leaves; /* leaves: those that are in no node yet */
    size_t node_count, node_room, leaf_count, leaf_room;
    struct change *changes; /* those that are in no leaf yet */
    size_t change_count, change_room;
    struct sums before; /* of all leaves */
    struct change now; /* the newest, which may be changed, or be none */
    bool begun;
};

struct pyramid {
    struct row **rows; /* by number - 1; NULL: it never changed */
    size_t room;
    struct spill spill;
    uint64_t *filled; /* by piece of the spill: the position when it was written to last */
    size_t filled_room;
    bool full;
};

static inline struct pyramid_state row_last(const struct row *row)
{
    return row->change_count ? row->changes[row->change_count - 1].state
                             : (struct pyramid_state){0, PYRAMID_NONE};
}

#endif
