#include "server/run/clock_sync.h"

#include "base/alloc.h"
#include "server/run/clock_fit.h"
#include "server/run/run.h"
#include "wire/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- clock exchanges ---- */

#define HOST_BYTES 256u
#define WAY_BYTES 16u

static void clock_exchange_put_messages(struct encoder *out, const struct clock_messages *ways)
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
    clock_exchange_put_messages(out, &exchange->asked);
    clock_exchange_put_messages(out, &exchange->answered);
}

static void clock_exchange_get_messages(struct decoder *in, struct clock_messages *ways)
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

/* Returns what was received of clock exchanges, or NULL. */
static struct clock_exchanges *clock_exchanges_of(const struct run *run)
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
    clock_exchange_get_messages(in, &e->asked);
    clock_exchange_get_messages(in, &e->answered);
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

/* ---- hosts and their clocks ---- */

#define STRETCHES 32u /* parts of the run, for each of which least delays are kept */
#define LOOKED 8000000u /* maximum number of events examined, spread over the run */
#define BLOCK 4096u
#define SERVERS_MOST 64u

/* of a pair of clocks: least delay in either direction, by part of the run */
struct clock_pair_delays {
    double forth[STRETCHES], back[STRETCHES]; /* INFINITY: none */
    uint64_t messages;
};

struct clock_sync {
    uint32_t *host_of; /* by process */
    uint32_t processes, hosts;
    struct {
        const char *hosts[SERVERS_MOST];
        uint32_t count;
    } servers;
    uint32_t clocks; /* those of hosts, then those of servers on hosts on which no program runs */
    /* of the run, by all clocks together, which may be seconds apart */
    double begin, length, middle;
    /* by clock, while the fit is made: its latest reading at a send or receive */
    double *last;
    double end; /* of the run, by the first clock */
    struct clock_ties *tying;
    struct clock_pair_delays *pairs; /* by pair of clocks, while the fit is made */
    size_t pair_count, pair_room;
    struct line_fit *fits; /* by clock, relative to the first */
    uint64_t events; /* number of events when the fit was made */
    uint64_t exchanged; /* number of clock exchanges then */
    uint64_t fits_made; /* number of fits, including this one */
};

static void clock_sync_free(void *state)
{
    struct clock_sync *clocks = state;
    free(clocks->host_of);
    free(clocks->fits);
    clock_ties_free(clocks->tying);
    free(clocks);
}

static void clock_sync_find_hosts(const struct run *run, struct clock_sync *c)
{
    c->processes = (uint32_t)run->processes.count;
    c->host_of = xcalloc(c->processes + 1, sizeof *c->host_of);
    for (uint32_t i = 0; i < c->processes; i++) {
        uint32_t k = 0;
        while (k < i && strcmp(run->processes.items[k].host, run->processes.items[i].host) != 0)
            k++;
        c->host_of[i] = k < i ? c->host_of[k] : c->hosts++;
    }
}

/* Returns the clock of a host: one with programs, or else one of a server. */
static uint32_t clock_sync_clock_of(const struct run *run, const struct clock_sync *c,
                                    const char *host)
{
    for (uint32_t i = 0; i < c->processes; i++)
        if (strcmp(run->processes.items[i].host, host) == 0)
            return c->host_of[i];
    uint32_t i = 0;
    while (i < c->servers.count && strcmp(c->servers.hosts[i], host) != 0)
        i++;
    return c->hosts + i;
}

static uint64_t clock_sync_exchanges_taken(const struct run *run)
{
    const struct clock_exchanges *exchanges = clock_exchanges_of(run);
    return exchanges ? exchanges->taken : 0;
}

/* Finds the servers on hosts on which no program runs. */
static void clock_sync_find_servers(const struct run *run, struct clock_sync *c)
{
    const struct clock_exchanges *exchanges = clock_exchanges_of(run);
    for (size_t i = 0; exchanges && i < exchanges->count; i++) {
        const char *host = exchanges->items[i].server;
        if (c->servers.count < SERVERS_MOST &&
            clock_sync_clock_of(run, c, host) == c->hosts + c->servers.count)
            c->servers.hosts[c->servers.count++] = host;
    }
    c->clocks = c->hosts + c->servers.count;
}

/* ---- delays ---- */

