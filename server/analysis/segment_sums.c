#include "server/analysis/segment_sums.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers of pairs ---- */

static uint32_t segment_ids_append(struct segment_ids *pairs, uint32_t line, uint32_t step)
{
    pairs->items =
        array_reserve(pairs->items, &pairs->room, pairs->count + 1, sizeof *pairs->items);
    pairs->items[pairs->count] = (struct segment_id){step, line};
    return pairs->count++;
}

static uint32_t of_stranger(struct segment_ids *pairs, uint32_t line, uint32_t step)
{
    uintptr_t known = (uintptr_t)map_get(&pairs->strangers, line, step);
    if (known)
        return (uint32_t)known - 1;
    uint32_t code = segment_ids_append(pairs, line, step);
    map_put(&pairs->strangers, line, step, (void *)((uintptr_t)code + 1));
    return code;
}

static struct pairs_of *segment_ids_for_thread(struct segment_ids *pairs, uint32_t index,
                                               size_t pages)
{
    if (index >= pairs->thread_count) {
        pairs->threads = array_reserve_zeroed(pairs->threads, &pairs->thread_room, index + 1,
                                              sizeof *pairs->threads);
        pairs->thread_count = index + 1;
    }
    struct pairs_of *thread = &pairs->threads[index];
    if (pages > thread->count) {
        thread->pages = xreallocarray(thread->pages, pages, sizeof *thread->pages);
        while (thread->count < pages)
            thread->pages[thread->count++] = NULL;
    }
    return thread;
}

uint32_t segment_ids_assign(struct segment_ids *pairs, uint32_t index, uint32_t line, uint32_t step)
{
    if (index == UINT32_MAX)
        return of_stranger(pairs, line, step);
    uint32_t slot = step + SEGMENT_IDS_RESERVED;
    struct pairs_of *thread = segment_ids_for_thread(pairs, index, slot / SEGMENT_IDS_PAGE + 1);
    uint32_t **page = &thread->pages[slot / SEGMENT_IDS_PAGE];
    if (!*page)
        *page = xcalloc(SEGMENT_IDS_PAGE, sizeof **page);
    uint32_t *code = &(*page)[slot % SEGMENT_IDS_PAGE];
    if (!*code)
        *code = segment_ids_append(pairs, line, step) + 1;
    return *code - 1;
}

void segment_ids_free(struct segment_ids *pairs)
{
    for (size_t i = 0; i < pairs->thread_count; i++) {
        for (size_t j = 0; j < pairs->threads[i].count; j++)
            free(pairs->threads[i].pages[j]);
        free(pairs->threads[i].pages);
    }
    free(pairs->threads);
    free(pairs->items);
    map_free(&pairs->strangers);
    *pairs = (struct segment_ids){0};
}

/* ---- list pool ---- */

#define LIST_PIECE ((size_t)1 << 20)
/* maximum bytes of a share: numbers of 33 bits and of 64 bits, seven bits per byte */
#define LIST_SHARE_BYTES 15

_Static_assert(LIST_POOL_LIST_MAX *LIST_SHARE_BYTES + LIST_SHARE_BYTES <= LIST_PIECE,
               "the longest list fits into a piece");

static uint8_t *list_pool_put_number(uint8_t *to, uint64_t n)
{
    for (; n >= 128; n >>= 7)
        *to++ = (uint8_t)(n | 128);
    *to++ = (uint8_t)n;
    return to;
}

uint64_t list_pool_append(struct list_pool *bag, const struct path_share *shares, size_t count)
{
    if (!count)
        return 0;
    if (!bag->count || LIST_PIECE - bag->used < (count + 1) * LIST_SHARE_BYTES) {
        bag->pieces = array_reserve(bag->pieces, &bag->room, bag->count + 1, sizeof *bag->pieces);
        bag->pieces[bag->count++] = xmalloc(LIST_PIECE);
        bag->used = bag->count == 1 ? 1 : 0; /* number 0 is reserved for the empty list */
    }
    uint8_t *piece = bag->pieces[bag->count - 1], *to = piece + bag->used;
    uint64_t list = (bag->count - 1) * LIST_PIECE + bag->used;
    to = list_pool_put_number(to, count);
    for (size_t i = 0; i < count; i++) {
        to = list_pool_put_number(to, (uint64_t)shares[i].pair << 1 | shares[i].too);
        to = list_pool_put_number(to, (uint64_t)shares[i].ns << 1 ^ (uint64_t)(shares[i].ns >> 63));
    }
    bag->used = (size_t)(to - piece);
    return list;
}

struct list_pool_reader list_pool_open(const struct list_pool *bag, uint64_t list)
{
    if (!list)
        return (struct list_pool_reader){0};
    struct list_pool_reader reader = {.at = bag->pieces[list / LIST_PIECE] + list % LIST_PIECE};
    reader.left = (uint32_t)list_pool_number(&reader.at);
    return reader;
}

void list_pool_free(struct list_pool *bag)
{
    for (size_t i = 0; i < bag->count; i++)
        free(bag->pieces[i]);
    free(bag->pieces);
    *bag = (struct list_pool){0};
}

/* ---- accumulator ---- */

void accumulator_grow(struct accumulator *tally, uint32_t key)
{
    size_t had = tally->room, room = tally->room ? tally->room : 64;
    while (room <= key)
        room *= 2;
    tally->ns = xreallocarray(tally->ns, room, sizeof *tally->ns);
    tally->at = xreallocarray(tally->at, room, sizeof *tally->at);
    memset(tally->ns + had, 0, (room - had) * sizeof *tally->ns);
    memset(tally->at + had, 0, (room - had) * sizeof *tally->at);
    tally->room = room;
}

void accumulator_note(struct accumulator *tally, uint32_t key)
{
    tally->keys =
        array_reserve(tally->keys, &tally->key_room, tally->count + 1, sizeof *tally->keys);
    tally->keys[tally->count++] = key;
    tally->at[key] = (uint32_t)tally->count;
}

void accumulator_clear(struct accumulator *tally)
{
    for (size_t i = 0; i < tally->count; i++) {
        tally->ns[tally->keys[i]] = 0;
        tally->at[tally->keys[i]] = 0;
    }
    tally->count = 0;
}

void accumulator_free(struct accumulator *tally)
{
    free(tally->ns);
    free(tally->at);
    free(tally->keys);
    *tally = (struct accumulator){0};
}

/* ---- persistent map ---- */

#define BITS 4
#define WAYS (1 << BITS)
#define MAP_NODES 512 /* nodes per chunk */

struct persistent_map_node {
    union {
        struct persistent_map_node *below[WAYS];
        int64_t amount[WAYS]; /* amounts, in a node of the lowest level */
    };
    uint32_t epoch;
};

struct persistent_map_chunk {
    struct persistent_map_chunk *before;
    struct persistent_map_node nodes[MAP_NODES];
};

static struct persistent_map_node *persistent_map_new_node(struct persistent_map *sums,
                                                           const struct persistent_map_node *like,
                                                           uint32_t epoch)
{
    if (!sums->pieces || sums->used == MAP_NODES) {
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
