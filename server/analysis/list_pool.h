/* List pool: many short lists of shares, each written once; a share says which code segment of
 * which thread took how long.
 *
 * A share takes a few bytes.  A list is identified by a number; the empty list is 0.  Not
 * thread-safe. */
#ifndef SERVER_ANALYSIS_LIST_POOL_H
#define SERVER_ANALYSIS_LIST_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_share {
    uint32_t pair; /* segment_ids.h */
    bool too; /* the waiter executed it, too, meanwhile */
    int64_t ns; /* may be negative */
};

#define LIST_POOL_LIST_MAX 32768 /* maximum number of shares in one list */

/* A zero-initialized pool is empty. */
struct list_pool {
    uint8_t **pieces;
    size_t count, room, used; /* used: bytes used of the newest piece */
};

/* Appends a list of at most LIST_POOL_LIST_MAX shares and returns its number. */
uint64_t list_pool_append(struct list_pool *bag, const struct path_share *shares, size_t count);
void list_pool_free(struct list_pool *bag); /* frees the memory; it is empty then */

struct list_pool_reader {
    const uint8_t *at;
    uint32_t left; /* shares */
};

struct list_pool_reader list_pool_open(const struct list_pool *bag, uint64_t list);

/* Decodes a number, seven bits per byte, the lowest first, and advances *from. */
static inline uint64_t list_pool_number(const uint8_t **from)
{
    const uint8_t *at = *from;
    uint64_t n = *at & 127;
    for (unsigned shift = 7; *at++ & 128; shift += 7)
        n |= (uint64_t)(*at & 127) << shift;
    *from = at;
    return n;
}

/* Reads the next share; returns false at the end of the list. */
static inline bool list_pool_next(struct list_pool_reader *reader, struct path_share *share)
{
    if (!reader->left)
        return false;
    reader->left--;
    uint64_t thread = list_pool_number(&reader->at), ns = list_pool_number(&reader->at);
    share->pair = (uint32_t)(thread >> 1);
    share->too = thread & 1;
    share->ns = (int64_t)(ns >> 1 ^ -(ns & 1));
    return true;
}

#endif
