/* Fitting the clocks of several hosts. */
#include "server/run/clocks.h"

#include "memory/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRETCHES 32u /* of the run */
#define LOOKED 8000000u /* events looked at, spread over the run */
#define BLOCK 4096u

struct pair { /* of hosts a < b: per stretch the least delay either way */
    double forth[STRETCHES], back[STRETCHES]; /* INFINITY: none */
    uint64_t messages;
};

struct line_fit { /* offset(t) = at + drift * (t - middle) */
    double at, drift;
};

struct clocks {
    uint32_t *host_of; /* by process */
    uint32_t processes, hosts;
    double begin, length, middle;
    struct line_fit *fits; /* by host, to the first */
    uint64_t events;       /* when it was made */
    uint64_t fits_made;    /* with this one */
};

void clocks_free(struct clocks *clocks)
{
    if (!clocks)
        return;
    free(clocks->host_of);
    free(clocks->fits);
    free(clocks);
}

static void find_hosts(const struct run *run, struct clocks *c)
{
    c->processes = (uint32_t)run->process_count;
    c->host_of = memory_zeroed(c->processes + 1, sizeof *c->host_of);
    for (uint32_t i = 0; i < c->processes; i++) {
        uint32_t k = 0;
        while (k < i && strcmp(run->processes[k].host, run->processes[i].host) != 0)
            k++;
        c->host_of[i] = k < i ? c->host_of[k] : c->hosts++;
    }
}

/* ---- delays ---- */

static uint32_t host_at(const struct run *run, const struct clocks *c, const struct event *e)
{
    uint32_t line = e->thread && e->thread <= order_lines(run->order) ? e->thread : e->line;
    if (!line || line > order_lines(run->order) || run_line_at(run, line)->process >= c->processes)
        return 0;
    return c->host_of[run_line_at(run, line)->process];
}

static void look_at(const struct run *run, const struct clocks *c, struct pair *pairs,
                    uint64_t position)
{
    struct event e = order_event(run->order, position);
    for (uint32_t i = 0; i < e.send_count; i++) {
        struct event send = order_event(run->order, order_edge(run->order, position, i));
        uint32_t from = host_at(run, c, &send), to = host_at(run, c, &e);
        if (from == to)
            continue;
        struct pair *pair = from < to ? &pairs[from * c->hosts + to] : &pairs[to * c->hosts + from];
        /* The stretch goes by the clock of the pair's first host, both ways. */
        double share = ((double)(from < to ? send.time_ns : e.time_ns) - c->begin) / c->length;
        uint32_t stretch = share <= 0   ? 0
                           : share >= 1 ? STRETCHES - 1
                                        : (uint32_t)(share * STRETCHES);
        double delay = (double)(e.time_ns - send.time_ns);
        double *least = from < to ? &pair->forth[stretch] : &pair->back[stretch];
        *least = delay < *least ? delay : *least;
        pair->messages++;
    }
}

static struct pair *measure(const struct run *run, const struct clocks *c)
{
    struct pair *pairs = memory_zeroed((size_t)c->hosts * c->hosts + 1, sizeof *pairs);
    for (size_t i = 0; i < (size_t)c->hosts * c->hosts; i++)
        for (unsigned k = 0; k < STRETCHES; k++)
            pairs[i].forth[k] = pairs[i].back[k] = INFINITY;
    uint64_t count = order_count(run->order), blocks = count / BLOCK + 1;
    uint64_t every = blocks * BLOCK / LOOKED + 1;
    for (uint64_t b = 0; b < blocks; b += every)
        for (uint64_t p = b * BLOCK; p < (b + 1) * BLOCK && p < count; p++)
            if (p >= order_first(run->order))
                look_at(run, c, pairs, p);
    return pairs;
}

/* ---- fitting ---- */

/* The clock of the pair's second host less that of its first. */
static struct line_fit fit_pair(const struct clocks *c, const struct pair *pair)
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
    if (n == 0) /* messages one way, or never in the same stretch: as if the fastest took no time */
        return (struct line_fit){isfinite(forth) && isfinite(back) ? (forth - back) / 2
                                 : isfinite(forth)                 ? forth
                                                                   : -back,
                                 0};
    double spread = n * xx - x * x;
    double drift = n > 3 && spread > 0 ? (n * xy - x * y) / spread : 0;
    return (struct line_fit){(y - drift * x) / n, drift};
}

/* Ties host after host to those already tied, the busiest pair first (Prim's tree). */
static void tie(struct clocks *c, const struct pair *pairs)
{
    bool *tied = memory_zeroed(c->hosts + 1, sizeof *tied);
    c->fits = memory_zeroed(c->hosts + 1, sizeof *c->fits);
    tied[0] = true;
    for (;;) {
        uint64_t most = 0;
        uint32_t from = 0, to = 0;
        for (uint32_t a = 0; a < c->hosts; a++)
            for (uint32_t b = 0; b < c->hosts; b++) {
                const struct pair *pair = &pairs[a < b ? a * c->hosts + b : b * c->hosts + a];
                if (tied[a] && !tied[b] && pair->messages > most) {
                    most = pair->messages;
                    from = a;
                    to = b;
                }
            }
        if (!most)
            break;
        bool forth = from < to;
        struct line_fit fit =
            fit_pair(c, &pairs[forth ? from * c->hosts + to : to * c->hosts + from]);
        double sign = forth ? 1 : -1, at = c->fits[from].at + sign * fit.at;
        /* the fit was made by the clock of the pair's first host, which itself is off */
        at += sign * fit.drift * (forth ? c->fits[from].at : at);
        c->fits[to] = (struct line_fit){at, c->fits[from].drift + sign * fit.drift};
        tied[to] = true;
    }
    free(tied);
}

static struct clocks *fit(const struct run *run)
{
    struct clocks *c = memory_zeroed(1, sizeof *c);
    c->events = order_count(run->order);
    find_hosts(run, c);
    if (c->hosts < 2)
        return c;
    c->length = run->last_ns > 1 ? (double)run->last_ns : 1;
    c->middle = c->begin + c->length / 2;
    struct pair *pairs = measure(run, c);
    tie(c, pairs);
    free(pairs);
    return c;
}

/* The fit, made anew where that is due. */
static const struct clocks *fitted(const struct run *constant)
{
    struct run *run = (struct run *)(uintptr_t)constant; /* the fit is a cache */
    if (!run->clocks || run->clocks->processes != run->process_count ||
        (run->clocks->hosts > 1 && order_count(run->order) > 2 * run->clocks->events)) {
        uint64_t made = run->clocks ? run->clocks->fits_made : 0;
        clocks_free(run->clocks);
        run->clocks = fit(run);
        run->clocks->fits_made = made + 1;
    }
    return run->clocks;
}

int64_t clocks_correct(const struct run *run, uint32_t process, int64_t time_ns)
{
    const struct clocks *c = fitted(run);
    if (c->hosts < 2 || process >= c->processes)
        return time_ns;
    struct line_fit f = c->fits[c->host_of[process]];
    /* the clock shows t + at + drift * (t - middle) at the time t */
    double shown = (double)time_ns - c->middle - f.at;
    return time_ns - (int64_t)llround(f.at + f.drift * shown / (1 + f.drift));
}

uint64_t clocks_made(const struct run *run)
{
    const struct clocks *c = run->process_count < 2 ? NULL : fitted(run);
    return c && c->hosts > 1 ? c->fits_made : 0;
}
