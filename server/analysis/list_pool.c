#include "server/analysis/list_pool.h"

#include "base/alloc.h"

#include <stdlib.h>

#define PIECE ((size_t)1 << 20)
/* maximum bytes of a share: numbers of 33 bits and of 64 bits, seven bits per byte */
#define MOST_BYTES 15

_Static_assert(LIST_POOL_LIST_MAX *MOST_BYTES + MOST_BYTES <= PIECE,
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
    if (!bag->count || PIECE - bag->used < (count + 1) * MOST_BYTES) {
        bag->pieces = array_reserve(bag->pieces, &bag->room, bag->count + 1, sizeof *bag->pieces);
        bag->pieces[bag->count++] = xmalloc(PIECE);
        bag->used = bag->count == 1 ? 1 : 0; /* number 0 is reserved for the empty list */
    }
    uint8_t *piece = bag->pieces[bag->count - 1], *to = piece + bag->used;
    uint64_t list = (bag->count - 1) * PIECE + bag->used;
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
    struct list_pool_reader reader = {.at = bag->pieces[list / PIECE] + list % PIECE};
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
