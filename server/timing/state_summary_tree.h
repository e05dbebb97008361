/* In which state many rows were from when to when, summed, so that a picture of any stretch and any
 * width is found without looking at all of it.
 *
 * Each row changes from state to state, at a time and at a position of the log, both of which
 * grow.  What is told of a stretch is exact.  Some changes in a row make a leaf (summary_leaf.h),
 * SUMMARY_TREE_FAN leaves a node, both of which are written once (base/spilled_array.h); of nodes
 * the row has a list.  So in the process's own memory there are SPILLED_MEMORY_BYTES bytes, 100
 * bytes at most for each 4096 changes, and 7 KB at most for each row; the rest, some 9 bytes a
 * change, the system can put on disk.
 *
 * Whatever knows states can fill one: server/run/state_timeline.h says from what. */
#ifndef SERVER_TIMING_STATE_SUMMARY_TREE_H
#define SERVER_TIMING_STATE_SUMMARY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUMMARY_TREE_STATES 9u /* codes 0 .. SUMMARY_TREE_STATES - 1 */
#define SUMMARY_TREE_NONE 255u /* the code of a row that is not there */

struct summary_state {
    uint32_t about; /* a line, 0 none */
    uint8_t code;
};

static inline bool summary_tree_same(struct summary_state a, struct summary_state b)
{
    return a.code == b.code && a.about == b.about;
}

struct summary_tree;

struct summary_tree *summary_tree_new(void);
void summary_tree_free(struct summary_tree *pyramid); /* NULL: nothing */
/* From here on the row (from 1) is in this state.  Positions never shrink; of several changes at
 * one position the last holds.  A time before that of the row's last change is taken to be that. */
void summary_tree_change(struct summary_tree *pyramid, uint32_t row, struct summary_state state,
                         int64_t ns, uint64_t position);
/* The same, but what is there of that position stays: it lasted until this time. */
void summary_tree_set_cpu_state(struct summary_tree *pyramid, uint32_t row,
                                struct summary_state state, int64_t ns, uint64_t position);
/* What was before a position will not be asked for any more; it is forgotten as far as that gives
 * memory back. */
void summary_tree_discard(struct summary_tree *pyramid, uint64_t position);
/* There was no room for all: what it tells is not to be used. */
bool summary_tree_full(const struct summary_tree *pyramid);

/* A stretch as pixels, all equally wide.  Borders lie between whole ns, or positions, too. */
struct summary_range {
    bool by_time;
    int64_t from, to; /* ns or positions, from < to */
    uint32_t pixels;
    int64_t end; /* the state that a row is in lasts until then */
    bool cut; /* nothing counts from `until` on */
    int64_t until;
};

/* What a pixel has of each state, in 1/pixels of a ns or of a position: all together are at most to
 * - from. */
struct summary_pixel {
    uint64_t part[SUMMARY_TREE_STATES];
    /* the longest stretch of one state that is about a line, as far as it is in the pixel */
    uint64_t longest;
    uint32_t about; /* that line, of several the first one's; 0 none */
};

/* Adds to the pixels first .. first + count - 1 what a row has there. */
void summary_tree_add_pixels(const struct summary_tree *pyramid, uint32_t row,
                             const struct summary_range *range, uint32_t first, uint32_t count,
                             struct summary_pixel *pixels);

#endif
