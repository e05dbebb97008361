#include "server/timing/state_summary_tree.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "base/spilled_array.h"
#include "server/timing/summary_leaf.h"

#include <stdlib.h>
#include <string.h>

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

_Static_assert(sizeof(struct summary_node) <= SPILLED_CHUNK_BYTES, "a node is put in one piece");

struct summary_tree *summary_tree_new(void) { return xcalloc(1, sizeof(struct summary_tree)); }

void summary_tree_free(struct summary_tree *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->room; i++)
        if (p->rows[i]) {
            free(p->rows[i]->nodes);
            free(p->rows[i]->leaves);
            free(p->rows[i]->changes);
            free(p->rows[i]);
        }
    free(p->rows);
    free(p->filled);
    spilled_array_free(&p->spill);
    free(p);
}

bool summary_tree_full(const struct summary_tree *p) { return p->full; }

static void *summary_tree_put_bytes(struct summary_tree *p, size_t size, uint64_t position,
                                    uint64_t *place)
{
    void *bytes = spilled_array_append(&p->spill, size, place);
    p->full |= !bytes;
    if (!bytes)
        return NULL;
    size_t piece = spilled_array_chunk(&p->spill);
    p->filled = array_reserve_zeroed(p->filled, &p->filled_room, piece + 1, sizeof *p->filled);
    p->filled[piece] = position;
    return bytes;
}

/* ---- leaves and nodes ---- */

/* Frees nodes that were discarded completely. */
static void summary_tree_discard_nodes(const struct summary_tree *p, struct summary_row *row)
{
    size_t gone = 0;
    while (gone < row->node_count && !spilled_array_get(&p->spill, row->nodes[gone].place))
        gone++;
    row->node_count -= gone;
    if (gone)
        memmove(row->nodes, row->nodes + gone, row->node_count * sizeof *row->nodes);
}

static void summary_tree_merge_longest(struct summary_branch *branch,
                                       const struct summary_branch *of)
{
    for (unsigned side = 0; side < SIDES; side++)
        if (of->longest[side] > branch->longest[side]) {
            branch->longest[side] = of->longest[side];
            branch->about[side] = of->about[side];
        }
}

static void summary_tree_write_node(struct summary_node *node, const struct summary_branch *leaves)
{
    for (size_t i = 0; i < SUMMARY_TREE_FAN; i++) {
        for (unsigned side = 0; side < SIDES; side++) {
            node->sides[side].begin[i] = leaves[i].begin[side];
            node->sides[side].longest[i] = leaves[i].longest[side];
            node->sides[side].about[i] = leaves[i].about[side];
        }
        node->place[i] = leaves[i].place;
    }
}

static void summary_tree_close_node(struct summary_tree *p, struct summary_row *row,
                                    uint64_t position)
{
    struct summary_branch node = row->leaves[0];
    struct summary_node *written =
        summary_tree_put_bytes(p, sizeof *written, position, &node.place);
    if (!written)
        return;
    summary_tree_write_node(written, row->leaves);
    for (size_t i = 1; i < SUMMARY_TREE_FAN; i++)
        summary_tree_merge_longest(&node, &row->leaves[i]);
    if (row->node_count == row->node_room)
        summary_tree_discard_nodes(p, row);
    row->nodes =
        array_reserve(row->nodes, &row->node_room, row->node_count + 1, sizeof *row->nodes);
    row->nodes[row->node_count++] = node;
    row->leaf_count = 0;
}

/* Adds the time between two changes to the sums, and to its leaf. */
static void summary_tree_add_stretch(struct summary_branch *leaf, struct summary_sums *sums,
                                     const struct summary_change *from,
                                     const struct summary_change *to)
{
    uint64_t ns = (uint64_t)(to->ns - from->ns), at = to->at - from->at;
    if (from->state.code < SUMMARY_TREE_STATES) {
        sums->ns[from->state.code] += ns;
        sums->at[from->state.code] += at;
    }
    if (from->state.about)
        summary_tree_merge_longest(
            leaf, &(struct summary_branch){.longest = {ns, at},
                                           .about = {from->state.about, from->state.about}});
}

