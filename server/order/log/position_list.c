#include "server/order/log/position_list.h"

#include "base/lower_bound.h"
#include "base/map.h"
#include "base/alloc.h"
#include "server/order/log/log_block.h"

#include <stdlib.h>
#include <string.h>

/* Format of a node in the block store: u64 first, u8 width, then POSITION_LIST_NODE differences
 * from the first. */
#define NODE_HEAD 9u

struct position_node {
    uint8_t *bytes;
    uint64_t place, first, mask;
    unsigned width;
    bool used;
};

uint32_t position_list_tail(const struct position_list *series, unsigned level)
{
    return (uint32_t)(series->count >> (POSITION_LIST_BITS * level)) & (POSITION_LIST_NODE - 1);
}

/* ---- nodes ---- */

static uint64_t position_list_low_bits(unsigned width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static uint64_t node_put(struct position_cache *nodes, const uint64_t *values)
{
    uint8_t bytes[NODE_HEAD + POSITION_LIST_NODE * 8 + 8], *to = bytes + NODE_HEAD;
    uint64_t span = values[POSITION_LIST_NODE - 1] - values[0];
    unsigned width = span ? 64 - (unsigned)__builtin_clzll(span) : 0;
    if (width > 57)
        width = 64; /* a wider number could span nine bytes */
    memcpy(bytes, values, 8);
    bytes[8] = (uint8_t)width;
    /* what does not fill a byte is kept here: to load it again would wait for the store */
    uint64_t rest = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < POSITION_LIST_NODE; i++) {
        rest |= (values[i] - values[0]) << bits;
        memcpy(to, &rest, 8);
        bits += width;
        to += bits / 8;
        rest = bits < 64 ? rest >> (bits & ~7u) : 0;
        bits %= 8;
    }
    return nodes->shelf.put(nodes->shelf.context, bytes,
                            NODE_HEAD + ((size_t)POSITION_LIST_NODE * width + 7) / 8);
}

static uint64_t node_get(const struct position_node *node, uint32_t i)
{
    uint64_t word;
    size_t bit = (size_t)i * node->width;
    memcpy(&word, node->bytes + NODE_HEAD + bit / 8, 8);
    return node->first + ((word >> (bit % 8)) & node->mask);
}

static void node_free(struct position_node *node)
{
    free(node->bytes);
    free(node);
}

/* Evicts cached nodes until the cache fits its limit, by the second-chance algorithm. */
static void position_list_evict_node(struct position_cache *nodes)
{
    while (nodes->count > nodes->limit) {
        nodes->hand = nodes->hand >= nodes->count ? 0 : nodes->hand;
        struct position_node *node = nodes->list[nodes->hand];
        if (node->used) {
            node->used = false;
            nodes->hand++;
            continue;
        }
        map_remove(&nodes->cached, node->place, 0);
        nodes->list[nodes->hand] = nodes->list[--nodes->count];
        if (nodes->recent == node)
            nodes->recent_place = 0;
        node_free(node);
    }
}

static void note_damage(struct position_cache *nodes, uint64_t place)
{
    if (map_get(&nodes->bad, place, 0))
        return;
    map_put(&nodes->bad, place, 0, nodes);
    if (nodes->damaged++ == 0)
        nodes->first_damage = place;
}

static struct position_node *node_load(struct position_cache *nodes, uint64_t place)
{
    size_t size = 0;
    uint8_t *bytes = nodes->shelf.get(nodes->shelf.context, place, &size);
    if (!bytes || size < NODE_HEAD || bytes[8] > 64 ||
        size != NODE_HEAD + ((size_t)POSITION_LIST_NODE * bytes[8] + 7) / 8 ||
        (bytes[8] > 57 && bytes[8] != 64)) {
        free(bytes);
        note_damage(nodes, place);
        return NULL;
    }
    struct position_node *node = xmalloc(sizeof *node);
    *node = (struct position_node){.bytes = bytes,
                                   .place = place,
                                   .width = bytes[8],
                                   .mask = position_list_low_bits(bytes[8])};
    memcpy(&node->first, bytes, 8);
    position_list_evict_node(nodes);
    nodes->list = array_reserve(nodes->list, &nodes->room, nodes->count + 1, sizeof *nodes->list);
    nodes->list[nodes->count++] = node;
    map_put(&nodes->cached, place, 0, node);
    return node;
}

