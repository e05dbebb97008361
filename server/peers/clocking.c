#include "server/peers/clocking.h"

#include "memory/memory.h"
#include "server/loop/turn.h"
#include "server/peers/server.h"
#include "server/run/exchanges.h"
#include "server/taking/taking.h"

#include <stdlib.h>
#include <string.h>

struct asked_clock {
    struct exchange exchange;
    unsigned answers;
    struct told { /* of that many a run's journal has what they said */
        const struct run *run;
        unsigned answers;
    } *told;
    size_t count, room;
};

static struct asked_clock *find(struct clocking *c, const char *host)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->items[i].exchange.host, host) == 0)
            return &c->items[i];
    if (c->count == EXCHANGES_MOST)
        return NULL;
    c->items = grow(c->items, &c->room, c->count + 1, sizeof *c->items);
    c->items[c->count] = (struct asked_clock){
        .exchange = {.server = memory_copied(turn_host()), .host = memory_copied(host)}};
    return &c->items[c->count++];
}

bool clocking_take(struct clocking *clocking, const char *host, const struct asking *a)
{
    struct asked_clock *clock = find(clocking, host);
    if (!clock)
        return false;
    clock->answers++;
    ways_add(&clock->exchange.asked, (int64_t)a->asked, (int64_t)a->heard);
    ways_add(&clock->exchange.answered, (int64_t)a->said, (int64_t)a->here);
    return true;
}

static struct told *told_to(struct asked_clock *clock, const struct run *run)
{
    for (size_t i = 0; i < clock->count; i++)
        if (clock->told[i].run == run)
            return &clock->told[i];
    clock->told = grow(clock->told, &clock->room, clock->count + 1, sizeof *clock->told);
    clock->told[clock->count] = (struct told){.run = run};
    return &clock->told[clock->count++];
}

static bool keep(struct asked_clock *clock, struct server *server, const struct run *run)
{
    struct out out = {0};
    ways_close(&clock->exchange.asked);
    ways_close(&clock->exchange.answered);
    exchanges_put(&out, &clock->exchange);
    const struct chunk chunk = {.kind = CHUNK_CLOCKS, .data = out.data, .size = (uint32_t)out.size};
    taker_enter(server->taker);
    bool kept = !out.failed && journal_put(run->taking, &chunk, 1, false);
    taker_leave(server->taker);
    server->behind = true;
    out_free(&out);
    return kept;
}

void clocking_keep(struct clocking *clocking, struct server *server, struct run *run, bool last)
{
    for (size_t i = 0; i < clocking->count; i++) {
        struct asked_clock *clock = &clocking->items[i];
        struct told *told = told_to(clock, run);
        unsigned news = clock->answers - told->answers;
        if (news && (last || news > told->answers / 4) && keep(clock, server, run))
            told->answers = clock->answers;
    }
}

void clocking_forget(struct clocking *clocking, const struct run *run)
{
    for (size_t i = 0; i < clocking->count; i++) {
        struct asked_clock *clock = &clocking->items[i];
        for (size_t k = 0; k < clock->count; k++)
            if (clock->told[k].run == run)
                clock->told[k--] = clock->told[--clock->count];
    }
}

void clocking_free(struct clocking *clocking)
{
    for (size_t i = 0; i < clocking->count; i++) {
        exchange_free(&clocking->items[i].exchange);
        free(clocking->items[i].told);
    }
    free(clocking->items);
    *clocking = (struct clocking){0};
}