/* Closes the leaf at the next change. */
static void summary_tree_close_leaf(struct summary_tree *p, struct summary_row *row,
                                    const struct summary_change *end)
{
    uint32_t count = (uint32_t)row->change_count;
    struct summary_branch leaf = {.begin = {row->changes[0].ns, (int64_t)row->changes[0].at}};
    uint8_t packed[SUMMARY_LEAF_BYTES];
    size_t size = summary_leaf_pack(packed, row->changes, count, &row->before);
    void *bytes = summary_tree_put_bytes(p, size, end->at, &leaf.place);
    if (!bytes)
        return;
    memcpy(bytes, packed, size);
    for (uint32_t i = 0; i < count; i++)
        summary_tree_add_stretch(&leaf, &row->before, &row->changes[i],
                                 i + 1 < count ? &row->changes[i + 1] : end);
    row->leaves =
        array_reserve(row->leaves, &row->leaf_room, row->leaf_count + 1, sizeof *row->leaves);
    row->leaves[row->leaf_count++] = leaf;
    row->change_count = 0;
    if (row->leaf_count == SUMMARY_TREE_FAN)
        summary_tree_close_node(p, row, end->at);
}

/* ---- changes ---- */

static struct summary_row *summary_tree_row_of(struct summary_tree *p, uint32_t number)
{
    p->rows = array_reserve_zeroed(p->rows, &p->room, number, sizeof *p->rows);
    if (!p->rows[number - 1])
        p->rows[number - 1] = xcalloc(1, sizeof **p->rows);
    return p->rows[number - 1];
}

/* Makes the newest change final, once no other can come at its position. */
static void summary_tree_settle_change(struct summary_tree *p, struct summary_row *row)
{
    if (!row->begun || summary_tree_same(summary_row_last(row), row->now.state))
        return;
    if (row->change_count)
        row->now.ns = row->now.ns < row->changes[row->change_count - 1].ns
                          ? row->changes[row->change_count - 1].ns
                          : row->now.ns;
    row->changes =
        array_reserve(row->changes, &row->change_room, row->change_count + 1, sizeof *row->changes);
    row->changes[row->change_count++] = row->now;
    /* the leaf's last change is kept: it is the first one of the next leaf, and marks the end of
     * this one */
    if (row->change_count == SUMMARY_LEAF_CHANGES + 1) {
        struct summary_change last = row->now;
        row->change_count = SUMMARY_LEAF_CHANGES;
        summary_tree_close_leaf(p, row, &last);
        if (!p->full)
            row->changes[row->change_count++] = last;
    }
}

void summary_tree_change(struct summary_tree *p, uint32_t number, struct summary_state state,
                         int64_t ns, uint64_t position)
{
    if (p->full || !number)
        return;
    struct summary_row *row = summary_tree_row_of(p, number);
    if (row->begun && position == row->now.at) {
        row->now.state = state;
        return;
    }
    summary_tree_settle_change(p, row);
    row->now = (struct summary_change){ns, position, state};
    row->begun = true;
}

void summary_tree_set_cpu_state(struct summary_tree *p, uint32_t number, struct summary_state state,
                                int64_t ns, uint64_t position)
{
    if (p->full || !number)
        return;
    struct summary_row *row = summary_tree_row_of(p, number);
    summary_tree_settle_change(p, row);
    row->now = (struct summary_change){ns, position, state};
    row->begun = true;
}

void summary_tree_discard(struct summary_tree *p, uint64_t position)
{
    size_t piece = p->spill.first;
    while (piece < spilled_array_chunk(&p->spill) && p->filled[piece] <= position)
        piece++;
    spilled_array_drop_chunk(&p->spill, piece);
}

/* ---- sweep over a row, pixel by pixel: only leaves that contain a border between pixels are
 * unpacked ---- */

/* Size of an array indexed by the low bits of a code, so that codes need no check; the element of
 * SUMMARY_TREE_NONE is never read. */
#define SUMS 16u

_Static_assert(SUMMARY_TREE_STATES < SUMS &&
                   (SUMMARY_TREE_NONE & (SUMS - 1)) >= SUMMARY_TREE_STATES,
               "see summary_sweep_add_whole");

#define FETCHED 12u /* cache lines of a leaf to prefetch */
#define NEAR 12u /* leaves that are tried in sequence before a binary search */

struct pixel_border { /* the place at + rest / pixels, exactly */
    int64_t at;
    uint64_t rest;
};

