#include "server/causes/sums.h"

#include "memory/memory.h"

#include <stdbool.h>
#include <stdlib.h>

#define BITS 4
#define WAYS (1 << BITS)
#define PIECE 512 /* nodes */

struct sums_node {
    union {
        struct sums_node *below[WAYS];
        int64_t amount[WAYS]; /* of the lowest level */
    };
    uint32_t epoch;
};

struct sums_piece {
    struct sums_piece *before;
    struct sums_node nodes[PIECE];
};

static struct sums_node *made(struct sums *sums, const struct sums_node *like, uint32_t epoch)
{
    if (!sums->pieces || sums->used == PIECE) {
        struct sums_piece *piece = memory_bytes(sizeof *piece);
        piece->before = sums->pieces;
        sums->pieces = piece;
        sums->used = 0;
        sums->bytes += sizeof *piece;
    }
    struct sums_node *node = &sums->pieces->nodes[sums->used++];
    *node = like ? *like : (struct sums_node){0};
    node->epoch = epoch;
    return node;
}

static struct sums_node *own(struct sums *sums, struct sums_node *node, uint32_t epoch)
{
    return node && node->epoch == epoch ? node : made(sums, node, epoch);
}

static bool holds(uint32_t height, uint32_t key)
{
    return height && (height * BITS >= 32 || key >> (height * BITS) == 0);
}

static void raise(struct sums *sums, struct sums_state *state)
{
    if (state->root) {
        struct sums_node *top = made(sums, NULL, state->epoch);
        top->below[0] = state->root;
        state->root = top;
    }
    state->height++;
}

void sums_add(struct sums *sums, struct sums_state *state, uint32_t key, int64_t amount)
{
    if (!state->epoch)
        state->epoch = ++sums->epochs;
    while (!holds(state->height, key))
        raise(sums, state);
    struct sums_node **at = &state->root;
    for (uint32_t level = state->height; level--;) {
        struct sums_node *node = *at = own(sums, *at, state->epoch);
        uint32_t way = key >> (level * BITS) & (WAYS - 1);
        if (!level)
            node->amount[way] += amount;
        else
            at = &node->below[way];
    }
}

void sums_keep(struct sums *sums, struct sums_state *state) { state->epoch = ++sums->epochs; }

int64_t sums_get(const struct sums_state *state, uint32_t key)
{
    if (!holds(state->height, key))
        return 0;
    const struct sums_node *node = state->root;
    for (uint32_t level = state->height - 1; node && level; level--)
        node = node->below[key >> (level * BITS) & (WAYS - 1)];
    return node ? node->amount[key & (WAYS - 1)] : 0;
}

struct telling {
    void (*tell)(void *context, uint32_t key, int64_t amount);
    void *context;
};

static void differ_lowest(const struct sums_node *a, const struct sums_node *b, uint32_t key,
                          const struct telling *to)
{
    for (uint32_t i = 0; i < WAYS; i++) {
        int64_t amount = (a ? a->amount[i] : 0) - (b ? b->amount[i] : 0);
        if (amount)
            to->tell(to->context, key + i, amount);
    }
}

/* Both are of `level` (0: the lowest), or not there. */
static void differ(const struct sums_node *a, const struct sums_node *b, uint32_t level,
                   uint32_t key, const struct telling *to)
{
    if (a == b)
        return;
    if (!level) {
        differ_lowest(a, b, key, to);
        return;
    }
    for (uint32_t i = 0; i < WAYS; i++)
        differ(a ? a->below[i] : NULL, b ? b->below[i] : NULL, level - 1,
               key + (i << (level * BITS)), to);
}

/* A state of fewer levels is the first child of the first child... of a higher one. */
static void differ_unequal(const struct sums_node *a, uint32_t a_level, const struct sums_node *b,
                           uint32_t b_level, const struct telling *to)
{
    if (a_level == b_level) {
        differ(a, b, a_level, 0, to);
        return;
    }
    bool a_higher = a_level > b_level;
    const struct sums_node *high = a_higher ? a : b;
    uint32_t level = a_higher ? a_level : b_level;
    if (a_higher)
        differ_unequal(high ? high->below[0] : NULL, level - 1, b, b_level, to);
    else
        differ_unequal(a, a_level, high ? high->below[0] : NULL, level - 1, to);
    for (uint32_t i = 1; high && i < WAYS; i++)
        differ(a_higher ? high->below[i] : NULL, a_higher ? NULL : high->below[i], level - 1,
               i << (level * BITS), to);
}

void sums_difference(const struct sums_state *a, const struct sums_state *b,
                     void (*tell)(void *context, uint32_t key, int64_t amount), void *context)
{
    const struct telling to = {tell, context};
    if (a->root != b->root)
        differ_unequal(a->root, a->height ? a->height - 1 : 0, b->root,
                       b->height ? b->height - 1 : 0, &to);
}

void sums_free(struct sums *sums)
{
    for (struct sums_piece *piece = sums->pieces, *before; piece; piece = before) {
        before = piece->before;
        free(piece);
    }
    *sums = (struct sums){0};
}