static uint32_t clock_sync_host_at(const struct run *run, const struct clock_sync *c,
                                   const struct order_event *e)
{
    uint32_t line = e->thread && e->thread <= order_line_count(run->order) ? e->thread : e->line;
    if (!line || line > order_line_count(run->order) ||
        run_line_at(run, line)->process >= c->processes)
        return 0;
    return c->host_of[run_line_at(run, line)->process];
}

static struct clock_pair_delays *clock_sync_pair_of(struct clock_sync *c, size_t bond)
{
    c->pairs = array_reserve(c->pairs, &c->pair_room, bond + 1, sizeof *c->pairs);
    for (; c->pair_count <= bond; c->pair_count++) {
        struct clock_pair_delays *pair = &c->pairs[c->pair_count];
        pair->messages = 0;
        for (unsigned k = 0; k < STRETCHES; k++)
            pair->forth[k] = pair->back[k] = INFINITY;
    }
    return &c->pairs[bond];
}

/* Adds a message between hosts; times are relative to the run's begin. */
static void clock_sync_add_message(struct clock_sync *c, uint32_t from, uint32_t to,
                                   struct clock_message at)
{
    struct clock_pair_delays *pair =
        clock_sync_pair_of(c, clock_ties_note(c->tying, from, to, at.sent, at.got));
    c->last[from] = fmax(c->last[from], (double)at.sent);
    c->last[to] = fmax(c->last[to], (double)at.got);
    /* The part of the run is that by the clock of the pair's first host, in both directions. */
    double share = ((double)(from < to ? at.sent : at.got) - c->begin) / c->length;
    uint32_t stretch = share <= 0 ? 0 : share >= 1 ? STRETCHES - 1 : (uint32_t)(share * STRETCHES);
    double delay = (double)(at.got - at.sent);
    double *least = from < to ? &pair->forth[stretch] : &pair->back[stretch];
    *least = delay < *least ? delay : *least;
    pair->messages++;
}

static void clock_sync_scan_event(const struct run *run, struct clock_sync *c, uint64_t position)
{
    struct order_event e = order_event(run->order, position);
    for (uint32_t i = 0; i < e.send_count; i++) {
        struct order_event send = order_event(run->order, order_edge(run->order, position, i));
        uint32_t from = clock_sync_host_at(run, c, &send), to = clock_sync_host_at(run, c, &e);
        if (from != to)
            clock_sync_add_message(c, from, to, (struct clock_message){send.time_ns, e.time_ns});
    }
}

/* Adds the clock exchanges of a server and an agent as messages. */
static void clock_sync_scan_exchange(const struct run *run, struct clock_sync *c,
                                     const struct clock_exchange *exchange)
{
    uint32_t server = clock_sync_clock_of(run, c, exchange->server),
             agent = clock_sync_clock_of(run, c, exchange->host);
    int64_t start = (int64_t)run->clock.start_ns;
    if (server >= c->clocks || agent >= c->clocks || agent == server)
        return;
    for (size_t i = 0; i < exchange->asked.count; i++) {
        const struct clock_message *w = &exchange->asked.items[i];
        clock_sync_add_message(c, server, agent,
                               (struct clock_message){w->sent - start, w->got - start});
    }
    for (size_t i = 0; i < exchange->answered.count; i++) {
        const struct clock_message *w = &exchange->answered.items[i];
        clock_sync_add_message(c, agent, server,
                               (struct clock_message){w->sent - start, w->got - start});
    }
}

static void clock_sync_measure_messages(const struct run *run, struct clock_sync *c)
{
    uint64_t count = order_count(run->order), blocks = count / BLOCK + 1;
    uint64_t every = blocks * BLOCK / LOOKED + 1;
    for (uint64_t b = 0; b < blocks; b += every)
        for (uint64_t p = b * BLOCK; p < (b + 1) * BLOCK && p < count; p++)
            if (p >= order_first(run->order))
                clock_sync_scan_event(run, c, p);
    const struct clock_exchanges *exchanges = clock_exchanges_of(run);
    for (size_t i = 0; exchanges && i < exchanges->count; i++)
        clock_sync_scan_exchange(run, c, &exchanges->items[i]);
    clock_ties_close(c->tying);
}

/* ---- fitting ---- */

