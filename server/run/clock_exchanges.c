#include "server/run/clock_exchanges.h"

#include "base/alloc.h"
#include "server/run/run.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define HOST_BYTES 256u
#define WAY_BYTES 16u

static void put_ways(struct encoder *out, const struct clock_messages *ways)
{
    encode_u32(out, (uint32_t)ways->count);
    for (size_t i = 0; i < ways->count; i++) {
        encode_u64(out, (uint64_t)ways->items[i].sent);
        encode_u64(out, (uint64_t)ways->items[i].got);
    }
}

void clock_exchanges_encode(struct encoder *out, const struct clock_exchange *exchange)
{
    encode_string(out, exchange->server);
    encode_string(out, exchange->host);
    put_ways(out, &exchange->asked);
    put_ways(out, &exchange->answered);
}

static void get_ways(struct decoder *in, struct clock_messages *ways)
{
    uint32_t count = decode_count(in, WAY_BYTES);
    for (uint32_t i = 0; i < count && !in->error; i++) {
        uint64_t sent = decode_u64(in), got = decode_u64(in);
        clock_messages_add(ways, (int64_t)sent, (int64_t)got);
    }
    clock_messages_close(ways);
}

void clock_exchange_free(struct clock_exchange *e)
{
    free(e->server);
    free(e->host);
    clock_messages_free(&e->asked);
    clock_messages_free(&e->answered);
}

static struct clock_exchange *clock_exchange_find(struct clock_exchanges *all, const char *server,
                                                  const char *host)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].server, server) == 0 && strcmp(all->items[i].host, host) == 0)
            return &all->items[i];
    return NULL;
}

static void clock_exchanges_free(void *state)
{
    struct clock_exchanges *all = state;
    for (size_t i = 0; i < all->count; i++)
        clock_exchange_free(&all->items[i]);
    free(all->items);
    free(all);
}

struct clock_exchanges *clock_exchanges_of(const struct run *run)
{
    return run_addon(&run->addons, RUN_ADDON_CLOCK_EXCHANGES);
}

/* Adds to the exchanges that are already known of the two clocks: those over another connection,
 * or with an earlier server, still hold. */
bool clock_exchanges_decode(struct run *run, struct decoder *in)
{
    struct clock_exchange received = {.server = decode_name(in, HOST_BYTES),
                                      .host = decode_name(in, HOST_BYTES)};
    struct clock_exchanges *all =
        run_addon_make(&run->addons, RUN_ADDON_CLOCK_EXCHANGES, sizeof *all, clock_exchanges_free);
    struct clock_exchange *known = received.server && received.host
                                       ? clock_exchange_find(all, received.server, received.host)
                                       : NULL;
    struct clock_exchange *e = known ? known : &received;
    get_ways(in, &e->asked);
    get_ways(in, &e->answered);
    bool good = decoder_finish(in) && received.server && received.host;
    if (good && !known && all->count < CLOCK_EXCHANGES_MAX) {
        all->items = array_reserve(all->items, &all->room, all->count + 1, sizeof *all->items);
        all->items[all->count++] = received;
    } else {
        clock_exchange_free(&received);
    }
    all->taken += good;
    return good;
}