struct summary_sweep {
    const struct summary_tree *pyramid;
    const struct summary_row *row;
    const struct summary_range *range;
    enum summary_side side;
    size_t node_number; /* 1 + index of the node that was read last, 0 none */
    const struct summary_node *node;
    size_t closed; /* number of closed leaves, and so the number of the open leaf */
    size_t number; /* number of the unpacked leaf */
    struct summary_leaf leaf;
    uint32_t next; /* its first part that is not passed completely */
    bool done; /* the whole row is passed */
    uint64_t passed[SUMMARY_TREE_STATES];
};

/* ---- leaves by number ---- */

/* Returns the node of a leaf; NULL if it is in none yet, or was discarded. */
static const struct summary_node *summary_sweep_node_of(struct summary_sweep *s, size_t leaf)
{
    size_t number = leaf / SUMMARY_TREE_FAN;
    if (number >= s->row->node_count)
        return NULL;
    if (s->node_number != number + 1) {
        s->node_number = number + 1;
        s->node = spilled_array_get(&s->pyramid->spill, s->row->nodes[number].place);
    }
    return s->node;
}

/* Returns a leaf that is in no node yet. */
static const struct summary_branch *summary_sweep_new_branch(const struct summary_sweep *s,
                                                             size_t leaf)
{
    return &s->row->leaves[leaf - s->row->node_count * SUMMARY_TREE_FAN];
}

/* Returns a leaf's bytes; NULL if it was discarded. */
static const uint8_t *summary_sweep_leaf_at(struct summary_sweep *s, size_t leaf)
{
    const struct summary_node *node = summary_sweep_node_of(s, leaf);
    if (!node && leaf / SUMMARY_TREE_FAN < s->row->node_count)
        return NULL;
    return spilled_array_get(&s->pyramid->spill, node ? node->place[leaf % SUMMARY_TREE_FAN]
                                                      : summary_sweep_new_branch(s, leaf)->place);
}

static int64_t summary_sweep_begin_of(struct summary_sweep *s, size_t leaf)
{
    const struct summary_node *node = summary_sweep_node_of(s, leaf);
    if (node)
        return node->sides[s->side].begin[leaf % SUMMARY_TREE_FAN];
    if (leaf < s->closed)
        return summary_sweep_new_branch(s, leaf)->begin[s->side];
    const struct summary_change *first = s->row->change_count ? s->row->changes : &s->row->now;
    return s->range->by_time ? first->ns : (int64_t)first->at;
}

/* Returns the first leaf that was not discarded; the oldest are discarded first. */
static size_t summary_sweep_first_leaf(struct summary_sweep *s)
{
    return LOWER_BOUND(i, 0, s->closed, !(summary_sweep_leaf_at(s, i)));
}

/* Returns the last node that begins at or before a place, from `low` on. */
static size_t summary_sweep_find_node(const struct summary_sweep *s, size_t low, int64_t at)
{
    return LOWER_BOUND(i, low + 1, s->row->node_count, s->row->nodes[i].begin[s->side] <= at) - 1;
}

/* Returns the last leaf that begins at or before a place, from `low` on; `low` if none does. */
static size_t summary_sweep_find_leaf(struct summary_sweep *s, size_t low, int64_t at)
{
    for (unsigned i = 0; i < NEAR; i++, low++) /* usually it is one of the next */
        if (low == s->closed || summary_sweep_begin_of(s, low + 1) > at)
            return low;
    size_t node = summary_sweep_find_node(s, low / SUMMARY_TREE_FAN, at), high = s->closed + 1;
    if (node < s->row->node_count && node * SUMMARY_TREE_FAN > low)
        low = node * SUMMARY_TREE_FAN;
    if (node + 1 < s->row->node_count)
        high = (node + 1) * SUMMARY_TREE_FAN;
    return LOWER_BOUND(i, low + 1, high, summary_sweep_begin_of(s, i) <= at) - 1;
}

static void summary_sweep_open_leaf(struct summary_sweep *s)
{
    const struct summary_row *row = s->row;
    struct summary_leaf *leaf = &s->leaf;
    bool by_time = s->range->by_time;
    leaf->count = 0;
    for (size_t i = 0; i < row->change_count; i++) {
        const struct summary_change *c = &row->changes[i];
        leaf->where[leaf->count] = by_time ? c->ns : (int64_t)c->at;
        leaf->state[leaf->count++] = c->state;
    }
    if (!summary_tree_same(summary_row_last(row), row->now.state) || !leaf->count) {
        int64_t at = by_time ? row->now.ns : (int64_t)row->now.at;
        if (leaf->count && at < leaf->where[leaf->count - 1])
            at = leaf->where[leaf->count - 1];
        leaf->where[leaf->count] = at;
        leaf->state[leaf->count++] = row->now.state;
    }
    int64_t last = leaf->where[leaf->count - 1];
    leaf->where[leaf->count] = s->range->end > last ? s->range->end : last;
    memcpy(leaf->before, by_time ? row->before.ns : row->before.at, sizeof leaf->before);
}