/* Fits a line to the clock of the pair's second host minus that of its first. */
static struct line_fit clock_sync_fit_pair(const struct clock_sync *c,
                                           const struct clock_pair_delays *pair)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, forth = INFINITY, back = INFINITY;
    for (unsigned k = 0; k < STRETCHES; k++) {
        forth = fmin(forth, pair->forth[k]);
        back = fmin(back, pair->back[k]);
        if (!isfinite(pair->forth[k]) || !isfinite(pair->back[k]))
            continue;
        double t = c->begin + (k + 0.5) * c->length / STRETCHES - c->middle;
        double offset = (pair->forth[k] - pair->back[k]) / 2;
        n++;
        x += t;
        y += offset;
        xx += t * t;
        xy += t * offset;
    }
    /* messages in one direction only, the fastest assumed to take no time, or never both in one
     * part */
    if (n == 0)
        return (struct line_fit){isfinite(forth) && isfinite(back) ? (forth - back) / 2
                                 : isfinite(forth)                 ? forth
                                                                   : -back,
                                 0};
    double spread = n * xx - x * x;
    double drift = n > 3 && spread > 0 ? (n * xy - x * y) / spread : 0;
    return (struct line_fit){(y - drift * x) / n, drift};
}

/* of a clock: its pair with most messages, of those with a clock that is tied already */
struct clock_best_tie {
    uint64_t messages; /* 0: there is no such pair */
    size_t bond;
    bool tied;
};

static void clock_sync_mark_tied(const struct clock_sync *c, uint32_t clock,
                                 struct clock_best_tie *best)
{
    const struct clock_ties *t = c->tying;
    best[clock].tied = true;
    for (size_t k = t->begin[clock]; k < t->begin[clock + 1]; k++) {
        struct clock_best_tie *other = &best[clock_pair_other(&t->bonds[t->of[k]], clock)];
        if (c->pairs[t->of[k]].messages <= other->messages)
            continue;
        other->messages = c->pairs[t->of[k]].messages;
        other->bond = t->of[k];
    }
}

static void clock_sync_tie_to(struct clock_sync *c, uint32_t to, const struct clock_pair *bond,
                              const struct clock_pair_delays *pair)
{
    uint32_t from = clock_pair_other(bond, to);
    struct line_fit fit = clock_sync_fit_pair(c, pair);
    double sign = from < to ? 1 : -1, at = c->fits[from].at + sign * fit.at;
    /* the fit was made by the clock of the pair's first host, which itself is off */
    at += sign * fit.drift * (from < to ? c->fits[from].at : at);
    c->fits[to] = (struct line_fit){at, c->fits[from].drift + sign * fit.drift};
}

/* Ties host after host to those already tied, the busiest pair first (Prim's tree). */
static void clock_sync_build_tree(struct clock_sync *c)
{
    struct clock_best_tie *best = xcalloc(c->clocks + 1, sizeof *best);
    c->fits = xcalloc(c->clocks + 1, sizeof *c->fits);
    clock_sync_mark_tied(c, 0, best);
    for (;;) {
        uint32_t to = 0;
        for (uint32_t b = 1; b < c->clocks; b++)
            if (!best[b].tied && best[b].messages > (to ? best[to].messages : 0))
                to = b;
        if (!to)
            break;
        clock_sync_tie_to(c, to, &c->tying->bonds[best[to].bond], &c->pairs[best[to].bond]);
        clock_sync_mark_tied(c, to, best);
    }
    free(best);
}

/* Returns the time of the last known activity of the run, by the first clock. */
static double clock_sync_find_end(const struct run *run, struct clock_sync *c)
{
    uint64_t count = order_count(run->order);
    if (count > order_first(run->order)) {
        struct order_event e = order_event(run->order, count - 1);
        double *last = &c->last[clock_sync_host_at(run, c, &e)];
        *last = fmax(*last, (double)e.time_ns);
    }
    double end = c->begin;
    for (uint32_t i = 0; i < c->hosts; i++)
        end = fmax(end, line_fit_time(&c->fits[i], c->middle, c->last[i]));
    return fmin(end, c->begin + c->length);
}