static struct position_node *node_at(struct position_cache *nodes, uint64_t place)
{
    if (place == nodes->recent_place && place)
        return nodes->recent;
    struct position_node *node = map_get(&nodes->cached, place, 0);
    if (!node)
        node = node_load(nodes, place);
    if (!node)
        return NULL;
    node->used = true;
    nodes->recent = node;
    nodes->recent_place = place;
    return node;
}

void position_cache_drop(struct position_cache *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        node_free(nodes->list[i]);
    map_free(&nodes->cached);
    nodes->count = nodes->hand = 0;
    nodes->recent_place = 0;
}

void position_cache_free(struct position_cache *nodes)
{
    position_cache_drop(nodes);
    map_free(&nodes->bad);
    free(nodes->list);
    nodes->list = NULL;
}

/* ---- position lists ---- */

static uint64_t **tail_of(struct position_list *series, unsigned level)
{
    size_t room = POSITION_LIST_LEVELS - 1;
    if (!level)
        return &series->tail;
    if (!series->upper) {
        series->upper = xcalloc(room, sizeof *series->upper);
    }
    return &series->upper[level - 1];
}

/* The capacity of a tail is a power of two, at least TAIL_LEAST: the smallest block of malloc()
 * holds that many. */
#define TAIL_LEAST 2u

uint64_t *position_list_reserve(struct position_list *series, unsigned level, uint32_t n)
{
    size_t power = TAIL_LEAST;
    while (power < n)
        power *= 2;
    uint64_t **tail = tail_of(series, level);
    free(*tail);
    *tail = xcalloc(power, sizeof **tail);
    return *tail;
}

/* Indices count from the start of a node, so after position_list_release() a tail has space for the
 * discarded positions, too. */
static void tail_add(struct position_list *series, unsigned level, uint32_t n, uint64_t value)
{
    uint64_t **tail = tail_of(series, level);
    if (!*tail) {
        position_list_reserve(series, level, n + 1);
    } else if (n >= TAIL_LEAST && (n & (n - 1)) == 0) {
        *tail = xreallocarray(*tail, 2 * (size_t)n, sizeof **tail);
    }
    (*tail)[n] = value;
}

void position_list_release(struct position_list *series)
{
    free(series->tail);
    series->tail = NULL;
    for (unsigned level = 1; level < POSITION_LIST_LEVELS && series->upper; level++)
        free(series->upper[level - 1]);
    free(series->upper);
    series->upper = NULL;
}

void position_list_append_slowly(struct position_list *series, struct position_cache *nodes,
                                 uint64_t value)
{
    uint32_t n = position_list_tail(series, 0);
    tail_add(series, 0, n, value);
    for (unsigned level = 0; n == POSITION_LIST_NODE - 1 && level + 1 < POSITION_LIST_LEVELS;
         level++) {
        uint64_t **tail = tail_of(series, level), place = node_put(nodes, *tail);
        free(*tail);
        *tail = NULL;
        n = position_list_tail(series, level + 1);
        tail_add(series, level + 1, n, place);
    }
    series->count++;
}

uint64_t position_list_get(const struct position_list *series, struct position_cache *nodes,
                           uint64_t i)
{
    unsigned level = 0;
    /* The lowest level with an unfinished node that covers i. */
    while (level + 1 < POSITION_LIST_LEVELS &&
           i >> (POSITION_LIST_BITS * (level + 1)) !=
               series->count >> (POSITION_LIST_BITS * (level + 1)))
        level++;
    const uint64_t *tail = position_list_node(series, level);
    if (!tail)
        return POSITION_LIST_NONE; /* released */
    uint64_t value = tail[(i >> (POSITION_LIST_BITS * level)) & (POSITION_LIST_NODE - 1)];
    while (level--) {
        const struct position_node *node = node_at(nodes, value);
        if (!node)
            return POSITION_LIST_NONE;
        value = node_get(node,
                         (uint32_t)(i >> (POSITION_LIST_BITS * level)) & (POSITION_LIST_NODE - 1));
    }
    return value;
}

uint64_t position_list_find(const struct position_list *series, struct position_cache *nodes,
                            uint64_t low, uint64_t value)
{
    uint64_t high = series->count;
    /* Positions are dense at the end of a live run: look there first. */
    uint64_t tail = series->count - position_list_tail(series, 0);
    if (tail > low && tail < high) {
        if (series->tail[0] < value)
            low = tail;
        else
            high = tail;
    }
    low = LOWER_BOUND(i, low, high, position_list_get(series, nodes, i) < value);
    return low;
}

void position_list_free(struct position_list *series)
{
    position_list_release(series);
    *series = (struct position_list){0};
}