static void summary_sweep_load_leaf(struct summary_sweep *s, size_t number)
{
    s->number = number;
    s->next = 0;
    if (number == s->closed) {
        summary_sweep_open_leaf(s);
    } else {
        summary_leaf_unpack(summary_sweep_leaf_at(s, number), s->range->by_time, &s->leaf);
        s->leaf.where[s->leaf.count] = summary_sweep_begin_of(s, number + 1);
    }
    memcpy(s->passed, s->leaf.before, sizeof s->passed);
}

/* ---- pixels ---- */

static struct pixel_border summary_sweep_border_of(const struct summary_range *r, uint32_t pixel)
{
    uint64_t span = (uint64_t)(r->to - r->from), whole = span / r->pixels, rest = span % r->pixels;
    uint64_t rests = rest * pixel; /* both are less than 2^32 */
    int64_t at = r->from + (int64_t)(whole * pixel + rests / r->pixels);
    if (r->cut && at >= r->until)
        return (struct pixel_border){r->until > r->from ? r->until : r->from, 0};
    return (struct pixel_border){at, rests % r->pixels};
}

static void summary_sweep_note_longest(struct summary_pixel *pixel, uint64_t length, uint32_t about)
{
    if (about && length > pixel->longest) {
        pixel->longest = length;
        pixel->about = about;
    }
}

/* Adds the part of the leaf's next time span that lies in a pixel. */
static void summary_sweep_add_stretch(const struct summary_sweep *s, struct pixel_border from,
                                      struct pixel_border to, struct summary_pixel *pixel)
{
    int64_t begin = s->leaf.where[s->next], end = s->leaf.where[s->next + 1];
    struct summary_state state = s->leaf.state[s->next];
    from = begin > from.at ? (struct pixel_border){begin, 0} : from;
    to = end <= to.at ? (struct pixel_border){end, 0} : to;
    if (from.at > to.at || (from.at == to.at && from.rest >= to.rest))
        return;
    uint64_t length = (uint64_t)(to.at - from.at) * s->range->pixels + to.rest - from.rest;
    if (state.code < SUMMARY_TREE_STATES)
        pixel->part[state.code] += length;
    summary_sweep_note_longest(pixel, length, state.about);
}

/* Updates the pixel's longest part by leaves that lie completely in it, all of one node or of
 * none. */
static void summary_sweep_note_leaves(struct summary_sweep *s, size_t from, size_t to,
                                      struct summary_pixel *pixel)
{
    const struct summary_node *node = summary_sweep_node_of(s, from);
    const struct node_side *side = node ? &node->sides[s->side] : NULL;
    uint64_t longest = 0, about = 0;
    for (size_t i = from; i < to; i++) {
        uint64_t here = side ? side->longest[i % SUMMARY_TREE_FAN]
                             : summary_sweep_new_branch(s, i)->longest[s->side];
        if (here > longest) {
            longest = here;
            about = i;
        }
    }
    if (longest)
        summary_sweep_note_longest(pixel, longest * s->range->pixels,
                                   side ? side->about[about % SUMMARY_TREE_FAN]
                                        : summary_sweep_new_branch(s, about)->about[s->side]);
}

static void summary_sweep_note_between(struct summary_sweep *s, size_t from, size_t to,
                                       struct summary_pixel *pixel)
{
    for (size_t i = from, next; i < to; i = next) {
        size_t number = i / SUMMARY_TREE_FAN;
        bool packed = number < s->row->node_count;
        next =
            packed && (number + 1) * SUMMARY_TREE_FAN < to ? (number + 1) * SUMMARY_TREE_FAN : to;
        const struct summary_branch *node = packed ? &s->row->nodes[number] : NULL;
        if (node && next - i == SUMMARY_TREE_FAN)
            summary_sweep_note_longest(pixel, node->longest[s->side] * s->range->pixels,
                                       node->about[s->side]);
        else
            summary_sweep_note_leaves(s, i, next, pixel);
    }
}

/* Prefetches a leaf that is about to be unpacked, and the one at the same distance after it, which
 * is likely to be next. */
