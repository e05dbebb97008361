/* Position list: a growing list of increasing numbers, with finished parts in a block store.
 *
 * It is a tree that grows at its right edge only:  POSITION_LIST_NODE numbers make a node, which
 * goes to the block store; the places of POSITION_LIST_NODE nodes make a node of the next level
 * (a bulk-loaded B+-tree).  In memory are the unfinished node of each level and a cache.  A
 * number is found in O(levels). */
#ifndef SERVER_ORDER_LOG_POSITION_LIST_H
#define SERVER_ORDER_LOG_POSITION_LIST_H

#include "base/map.h"
#include "server/order/block_store.h"

#include <stdbool.h>

#ifndef POSITION_LIST_BITS /* tests make it small */
#define POSITION_LIST_BITS 9u
#endif
#define POSITION_LIST_NODE (1u << POSITION_LIST_BITS)
#define POSITION_LIST_LEVELS (54u / POSITION_LIST_BITS)
#define POSITION_LIST_NONE UINT64_MAX /* the value of an unreadable one */

struct position_list {
    uint64_t count;
    /* The unfinished node of each level; its length follows from count. Most lists have only
     * one. */
    uint64_t *tail; /* of level 0 */
    uint64_t **upper; /* of the others, by level - 1; NULL: none has begun */
};

/* Cache of the nodes of many position lists. */
struct position_cache {
    struct block_store shelf;
    struct map cached; /* place -> struct node */
    struct position_node **list;
    size_t count, room, hand;
    size_t limit; /* nodes in the cache */
    uint64_t recent_place; /* the node read last */
    struct position_node *recent;
    struct map bad; /* places of unreadable nodes */
    uint64_t damaged, first_damage; /* nodes that could not be read; the place of the first */
};

void position_cache_free(struct position_cache *nodes);
void position_cache_drop(struct position_cache *nodes); /* empties the cache */

void position_list_append_slowly(struct position_list *series, struct position_cache *nodes,
                                 uint64_t value);
static inline void position_list_append(struct position_list *series, struct position_cache *nodes,
                                        uint64_t value)
{
    uint32_t n = series->count & (POSITION_LIST_NODE - 1);
    if (!series->tail || (n & (n - 1)) == 0 ||
        n == POSITION_LIST_NODE - 1) { /* there may be no space, or the node is full */
        position_list_append_slowly(series, nodes, value);
        return;
    }
    series->tail[n] = value;
    series->count++;
}
uint64_t position_list_get(const struct position_list *series, struct position_cache *nodes,
                           uint64_t i); /* i < count */
/* Returns the index of the first number >= value, from index `low` on; count if there is none. */
uint64_t position_list_find(const struct position_list *series, struct position_cache *nodes,
                            uint64_t low, uint64_t value);
/* Returns how many numbers the unfinished node of a level has. */
uint32_t position_list_tail(const struct position_list *series, unsigned level);
static inline uint64_t *position_list_node(const struct position_list *series,
                                           unsigned level) /* NULL: none, or released */
{
    return !level ? series->tail : series->upper ? series->upper[level - 1] : NULL;
}
/* Returns a new node with space for n numbers, all 0. */
uint64_t *position_list_reserve(struct position_list *series, unsigned level, uint32_t n);
/* Frees the memory of a list after the last reading of its numbers; it may grow again. */
void position_list_release(struct position_list *series);
void position_list_free(struct position_list *series);

#endif