static struct clock_sync *clock_sync_compute_fit(const struct run *run)
{
    struct clock_sync *c = xcalloc(1, sizeof *c);
    c->events = order_count(run->order);
    c->exchanged = clock_sync_exchanges_taken(run);
    clock_sync_find_hosts(run, c);
    if (c->hosts < 2)
        return c;
    clock_sync_find_servers(run, c);
    c->length = run->clock.last_ns > 1 ? (double)run->clock.last_ns : 1;
    c->middle = c->begin + c->length / 2;
    c->tying = clock_ties_new(c->clocks, c->middle);
    c->last = xcalloc(c->clocks + 1, sizeof *c->last);
    for (uint32_t i = 0; i < c->clocks; i++)
        c->last[i] = -INFINITY;
    clock_sync_measure_messages(run, c);
    clock_sync_build_tree(c);
    clock_fit_lines(c->tying, c->fits);
    c->end = clock_sync_find_end(run, c);
    free(c->pairs);
    free(c->last);
    c->pairs = NULL;
    c->last = NULL;
    return c;
}

/* Returns whether a new fit is due: there are twice as many events or exchanges as for the last
 * one or, if the run has ended, any more. */
static bool clock_sync_is_due(const struct run *run)
{
    const struct clock_sync *c = run_addon(&run->addons, RUN_ADDON_CLOCK_SYNC);
    uint64_t count = order_count(run->order), taken = clock_sync_exchanges_taken(run);
    if (!c || c->processes != run->processes.count)
        return true;
    bool ended = !run->programs.connected && (run->status.finished || !run->status.live);
    return c->hosts > 1 && (count > 2 * c->events || taken > 2 * c->exchanged ||
                            (ended && (count != c->events || taken != c->exchanged)));
}

/* Returns the fit, recomputed if that is due. */
static const struct clock_sync *clock_sync_current_fit(const struct run *constant)
{
    struct run *run = (struct run *)(uintptr_t)constant; /* the fit is a cache */
    struct clock_sync *c = run_addon(&run->addons, RUN_ADDON_CLOCK_SYNC);
    if (!clock_sync_is_due(run))
        return c;
    uint64_t made = c ? c->fits_made : 0;
    run_addon_attach(&run->addons, RUN_ADDON_CLOCK_SYNC, (struct run_addon){0});
    c = clock_sync_compute_fit(run);
    c->fits_made = made + 1;
    run_addon_attach(&run->addons, RUN_ADDON_CLOCK_SYNC, (struct run_addon){c, clock_sync_free});
    return c;
}

int64_t clock_sync_correct(const struct run *run, uint32_t process, int64_t time_ns)
{
    const struct clock_sync *c = clock_sync_current_fit(run);
    if (c->hosts < 2 || process >= c->processes)
        return time_ns;
    const struct line_fit *f = &c->fits[c->host_of[process]];
    return (int64_t)llround(line_fit_time(f, c->middle, (double)time_ns));
}

/* Returns by how much a clock is ahead of the first one at the run's end, ns. */
static int64_t clock_sync_ahead_at(const struct clock_sync *c, uint32_t clock)
{
    return llround(c->fits[clock].at + c->fits[clock].drift * (c->end - c->middle));
}

size_t clock_sync_bounds(const struct run *run, struct clock_bound **bounds)
{
    const struct clock_sync *c = run->processes.count < 2 ? NULL : clock_sync_current_fit(run);
    *bounds = NULL;
    if (!c || c->hosts < 2)
        return 0;
    struct clock_tied *tied = xcalloc(c->clocks, sizeof *tied);
    *bounds = xcalloc(c->hosts, sizeof **bounds);
    clock_ties_bound(c->tying, c->end, tied);
    for (uint32_t i = 0; i < c->processes; i++)
        (*bounds)[c->host_of[i]] =
            (struct clock_bound){.host = run->processes.items[i].host,
                                 .bound = tied[c->host_of[i]],
                                 .ahead_ns = clock_sync_ahead_at(c, c->host_of[i]),
                                 .at_ns = (int64_t)c->end};
    free(tied);
    return c->hosts;
}

uint64_t clock_sync_generation(const struct run *run)
{
    const struct clock_sync *c = run->processes.count < 2 ? NULL : clock_sync_current_fit(run);
    return c && c->hosts > 1 ? c->fits_made : 0;
}
