#include "server/timing/state_summary_tree.h"

#include "base/alloc.h"
#include "server/timing/summary_row.h"

#include <stdlib.h>
#include <string.h>

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

static void write_node(struct summary_node *node, const struct summary_branch *leaves)
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

static void close_node(struct summary_tree *p, struct summary_row *row, uint64_t position)
{
    struct summary_branch node = row->leaves[0];
    struct summary_node *written =
        summary_tree_put_bytes(p, sizeof *written, position, &node.place);
    if (!written)
        return;
    write_node(written, row->leaves);
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
static void add_stretch(struct summary_branch *leaf, struct summary_sums *sums,
                        const struct summary_change *from, const struct summary_change *to)
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
static void close_leaf(struct summary_tree *p, struct summary_row *row,
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
        add_stretch(&leaf, &row->before, &row->changes[i],
                    i + 1 < count ? &row->changes[i + 1] : end);
    row->leaves =
        array_reserve(row->leaves, &row->leaf_room, row->leaf_count + 1, sizeof *row->leaves);
    row->leaves[row->leaf_count++] = leaf;
    row->change_count = 0;
    if (row->leaf_count == SUMMARY_TREE_FAN)
        close_node(p, row, end->at);
}

/* ---- changes ---- */

static struct summary_row *row_of(struct summary_tree *p, uint32_t number)
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
        close_leaf(p, row, &last);
        if (!p->full)
            row->changes[row->change_count++] = last;
    }
}

void summary_tree_change(struct summary_tree *p, uint32_t number, struct summary_state state,
                         int64_t ns, uint64_t position)
{
    if (p->full || !number)
        return;
    struct summary_row *row = row_of(p, number);
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
    struct summary_row *row = row_of(p, number);
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
