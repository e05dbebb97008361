#include "server/analysis/persistent_map.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>

#define BITS 4
#define WAYS (1 << BITS)
#define PIECE 512 /* nodes per chunk */

struct persistent_map_node {
    union {
        struct persistent_map_node *below[WAYS];
        int64_t amount[WAYS]; /* amounts, in a node of the lowest level */
    };
    uint32_t epoch;
};

struct persistent_map_chunk {
    struct persistent_map_chunk *before;
    struct persistent_map_node nodes[PIECE];
};

static struct persistent_map_node *persistent_map_new_node(struct persistent_map *sums,
                                                           const struct persistent_map_node *like,
                                                           uint32_t epoch)
{
    if (!sums->pieces || sums->used == PIECE) {
        struct persistent_map_chunk *piece = xmalloc(sizeof *piece);
        piece->before = sums->pieces;
        sums->pieces = piece;
        sums->used = 0;
        sums->bytes += sizeof *piece;
    }
    struct persistent_map_node *node = &sums->pieces->nodes[sums->used++];
    *node = like ? *like : (struct persistent_map_node){0};
    node->epoch = epoch;
    return node;
}

static struct persistent_map_node *persistent_map_owned_node(struct persistent_map *sums,
                                                             struct persistent_map_node *node,
                                                             uint32_t epoch)
{
    return node && node->epoch == epoch ? node : persistent_map_new_node(sums, node, epoch);
}

static bool persistent_map_covers_key(uint32_t height, uint32_t key)
{
    return height && (height * BITS >= 32 || key >> (height * BITS) == 0);
}

static void persistent_map_raise_root(struct persistent_map *sums,
                                      struct persistent_map_root *state)
{
    if (state->root) {
        struct persistent_map_node *top = persistent_map_new_node(sums, NULL, state->epoch);
        top->below[0] = state->root;
        state->root = top;
    }
    state->height++;
}

void persistent_map_add(struct persistent_map *sums, struct persistent_map_root *state,
                        uint32_t key, int64_t amount)
{
    if (!state->epoch)
        state->epoch = ++sums->epochs;
    while (!persistent_map_covers_key(state->height, key))
        persistent_map_raise_root(sums, state);
    struct persistent_map_node **at = &state->root;
    for (uint32_t level = state->height; level--;) {
        struct persistent_map_node *node = *at = persistent_map_owned_node(sums, *at, state->epoch);
        uint32_t way = key >> (level * BITS) & (WAYS - 1);
        if (!level)
            node->amount[way] += amount;
        else
            at = &node->below[way];
    }
}

void persistent_map_snapshot(struct persistent_map *sums, struct persistent_map_root *state)
{
    state->epoch = ++sums->epochs;
}

int64_t persistent_map_get(const struct persistent_map_root *state, uint32_t key)
{
    if (!persistent_map_covers_key(state->height, key))
        return 0;
    const struct persistent_map_node *node = state->root;
    for (uint32_t level = state->height - 1; node && level; level--)
        node = node->below[key >> (level * BITS) & (WAYS - 1)];
    return node ? node->amount[key & (WAYS - 1)] : 0;
}

struct persistent_map_visitor {
    void (*tell)(void *context, uint32_t key, int64_t amount);
    void *context;
};

static void differ_lowest(const struct persistent_map_node *a, const struct persistent_map_node *b,
                          uint32_t key, const struct persistent_map_visitor *to)
{
    for (uint32_t i = 0; i < WAYS; i++) {
        int64_t amount = (a ? a->amount[i] : 0) - (b ? b->amount[i] : 0);
        if (amount)
            to->tell(to->context, key + i, amount);
    }
}

/* Compares two nodes of one level (0: the lowest); either may be NULL. */
static void persistent_map_diff_nodes(const struct persistent_map_node *a,
                                      const struct persistent_map_node *b, uint32_t level,
                                      uint32_t key, const struct persistent_map_visitor *to)
{
    if (a == b)
        return;
    if (!level) {
        differ_lowest(a, b, key, to);
        return;
    }
    for (uint32_t i = 0; i < WAYS; i++)
        persistent_map_diff_nodes(a ? a->below[i] : NULL, b ? b->below[i] : NULL, level - 1,
                                  key + (i << (level * BITS)), to);
}

/* Compares states of unequal height: the lower one corresponds to the first child of the first
 * child ... of the higher one. */
static void differ_unequal(const struct persistent_map_node *a, uint32_t a_level,
                           const struct persistent_map_node *b, uint32_t b_level,
                           const struct persistent_map_visitor *to)
{
    if (a_level == b_level) {
        persistent_map_diff_nodes(a, b, a_level, 0, to);
        return;
    }
    bool a_higher = a_level > b_level;
    const struct persistent_map_node *high = a_higher ? a : b;
    uint32_t level = a_higher ? a_level : b_level;
    if (a_higher)
        differ_unequal(high ? high->below[0] : NULL, level - 1, b, b_level, to);
    else
        differ_unequal(a, a_level, high ? high->below[0] : NULL, level - 1, to);
    for (uint32_t i = 1; high && i < WAYS; i++)
        persistent_map_diff_nodes(a_higher ? high->below[i] : NULL,
                                  a_higher ? NULL : high->below[i], level - 1, i << (level * BITS),
                                  to);
}

void persistent_map_difference(const struct persistent_map_root *a,
                               const struct persistent_map_root *b,
                               void (*tell)(void *context, uint32_t key, int64_t amount),
                               void *context)
{
    const struct persistent_map_visitor to = {tell, context};
    if (a->root != b->root)
        differ_unequal(a->root, a->height ? a->height - 1 : 0, b->root,
                       b->height ? b->height - 1 : 0, &to);
}

void persistent_map_free(struct persistent_map *sums)
{
    for (struct persistent_map_chunk *piece = sums->pieces, *before; piece; piece = before) {
        before = piece->before;
        free(piece);
    }
    *sums = (struct persistent_map){0};
}
