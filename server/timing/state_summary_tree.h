/* State summary tree: the states of many rows over time, with sums, so that a diagram of any range
 * and width is computed without visiting all changes (a segment tree).
 *
 * Each row changes its state at a time and at a position of the log, both ascending.  Results are
 * exact.  Several changes of a row form a leaf (summary_leaf.h), SUMMARY_TREE_FAN leaves a node;
 * both are written once (base/spilled_array.h), and the row has a list of its nodes.  The process's
 * own memory then holds SPILLED_MEMORY_BYTES bytes, at most 100 bytes per 4096 changes, and at most
 * 7 KB per row; the rest, about 9 bytes per change, can be paged out by the system.
 *
 * Any source of states can fill a tree; server/run/state_timeline.h lists them. */
#ifndef SERVER_TIMING_STATE_SUMMARY_TREE_H
#define SERVER_TIMING_STATE_SUMMARY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUMMARY_TREE_STATES 9u /* codes 0 .. SUMMARY_TREE_STATES - 1 */
#define SUMMARY_TREE_NONE 255u /* the code of a row that does not exist then */

struct summary_state {
    uint32_t about; /* a trace line, 0 none */
    uint8_t code;
};

static inline bool summary_tree_same(struct summary_state a, struct summary_state b)
{
    return a.code == b.code && a.about == b.about;
}

struct summary_tree;

struct summary_tree *summary_tree_new(void);
void summary_tree_free(struct summary_tree *pyramid); /* NULL: does nothing */
/* Changes the state of a row (from 1).  Positions never decrease; of several changes at one
 * position the last counts.  A time before the row's last change is replaced by that time. */
void summary_tree_change(struct summary_tree *pyramid, uint32_t row, struct summary_state state,
                         int64_t ns, uint64_t position);
/* Does the same, but keeps an earlier change at that position, which lasts until this time. */
void summary_tree_set_cpu_state(struct summary_tree *pyramid, uint32_t row,
                                struct summary_state state, int64_t ns, uint64_t position);
/* Discards what was before a position, as far as that frees memory; it must not be requested any
 * more. */
void summary_tree_discard(struct summary_tree *pyramid, uint64_t position);
/* Returns whether the limit was exceeded; results must not be used then. */
bool summary_tree_full(const struct summary_tree *pyramid);

/* A range divided into pixels of equal width.  Borders may lie between whole ns or positions. */
struct summary_range {
    bool by_time;
    int64_t from, to; /* ns or positions, from < to */
    uint32_t pixels;
    int64_t end; /* the last state of a row lasts until then */
    bool cut; /* nothing counts from `until` on */
    int64_t until;
};

/* The share of each state in a pixel, in 1/pixels of a ns or of a position; the sum is at most to -
 * from. */
struct summary_pixel {
    uint64_t part[SUMMARY_TREE_STATES];
    /* the longest part in one state that names a line, as far as it lies in the pixel */
    uint64_t longest;
    uint32_t about; /* that line, the first if there are several; 0 none */
};

/* Adds the states of a row to the pixels first .. first + count - 1. */
void summary_tree_add_pixels(const struct summary_tree *pyramid, uint32_t row,
                             const struct summary_range *range, uint32_t first, uint32_t count,
                             struct summary_pixel *pixels);

#endif
