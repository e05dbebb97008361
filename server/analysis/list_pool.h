/* Many short lists of shares, each written once: who did what for how long.
 *
 * They take a few bytes a share.  A list is named by a number; the empty one by 0.  Not
 * thread-safe. */
#ifndef SERVER_ANALYSIS_LIST_POOL_H
#define SERVER_ANALYSIS_LIST_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_share {
    uint32_t pair; /* segment_ids.h */
    bool too; /* the one who waited did it, too, meanwhile */
    int64_t ns; /* may be negative */
};

#define LIST_POOL_LIST_MAX 32768 /* shares in one list at most */

/* Zero-initialised: it is empty. */
struct list_pool {
    uint8_t **pieces;
    size_t count, room, used; /* used: bytes of the newest */
};

/* At most LIST_POOL_LIST_MAX shares. */
uint64_t list_pool_append(struct list_pool *bag, const struct path_share *shares, size_t count);
void list_pool_free(struct list_pool *bag); /* empties it */

struct list_pool_reader {
    const uint8_t *at;
    uint32_t left; /* shares */
};

struct list_pool_reader list_pool_open(const struct list_pool *bag, uint64_t list);

/* A number, seven bits to the byte, the lowest first. */
static inline uint64_t list_pool_number(const uint8_t **from)
{
    const uint8_t *at = *from;
    uint64_t n = *at & 127;
    for (unsigned shift = 7; *at++ & 128; shift += 7)
        n |= (uint64_t)(*at & 127) << shift;
    *from = at;
    return n;
}

/* False: there are no more. */
static inline bool list_pool_next(struct list_pool_reader *reader, struct path_share *share)
{
    if (!reader->left)
        return false;
    reader->left--;
    uint64_t who = list_pool_number(&reader->at), ns = list_pool_number(&reader->at);
    share->pair = (uint32_t)(who >> 1);
    share->too = who & 1;
    share->ns = (int64_t)(ns >> 1 ^ -(ns & 1));
    return true;
}

#endif
