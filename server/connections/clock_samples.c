#include "server/connections/clock_samples.h"

#include "base/alloc.h"
#include "server/connections/event_server.h"
#include "server/connections/run_journal.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/capture.h"
#include "server/run/clock_sync.h"

#include <stdlib.h>
#include <string.h>

struct sampled_clock {
    struct clock_exchange exchange;
    unsigned answers;
    struct clock_target { /* of that many a run's journal has what they said */
        const struct run *run;
        unsigned answers;
    } *targets;
    size_t count, room;
};

static struct sampled_clock *clock_samples_find_clock(struct clock_samples *c, const char *host)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->items[i].exchange.host, host) == 0)
            return &c->items[i];
    if (c->count == CLOCK_EXCHANGES_MAX)
        return NULL;
    c->items = array_reserve(c->items, &c->room, c->count + 1, sizeof *c->items);
    c->items[c->count] = (struct sampled_clock){
        .exchange = {.server = xstrdup(loop_host_name()), .host = xstrdup(host)}};
    return &c->items[c->count++];
}

bool clock_samples_receive(struct clock_samples *clocking, const char *host,
                           const struct clock_request *a)
{
    struct sampled_clock *clock = clock_samples_find_clock(clocking, host);
    if (!clock)
        return false;
    clock->answers++;
    clock_messages_add(&clock->exchange.asked, (int64_t)a->asked, (int64_t)a->received);
    clock_messages_add(&clock->exchange.answered, (int64_t)a->replied, (int64_t)a->here);
    return true;
}

static struct clock_target *clock_samples_target_for(struct sampled_clock *clock,
                                                     const struct run *run)
{
    for (size_t i = 0; i < clock->count; i++)
        if (clock->targets[i].run == run)
            return &clock->targets[i];
    clock->targets =
        array_reserve(clock->targets, &clock->room, clock->count + 1, sizeof *clock->targets);
    clock->targets[clock->count] = (struct clock_target){.run = run};
    return &clock->targets[clock->count++];
}

static bool clock_samples_save_clock(struct sampled_clock *clock, struct server *server,
                                     const struct run *run)
{
    struct encoder out = {0};
    clock_messages_close(&clock->exchange.asked);
    clock_messages_close(&clock->exchange.answered);
    clock_exchanges_encode(&out, &clock->exchange);
    bool kept = run_journal_append(server, run, CHUNK_CLOCKS, 0, &out);
    server->behind = true;
    encoder_free(&out);
    return kept;
}

void clock_samples_save(struct clock_samples *clocking, struct server *server, struct run *run,
                        bool last)
{
    for (size_t i = 0; i < clocking->count; i++) {
        struct sampled_clock *clock = &clocking->items[i];
        struct clock_target *target = clock_samples_target_for(clock, run);
        unsigned news = clock->answers - target->answers;
        if (news && (last || news > target->answers / 4) &&
            clock_samples_save_clock(clock, server, run))
            target->answers = clock->answers;
    }
}

void clock_samples_discard(struct clock_samples *clocking, const struct run *run)
{
    for (size_t i = 0; i < clocking->count; i++) {
        struct sampled_clock *clock = &clocking->items[i];
        for (size_t k = 0; k < clock->count; k++)
            if (clock->targets[k].run == run)
                clock->targets[k--] = clock->targets[--clock->count];
    }
}

void clock_samples_free(struct clock_samples *clocking)
{
    for (size_t i = 0; i < clocking->count; i++) {
        clock_exchange_free(&clocking->items[i].exchange);
        free(clocking->items[i].targets);
    }
    free(clocking->items);
    *clocking = (struct clock_samples){0};
}

/* ---- the offset of a clock ---- */

void clock_offset_at(const struct clock_offset *offset, uint64_t now_ns, int64_t *low_ns,
                     int64_t *high_ns)
{
    uint64_t age = now_ns > offset->at_ns ? now_ns - offset->at_ns : 0;
    int64_t wider = (int64_t)(age / 1000000 * CLOCK_OFFSET_DRIFT_PPM + CLOCK_OFFSET_DRIFT_PPM);
    *low_ns = offset->low_ns - (offset->known ? wider : 0);
    *high_ns = offset->high_ns + (offset->known ? wider : 0);
}

bool clock_offset_add(struct clock_offset *offset, uint64_t t0, uint64_t t1, uint64_t t2,
                      uint64_t t3)
{
    const uint64_t most = INT64_MAX / 4;
    if (t3 < t0 || t2 < t1 || t2 - t1 > t3 - t0 || t1 > most || t2 > most || t3 > most)
        return false;
    struct clock_offset next = {true, (int64_t)t2 - (int64_t)t3, (int64_t)t1 - (int64_t)t0, t3};
    int64_t low, high;
    clock_offset_at(offset, t3, &low, &high);
    if (offset->known && high - low <= next.high_ns - next.low_ns)
        return false;
    *offset = next;
    return true;
}
