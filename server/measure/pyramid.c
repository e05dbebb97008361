#include "server/measure/pyramid.h"

#include "memory/memory.h"
#include "server/measure/rows.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct node) <= SPILL_PIECE, "a node is put in one piece");

struct pyramid *pyramid_new(void) { return memory_zeroed(1, sizeof(struct pyramid)); }

void pyramid_free(struct pyramid *p)
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
    spill_free(&p->spill);
    free(p);
}

bool pyramid_full(const struct pyramid *p) { return p->full; }

static void *put(struct pyramid *p, size_t size, uint64_t position, uint64_t *place)
{
    void *bytes = spill_put(&p->spill, size, place);
    p->full |= !bytes;
    if (!bytes)
        return NULL;
    size_t piece = spill_piece(&p->spill);
    p->filled = grow_zeroed(p->filled, &p->filled_room, piece + 1, sizeof *p->filled);
    p->filled[piece] = position;
    return bytes;
}

/* ---- leaves and nodes ---- */

/* All of a node that was forgotten goes. */
static void weed_nodes(const struct pyramid *p, struct row *row)
{
    size_t gone = 0;
    while (gone < row->node_count && !spill_at(&p->spill, row->nodes[gone].place))
        gone++;
    row->node_count -= gone;
    if (gone)
        memmove(row->nodes, row->nodes + gone, row->node_count * sizeof *row->nodes);
}

static void take_longest(struct branch *branch, const struct branch *of)
{
    for (unsigned side = 0; side < SIDES; side++)
        if (of->longest[side] > branch->longest[side]) {
            branch->longest[side] = of->longest[side];
            branch->about[side] = of->about[side];
        }
}

static void write_node(struct node *node, const struct branch *leaves)
{
    for (size_t i = 0; i < PYRAMID_FAN; i++) {
        for (unsigned side = 0; side < SIDES; side++) {
            node->sides[side].begin[i] = leaves[i].begin[side];
            node->sides[side].longest[i] = leaves[i].longest[side];
            node->sides[side].about[i] = leaves[i].about[side];
        }
        node->place[i] = leaves[i].place;
    }
}

static void close_node(struct pyramid *p, struct row *row, uint64_t position)
{
    struct branch node = row->leaves[0];
    struct node *written = put(p, sizeof *written, position, &node.place);
    if (!written)
        return;
    write_node(written, row->leaves);
    for (size_t i = 1; i < PYRAMID_FAN; i++)
        take_longest(&node, &row->leaves[i]);
    if (row->node_count == row->node_room)
        weed_nodes(p, row);
    row->nodes = grow(row->nodes, &row->node_room, row->node_count + 1, sizeof *row->nodes);
    row->nodes[row->node_count++] = node;
    row->leaf_count = 0;
}

/* Adds what is between two changes to the sums, and to the leaf that it is in. */
static void add_stretch(struct branch *leaf, struct sums *sums, const struct change *from,
                        const struct change *to)
{
    uint64_t ns = (uint64_t)(to->ns - from->ns), at = to->at - from->at;
    if (from->state.code < PYRAMID_STATES) {
        sums->ns[from->state.code] += ns;
        sums->at[from->state.code] += at;
    }
    if (from->state.about)
        take_longest(leaf, &(struct branch){.longest = {ns, at},
                                            .about = {from->state.about, from->state.about}});
}

/* It ends where the next change is. */
static void close_leaf(struct pyramid *p, struct row *row, const struct change *end)
{
    uint32_t count = (uint32_t)row->change_count;
    struct branch leaf = {.begin = {row->changes[0].ns, (int64_t)row->changes[0].at}};
    uint8_t packed[LEAF_BYTES];
    size_t size = leaf_pack(packed, row->changes, count, &row->before);
    void *bytes = put(p, size, end->at, &leaf.place);
    if (!bytes)
        return;
    memcpy(bytes, packed, size);
    for (uint32_t i = 0; i < count; i++)
        add_stretch(&leaf, &row->before, &row->changes[i],
                    i + 1 < count ? &row->changes[i + 1] : end);
    row->leaves = grow(row->leaves, &row->leaf_room, row->leaf_count + 1, sizeof *row->leaves);
    row->leaves[row->leaf_count++] = leaf;
    row->change_count = 0;
    if (row->leaf_count == PYRAMID_FAN)
        close_node(p, row, end->at);
}

/* ---- changes ---- */

static struct row *row_of(struct pyramid *p, uint32_t number)
{
    p->rows = grow_zeroed(p->rows, &p->room, number, sizeof *p->rows);
    if (!p->rows[number - 1])
        p->rows[number - 1] = memory_zeroed(1, sizeof **p->rows);
    return p->rows[number - 1];
}

/* The newest change is one, once it is known that no other comes at its position. */
static void settle(struct pyramid *p, struct row *row)
{
    if (!row->begun || pyramid_same(row_last(row), row->now.state))
        return;
    if (row->change_count)
        row->now.ns = row->now.ns < row->changes[row->change_count - 1].ns
                          ? row->changes[row->change_count - 1].ns
                          : row->now.ns;
    row->changes =
        grow(row->changes, &row->change_room, row->change_count + 1, sizeof *row->changes);
    row->changes[row->change_count++] = row->now;
    /* the leaf's last change stays here: it is the next leaf's first one, and says where this one ends */
    if (row->change_count == LEAF_CHANGES + 1) {
        struct change last = row->now;
        row->change_count = LEAF_CHANGES;
        close_leaf(p, row, &last);
        if (!p->full)
            row->changes[row->change_count++] = last;
    }
}

void pyramid_change(struct pyramid *p, uint32_t number, struct pyramid_state state, int64_t ns,
                    uint64_t position)
{
    if (p->full || !number)
        return;
    struct row *row = row_of(p, number);
    if (row->begun && position == row->now.at) {
        row->now.state = state;
        return;
    }
    settle(p, row);
    row->now = (struct change){ns, position, state};
    row->begun = true;
}

void pyramid_turn(struct pyramid *p, uint32_t number, struct pyramid_state state, int64_t ns,
                  uint64_t position)
{
    if (p->full || !number)
        return;
    struct row *row = row_of(p, number);
    settle(p, row);
    row->now = (struct change){ns, position, state};
    row->begun = true;
}

void pyramid_forget(struct pyramid *p, uint64_t position)
{
    size_t piece = p->spill.first;
    while (piece < spill_piece(&p->spill) && p->filled[piece] <= position)
        piece++;
    spill_drop(&p->spill, piece);
}
