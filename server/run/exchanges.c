#include "server/run/exchanges.h"

#include "memory/memory.h"
#include "server/run/run.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define HOST_BYTES 256u
#define WAY_BYTES 16u

static void put_ways(struct out *out, const struct ways *ways)
{
    put_u32(out, (uint32_t)ways->count);
    for (size_t i = 0; i < ways->count; i++) {
        put_u64(out, (uint64_t)ways->items[i].sent);
        put_u64(out, (uint64_t)ways->items[i].got);
    }
}

void exchanges_put(struct out *out, const struct exchange *exchange)
{
    put_string(out, exchange->server);
    put_string(out, exchange->host);
    put_ways(out, &exchange->asked);
    put_ways(out, &exchange->answered);
}

static void get_ways(struct in *in, struct ways *ways)
{
    uint32_t count = get_count(in, WAY_BYTES);
    for (uint32_t i = 0; i < count && !in->error; i++) {
        uint64_t sent = get_u64(in), got = get_u64(in);
        ways_add(ways, (int64_t)sent, (int64_t)got);
    }
    ways_close(ways);
}

static void empty(struct exchange *e)
{
    free(e->server);
    free(e->host);
    ways_free(&e->asked);
    ways_free(&e->answered);
}

bool exchanges_take(struct run *run, struct in *in)
{
    struct exchange e = {.server = get_name(in, HOST_BYTES), .host = get_name(in, HOST_BYTES)};
    get_ways(in, &e.asked);
    get_ways(in, &e.answered);
    struct exchanges *all = run->exchanges;
    if (!all)
        all = run->exchanges = memory_zeroed(1, sizeof *all);
    size_t i = 0;
    bool good = in_done(in) && e.server && e.host;
    while (good && i < all->count && strcmp(all->items[i].host, e.host) != 0)
        i++;
    if (!good || i == EXCHANGES_MOST) {
        empty(&e);
        return good;
    }
    if (i == all->count) {
        all->items = grow(all->items, &all->room, i + 1, sizeof *all->items);
        all->items[all->count++] = (struct exchange){0};
    }
    empty(&all->items[i]);
    all->items[i] = e;
    all->taken++;
    return true;
}

void exchanges_free(struct exchanges *all)
{
    for (size_t i = 0; all && i < all->count; i++)
        empty(&all->items[i]);
    if (all)
        free(all->items);
    free(all);
}