static void summary_sweep_prefetch_leaf(struct summary_sweep *s, size_t from, size_t leaf)
{
    for (size_t i = 0; i < 2; i++, leaf += leaf - from + 1) {
        const uint8_t *bytes = leaf < s->closed ? summary_sweep_leaf_at(s, leaf) : NULL;
        for (size_t line = 0; bytes && line < FETCHED; line++)
            __builtin_prefetch(bytes + 64 * line);
    }
}

/* Adds leaves from .. to - 1, which lie completely in the pixel; the leaf `to` begins with their
 * sums. */
static void summary_sweep_skip_leaves(struct summary_sweep *s, size_t from, size_t to,
                                      struct summary_pixel *pixel)
{
    uint64_t passed[SUMMARY_TREE_STATES];
    memcpy(passed, s->passed, sizeof passed);
    summary_sweep_prefetch_leaf(s, from, to);
    summary_sweep_note_between(s, from, to, pixel);
    summary_sweep_load_leaf(s, to);
    for (unsigned k = 0; k < SUMMARY_TREE_STATES; k++)
        pixel->part[k] += (s->passed[k] - passed[k]) * s->range->pixels;
}

/* Adds the parts of the leaf that end at or before a place and lie completely in the pixel. */
static void summary_sweep_add_whole(struct summary_sweep *s, int64_t until,
                                    struct summary_pixel *pixel)
{
    const struct summary_leaf *leaf = &s->leaf;
    uint64_t sums[SUMS] = {0}, longest = 0;
    uint32_t about = 0, i = s->next;
    for (; i < leaf->count && leaf->where[i + 1] <= until; i++) {
        uint64_t length = (uint64_t)(leaf->where[i + 1] - leaf->where[i]);
        sums[leaf->state[i].code & (SUMS - 1)] += length;
        if (length > longest && leaf->state[i].about) {
            longest = length;
            about = leaf->state[i].about;
        }
    }
    for (unsigned k = 0; k < SUMMARY_TREE_STATES; k++) {
        pixel->part[k] += sums[k] * s->range->pixels;
        s->passed[k] += sums[k];
    }
    summary_sweep_note_longest(pixel, longest * s->range->pixels, about);
    s->next = i;
}

static void summary_sweep_pass_change(struct summary_sweep *s)
{
    uint8_t code = s->leaf.state[s->next].code;
    if (code < SUMMARY_TREE_STATES)
        s->passed[code] += (uint64_t)(s->leaf.where[s->next + 1] - s->leaf.where[s->next]);
    s->next++;
}

static void summary_sweep_fill_pixel(struct summary_sweep *s, struct pixel_border from,
                                     struct pixel_border to, struct summary_pixel *pixel)
{
    while (!s->done) {
        if (s->leaf.where[s->next] > from.at)
            summary_sweep_add_whole(s, to.at, pixel);
        if (s->next < s->leaf.count) {
            summary_sweep_add_stretch(s, from, to, pixel);
            if (s->leaf.where[s->next + 1] > to.at)
                return;
            summary_sweep_pass_change(s);
        }
        if (s->next < s->leaf.count)
            continue;
        s->done = s->number == s->closed;
        if (!s->done)
            summary_sweep_skip_leaves(s, s->number + 1,
                                      summary_sweep_find_leaf(s, s->number + 1, to.at), pixel);
    }
}

void summary_tree_add_pixels(const struct summary_tree *p, uint32_t row,
                             const struct summary_range *range, uint32_t first, uint32_t count,
                             struct summary_pixel *pixels)
{
    struct summary_row *r = row && row <= p->room ? p->rows[row - 1] : NULL;
    if (!r || !r->begun || !count)
        return;
    struct summary_sweep s = {.pyramid = p,
                              .row = r,
                              .range = range,
                              .side = range->by_time ? SIDE_NS : SIDE_AT,
                              .closed = r->node_count * SUMMARY_TREE_FAN + r->leaf_count};
    struct pixel_border from = summary_sweep_border_of(range, first);
    summary_sweep_load_leaf(&s, summary_sweep_find_leaf(&s, summary_sweep_first_leaf(&s), from.at));
    for (uint32_t i = 0; i < count; i++) {
        struct pixel_border to = summary_sweep_border_of(range, first + i + 1);
        summary_sweep_fill_pixel(&s, from, to, &pixels[i]);
        from = to;
    }
}
