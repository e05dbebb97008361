/* A series: a growing list of increasing numbers, finished parts of it on a shelf.
 *
 * It is a tree that grows at its right edge only: SERIES_NODE numbers make a node, which goes to
 * the shelf; the places of SERIES_NODE nodes make a node of the next level (a bulk-loaded B+-tree).
 * In memory are the unfinished node of each level and a cache.  A number is found in O(levels). */
#ifndef SERVER_ORDER_LOG_SERIES_H
#define SERVER_ORDER_LOG_SERIES_H

#include "memory/map.h"
#include "server/order/shelf.h"

#include <stdbool.h>

#ifndef SERIES_BITS /* tests make it small */
#define SERIES_BITS 9u
#endif
#define SERIES_NODE (1u << SERIES_BITS)
#define SERIES_LEVELS (54u / SERIES_BITS)
#define SERIES_NONE UINT64_MAX /* what a damaged part gives */

struct series {
    uint64_t count;
    /* The unfinished node of each level; its length follows from count.  Most series have one only. */
    uint64_t *tail; /* of level 0 */
    uint64_t **upper; /* of the others, by level - 1; NULL: none has begun */
};

/* Where the nodes of many series are kept. */
struct nodes {
    struct shelf shelf;
    struct map cached; /* place -> struct node */
    struct node **list;
    size_t count, room, hand;
    size_t limit; /* nodes in the cache */
    uint64_t recent_place; /* the node looked at last */
    struct node *recent;
    struct map bad; /* their places */
    uint64_t damaged, first_damage; /* nodes that could not be read; the place of the first */
};

void nodes_free(struct nodes *nodes);
void nodes_drop(struct nodes *nodes); /* empties the cache */

void series_append_slowly(struct series *series, struct nodes *nodes, uint64_t value);
static inline void series_append(struct series *series, struct nodes *nodes, uint64_t value)
{
    uint32_t n = series->count & (SERIES_NODE - 1);
    if (!series->tail || (n & (n - 1)) == 0 ||
        n == SERIES_NODE - 1) { /* room may be missing, or the node is full */
        series_append_slowly(series, nodes, value);
        return;
    }
    series->tail[n] = value;
    series->count++;
}
uint64_t series_get(const struct series *series, struct nodes *nodes, uint64_t i); /* i < count */
/* Index of the first number >= value, from index `low` on; count if there is none. */
uint64_t series_find(const struct series *series, struct nodes *nodes, uint64_t low,
                     uint64_t value);
uint32_t series_tail(const struct series *series, unsigned level); /* numbers in tail[level] */
static inline uint64_t *series_node(const struct series *series,
                                    unsigned level) /* NULL: none, or released */
{
    return !level ? series->tail : series->upper ? series->upper[level - 1] : NULL;
}
/* A new node with room for n numbers, all 0. */
uint64_t *series_room(struct series *series, unsigned level, uint32_t n);
/* Gives the memory back of a series of which no number will be asked for any more; it may grow again. */
void series_release(struct series *series);
void series_free(struct series *series);

#endif
