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

void exchange_free(struct exchange *e)
{
    free(e->server);
    free(e->host);
    ways_free(&e->asked);
    ways_free(&e->answered);
}

static struct exchange *find(struct exchanges *all, const char *server, const char *host)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].server, server) == 0 && strcmp(all->items[i].host, host) == 0)
            return &all->items[i];
    return NULL;
}

/* (what another connection, or a server before this one, was told of the same two clocks is still true) */
bool exchanges_take(struct run *run, struct in *in)
{
    struct exchange told = {.server = get_name(in, HOST_BYTES), .host = get_name(in, HOST_BYTES)};
    if (!run->exchanges)
        run->exchanges = memory_zeroed(1, sizeof *run->exchanges);
    struct exchanges *all = run->exchanges;
    struct exchange *known = told.server && told.host ? find(all, told.server, told.host) : NULL;
    struct exchange *e = known ? known : &told;
    get_ways(in, &e->asked);
    get_ways(in, &e->answered);
    bool good = in_done(in) && told.server && told.host;
    if (good && !known && all->count < EXCHANGES_MOST) {
        all->items = grow(all->items, &all->room, all->count + 1, sizeof *all->items);
        all->items[all->count++] = told;
    } else {
        exchange_free(&told);
    }
    all->taken += good;
    return good;
}

void exchanges_free(struct exchanges *all)
{
    for (size_t i = 0; all && i < all->count; i++)
        exchange_free(&all->items[i]);
    if (all)
        free(all->items);
    free(all);
}
