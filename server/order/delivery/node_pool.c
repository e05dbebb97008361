#include "server/order/delivery/node_pool.h"

#include "base/alloc.h"
#include "server/order/order.h"
#include "server/order/order_state.h"

#include <stdlib.h>

#define POOL_PIECES 128u
#define POOLS_LOOKED_AT 4u /* pools examined for merging per new pool */
/* their alignment, too, so that the address of a piece leads to its pool */
#define CLUSTER_BYTES (512u << 10)
#define CLUSTER_POOLS (CLUSTER_BYTES / (POOL_PIECES * sizeof(struct pending)) - 1)

struct node_pool {
    struct node_pool *older, *newer; /* spare ones are linked by `newer` */
    struct pending *pieces; /* POOL_PIECES; at.line 0: free */
    uint32_t used, live; /* pieces allocated so far; those of them that are not freed */
};

/* A unit of allocation from the system. The descriptors of its pools are together, apart from their
 * pieces. */
struct node_pool_cluster {
    struct node_pool_cluster *next;
    struct node_pool pools[CLUSTER_POOLS];
    struct pending pieces[CLUSTER_POOLS][POOL_PIECES];
};

_Static_assert(sizeof(struct node_pool_cluster) <= CLUSTER_BYTES, "a cluster fits into its bytes");

static struct node_pool *pool_of(const struct pending *piece)
{
    uintptr_t at = (uintptr_t)piece;
    struct node_pool_cluster *cluster =
        (struct node_pool_cluster *)(at & ~(uintptr_t)(CLUSTER_BYTES - 1));
    return &cluster->pools[(at - (uintptr_t)cluster->pieces) / sizeof cluster->pieces[0]];
}

/* ---- pools ---- */

static void make_spare(struct node_pools *pools)
{
    struct node_pool_cluster *cluster = xaligned_alloc(CLUSTER_BYTES, CLUSTER_BYTES);
    cluster->next = pools->clusters;
    pools->clusters = cluster;
    for (size_t i = CLUSTER_POOLS; i-- > 0;) {
        cluster->pools[i].pieces = cluster->pieces[i];
        cluster->pools[i].newer = pools->spare;
        pools->spare = &cluster->pools[i];
    }
}

static struct node_pool *pool_new(struct node_pools *pools)
{
    if (!pools->spare)
        make_spare(pools);
    struct node_pool *pool = pools->spare;
    pools->spare = pool->newer;
    pools->count++;
    pool->used = pool->live = 0;
    pool->newer = NULL;
    pool->older = pools->newest;
    if (pools->newest)
        pools->newest->newer = pool;
    else
        pools->oldest = pool;
    pools->newest = pool;
    return pool;
}

static void pool_free(struct node_pools *pools, struct node_pool *pool)
{
    if (pools->hand == pool)
        pools->hand = pool->newer;
    if (pool->older)
        pool->older->newer = pool->newer;
    else
        pools->oldest = pool->newer;
    pool->newer->older = pool->older; /* the newest is never freed */
    pool->newer = pools->spare;
    pools->spare = pool;
    pools->count--;
}

/* ---- merging ---- */

static void node_pool_move(struct order *order, struct pending *to, struct pending *from,
                           piece_moved *moved)
{
    if (to == from)
        return;
    *to = *from;
    if (from->arrival.partners == &from->one)
        to->arrival.partners = &to->one;
    from->arrival.at.line = 0;
    moved(order, from, to);
    for (struct pending_walk *walk = order->pending.walks; walk; walk = walk->others)
        if (walk->at == from)
            walk->at = to;
}

/* Moves the pieces of the second pool behind those of the first, in the same order, and frees
 * it. */
static void node_pool_merge(struct order *order, struct node_pool *pool, struct node_pool *behind,
                            piece_moved *moved)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < pool->used; i++)
        if (pool->pieces[i].arrival.at.line)
            node_pool_move(order, &pool->pieces[n++], &pool->pieces[i], moved);
    for (uint32_t i = 0; i < behind->used; i++)
        if (behind->pieces[i].arrival.at.line)
            node_pool_move(order, &pool->pieces[n++], &behind->pieces[i], moved);
    pool->used = pool->live = n;
    pool_free(&order->pending.pools, behind);
}

/* Examines some neighboring pools, in turn, and merges those that are less than a quarter of one
 * together. */
static void join_some(struct order *order, piece_moved *moved)
{
    struct node_pools *pools = &order->pending.pools;
    for (unsigned i = 0; i < POOLS_LOOKED_AT; i++) {
        struct node_pool *pool = pools->hand ? pools->hand : pools->oldest;
        struct node_pool *behind = pool ? pool->newer : NULL;
        pools->hand = behind;
        if (!behind || behind == pools->newest)
            pools->hand = NULL;
        else if (pool->live + behind->live <= POOL_PIECES / 4) {
            pools->hand = pool;
            node_pool_merge(order, pool, behind, moved);
        }
    }
}

/* ---- pieces ---- */

struct pending *node_pool_allocate(struct order *order, piece_moved *moved)
{
    struct node_pool *pool = order->pending.pools.newest;
    if (!pool || pool->used == POOL_PIECES) {
        join_some(order, moved);
        pool = pool_new(&order->pending.pools);
    }
    pool->live++;
    return &pool->pieces[pool->used++];
}

void node_pool_release(struct pending_arrivals *pending, struct pending *piece)
{
    struct node_pool *pool = pool_of(piece);
    for (struct pending_walk *walk = pending->walks; walk; walk = walk->others)
        if (walk->at == piece)
            walk->at = node_pool_next(piece);
    if (piece->arrival.partners != &piece->one)
        free((void *)(uintptr_t)piece->arrival.partners);
    piece->arrival.at.line = 0;
    if (--pool->live)
        return;
    if (pool->newer)
        pool_free(&pending->pools, pool);
    else
        pool->used = 0; /* the next pieces reuse memory that is in the caches */
}

/* Returns the piece at this place, or the first one after it. */
static struct pending *from_place(struct node_pool *pool, size_t i)
{
    for (; pool; pool = pool->newer, i = 0)
        for (; i < pool->used; i++)
            if (pool->pieces[i].arrival.at.line)
                return &pool->pieces[i];
    return NULL;
}

struct pending *node_pool_first(const struct pending_arrivals *pending)
{
    return from_place(pending->pools.oldest, 0);
}

struct pending *node_pool_next(const struct pending *piece)
{
    struct node_pool *pool = pool_of(piece);
    return from_place(pool, (size_t)(piece - pool->pieces) + 1);
}

bool node_pool_is_large(const struct pending_arrivals *pending)
{
    return pending->in_memory > pending->limit ||
           pending->pools.count * POOL_PIECES > 2 * pending->limit;
}

void node_pool_free_all(struct pending_arrivals *pending)
{
    for (struct pending *piece = node_pool_first(pending); piece; piece = node_pool_next(piece))
        if (piece->arrival.partners != &piece->one)
            free((void *)(uintptr_t)piece->arrival.partners);
    for (struct node_pool_cluster *cluster = pending->pools.clusters, *next; cluster;
         cluster = next) {
        next = cluster->next;
        free(cluster);
    }
}
