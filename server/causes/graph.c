#include "server/causes/graph.h"

#include "memory/memory.h"
#include "server/causes/edges.h"

#include <stdlib.h>
#include <string.h>

/* The intervals may have grown, and lie elsewhere, since one looked last. */
static const struct course_of *course(const struct graph *g, const struct chain *c)
{
    return &g->all->threads[c - g->chains];
}

struct graph *graph_new(const struct intervals *all)
{
    struct graph *g = memory_zeroed(1, sizeof *g);
    g->all = all;
    g->begin_ns = INT64_MAX;
    g->thread_count = all->thread_count;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct course_of *c = &all->threads[i];
        edges_chain(g, false, c->start_ns == INTERVALS_NEVER ? 0 : (uint32_t)c->count + 1);
        if (c->start_ns != INTERVALS_NEVER && c->start_ns < g->begin_ns)
            g->begin_ns = c->start_ns;
    }
    g->hints = memory_zeroed(all->thread_count + 1, sizeof *g->hints);
    return g;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->chain_count; i++)
        free(g->chains[i].edges);
    map_free(&g->group_of);
    free(g->chains);
    free(g->hints);
    free(g->early);
    free(g->ready);
    free(g->late);
    free(g->stack);
    free(g->stretches);
    free(g);
}

size_t graph_bytes(const struct graph *g)
{
    size_t bytes = g->nodes * (sizeof *g->early + sizeof *g->late);
    for (uint32_t i = 0; i < g->chain_count; i++)
        bytes += sizeof *g->chains + g->chains[i].edge_room * sizeof *g->chains->edges;
    bytes += g->ready ? g->nodes * sizeof *g->ready : 0;
    return bytes + g->stretch_room * sizeof *g->stretches;
}

/* Who waited in that moment was waiting for another one then. */
void graph_until(struct graph *g, uint32_t thread, int64_t at_ns)
{
    const struct intervals *all = g->all;
    for (uint32_t hops = 0; hops < g->thread_count; hops++) {
        const struct course_of *c = &all->threads[thread];
        size_t i = intervals_at(c, at_ns - 1);
        if (i >= graph_intervals(g, thread))
            return;
        const struct course_of *other =
            c->items[i].is == INTERVAL_SEGMENT
                ? intervals_of(all, all->segments[c->items[i].of].thread)
                : NULL;
        if (!other || at_ns >= c->items[i].to_ns) {
            g->until = (struct until){true, thread, (uint32_t)i, at_ns - interval_begin(c, i)};
            return;
        }
        thread = (uint32_t)(other - all->threads);
    }
}

/* ---- weights ---- */

static int64_t scaled(const struct graph *g, uint32_t step, int64_t ns)
{
    if (!step || step > g->change.factor_count)
        return ns;
    int64_t factor = g->change.factors[step - 1];
    return ns / GRAPH_WHOLE * factor + ns % GRAPH_WHOLE * factor / GRAPH_WHOLE;
}

static bool goes_on_at_once(const struct graph *g, const struct interval *i)
{
    const struct graph_change *change = &g->change;
    return i->is == INTERVAL_LATENCY &&
           (change->no_latency ||
            (change->free_line && g->all->waits[i->of].about == change->free_line));
}

static void add_ready(void *context, enum span_is is, int64_t from_ns, int64_t to_ns)
{
    *(int64_t *)context += is == SPAN_READY ? to_ns - from_ns : 0;
}

/* How long it had no processor in an interval that ran; found once. */
static int64_t ready_in(const struct graph *g, const struct chain *c, uint32_t interval)
{
    int64_t *ready = &g->ready[c->first + interval];
    const struct course_of *of = course(g, c);
    struct spans_walk walk = {0};
    if (*ready < 0) {
        *ready = 0;
        spans_visit(g->change.spans, of, &walk, interval_begin(of, interval),
                    of->items[interval].to_ns, add_ready, ready);
    }
    return *ready;
}

/* What is left of a part of an interval if it always had a processor. */
static int64_t without_ready(const struct graph *g, const struct chain *c, uint32_t interval,
                             int64_t ns)
{
    const struct course_of *of = course(g, c);
    int64_t all = of->items[interval].to_ns - interval_begin(of, interval);
    if (of->items[interval].is != INTERVAL_RUNS || all <= 0)
        return ns;
    int64_t ready = ready_in(g, c, interval);
    return ns - (ns == all ? ready : (int64_t)((double)ready * (double)ns / (double)all));
}

/* What a part of so many ns of an interval weighs. */
static inline int64_t weight(const struct graph *g, const struct chain *c, uint32_t interval,
                             int64_t ns)
{
    const struct interval *i = &course(g, c)->items[interval];
    if (g->change.spans)
        ns = without_ready(g, c, interval, ns);
    return i->is == INTERVAL_SEGMENT || goes_on_at_once(g, i) ? 0 : scaled(g, i->step, ns);
}

static inline int64_t weight_of(const struct graph *g, const struct chain *c, uint32_t interval)
{
    const struct course_of *of = course(g, c);
    return weight(g, c, interval, of->items[interval].to_ns - interval_begin(of, interval));
}

/* How long a thread that was made took to begin, less the time for which it had no processor where that is to be so. */
static int64_t start_latency(const struct graph *g, const struct edge *e, const struct chain *into)
{
    const struct course_of *of = course(g, into);
    struct spans_walk walk = {0};
    int64_t ready = 0;
    if (g->change.no_latency)
        return 0;
    if (spans_best(g->change.spans, of->thread, SPANS_ORDER) == SPANS_SWITCHES)
        spans_visit(g->change.spans, of, &walk, of->start_ns - e->after, of->start_ns, add_ready,
                    &ready);
    return e->after - ready;
}

/* How long after its node an edge into a chain begins. */
static int64_t lag(const struct graph *g, const struct edge *e, const struct chain *into)
{
    if (e->after <= 0)
        return 0;
    if (e->latency)
        return start_latency(g, e, into);
    const struct chain *from = &g->chains[e->chain];
    bool within = !from->group && e->node + 1 < from->count;
    return within ? weight(g, from, e->node, e->after) : e->after;
}

static bool is_free(const struct graph *g, const struct edge *e)
{
    return g->change.free_line && e->about == g->change.free_line;
}

/* ---- forward ---- */

void graph_forward(struct graph *g, struct graph_change change)
{
    if (change.spans && !g->ready) {
        g->ready = memory_resized(NULL, g->nodes + 1, sizeof *g->ready);
        memset(g->ready, 0xff, (g->nodes + 1) * sizeof *g->ready);
    }
    g->change = change;
    g->stacked = g->stretch_count = 0;
    g->root = 0;
    g->left_out = 0;
    g->end_ns = INT64_MIN;
    for (uint32_t i = 0; i < g->chain_count; i++) {
        g->chains[i].done = 0;
        g->chains[i].edge = 0;
        g->chains[i].open = false;
    }
}

static void push(struct graph *g, uint32_t chain)
{
    g->stack = grow(g->stack, &g->stack_room, g->stacked + 1, sizeof *g->stack);
    g->stack[g->stacked++] = chain;
    g->chains[chain].open = true;
}

/* Where a node is without its edges. */
static int64_t own(const struct graph *g, const struct chain *c, uint32_t node)
{
    if (c->group)
        return INT64_MIN;
    if (node)
        return g->early[c->first + node - 1] + weight_of(g, c, node - 1);
    return c->made ? INT64_MIN : course(g, c)->start_ns;
}

/* The edges into its next node; the chain that one must wait for, or UINT32_MAX. */
static uint32_t meet(struct graph *g, struct chain *c)
{
    int64_t *at = &g->early[c->first + c->done];
    if (c->edge == 0 || c->edges[c->edge - 1].into < c->done)
        *at = own(g, c, c->done);
    for (; c->edge < c->edge_count && c->edges[c->edge].into <= c->done; c->edge++) {
        const struct edge *e = &c->edges[c->edge];
        const struct chain *from = &g->chains[e->chain];
        if (is_free(g, e))
            continue;
        if (e->node >= from->done && !from->open)
            return e->chain;
        if (e->node >= from->done) {
            g->left_out++;
            continue;
        }
        int64_t came = g->early[from->first + e->node] + lag(g, e, c);
        if (came > *at)
            *at = came;
    }
    if (*at == INT64_MIN) /* of nobody that is known */
        *at = c->group ? g->begin_ns : course(g, c)->start_ns;
    return UINT32_MAX;
}

/* From a node on the chain was done. */
static void note(struct graph *g, uint32_t chain, uint32_t from)
{
    if (g->stretch_count && g->stretches[g->stretch_count - 1].chain == chain)
        g->stretches[g->stretch_count - 1].end = g->chains[chain].done;
    else {
        g->stretches =
            grow(g->stretches, &g->stretch_room, g->stretch_count + 1, sizeof *g->stretches);
        g->stretches[g->stretch_count++] = (struct stretch){chain, from, g->chains[chain].done};
    }
}

/* Nodes of a thread that no edge leads into, to a node at most; who waits for it needs no more. */
static void glide(const struct graph *g, struct chain *c, uint32_t end)
{
    const struct course_of *of = course(g, c);
    const struct interval *items = of->items;
    uint32_t into = c->edge < c->edge_count ? c->edges[c->edge].into : c->count;
    int64_t *early = &g->early[c->first], at = early[c->done - 1];
    end = into < end ? into : end;
    for (; c->done < end; c->done++) {
        uint32_t i = c->done - 1;
        early[c->done] = at += weight(g, c, i, items[i].to_ns - interval_begin(of, i));
    }
}

/* So far the chain on top of the stack is to go. */
static uint32_t enough(const struct graph *g, const struct chain *c)
{
    if (g->stacked == 1)
        return c->count;
    const struct chain *below = &g->chains[g->stack[g->stacked - 2]];
    return below->edges[below->edge].node + 1;
}

static void leave(struct graph *g, struct chain *c)
{
    if (c->done == c->count && c->count && !c->group &&
        g->early[c->first + c->count - 1] > g->end_ns)
        g->end_ns = g->early[c->first + c->count - 1];
    c->open = false;
    g->stacked--;
}

/* The chain on top of the stack by a node and what no edge leads into after it, about so many, or another one onto it. */
static void advance(struct graph *g, uint64_t *budget)
{
    uint32_t top = g->stack[g->stacked - 1], end = enough(g, &g->chains[top]);
    struct chain *c = &g->chains[top];
    uint32_t from = c->done, other = from < c->count ? meet(g, c) : UINT32_MAX;
    if (other != UINT32_MAX) {
        push(g, other);
        return;
    }
    if (from < c->count) {
        c->done++;
        if (!c->group)
            glide(g, c, end - c->done > *budget ? c->done + (uint32_t)*budget : end);
        note(g, top, from);
        *budget -= c->done - from - 1 < *budget ? c->done - from - 1 : *budget;
    }
    if (c->done >= end)
        leave(g, c);
}

bool graph_forward_step(struct graph *g, uint64_t budget)
{
    for (; budget; budget -= budget > 0) {
        if (g->stacked)
            advance(g, &budget);
        else if (g->root < g->chain_count)
            push(g, g->root++);
        else
            return true;
    }
    return false;
}

/* Is its interval over by then? */
static bool until_is_end(const struct graph *g)
{
    const struct course_of *of = course(g, &g->chains[g->until.thread]);
    uint32_t i = g->until.interval;
    return g->until.part >= of->items[i].to_ns - interval_begin(of, i);
}

int64_t graph_length(const struct graph *g)
{
    if (g->until.is) {
        const struct chain *c = &g->chains[g->until.thread];
        const int64_t *early = &g->early[c->first + g->until.interval];
        return (until_is_end(g) ? early[1]
                                : early[0] + weight(g, c, g->until.interval, g->until.part)) -
               g->begin_ns;
    }
    return g->end_ns == INT64_MIN ? 0 : g->end_ns - g->begin_ns;
}

uint64_t graph_left_out(const struct graph *g) { return g->left_out; }

/* ---- backward ---- */

void graph_backward(struct graph *g)
{
    g->late = memory_resized(g->late, g->nodes + 1, sizeof *g->late);
    g->filled = 0;
    g->at = g->stretch_count;
    for (uint32_t i = 0; i < g->chain_count; i++) {
        g->chains[i].done = g->chains[i].count;
        g->chains[i].edge = g->chains[i].edge_count;
    }
}

static void no_later(int64_t *late, int64_t than)
{
    if (than < *late)
        *late = than;
}

/* Takes back the last of a chain's nodes: what comes before it must be in time for it. */
static void take_back(struct graph *g, struct chain *c)
{
    uint32_t node = --c->done;
    int64_t late = g->late[c->first + node];
    if (node)
        no_later(&g->late[c->first + node - 1], late - weight_of(g, c, node - 1));
    for (; c->edge && c->edges[c->edge - 1].into >= node; c->edge--) {
        const struct edge *e = &c->edges[c->edge - 1];
        const struct chain *from = &g->chains[e->chain];
        /* (an edge that was left out leads from what was not done before) */
        if (!is_free(g, e) && e->node < from->done)
            no_later(&g->late[from->first + e->node], late - lag(g, e, c));
    }
}

/* What leads nowhere may be as late as that, or somewhat less. */
#define FAR_NS (INT64_MAX / 2)
#define FAR_LEAST_NS (FAR_NS - (INT64_C(1) << 60))

/* At first nobody is later than the end. */
static bool fill(struct graph *g, uint64_t *budget)
{
    for (; g->filled < g->nodes && *budget; --*budget)
        for (unsigned i = 0; i < 16 && g->filled < g->nodes; i++)
            g->late[g->filled++] = g->until.is ? FAR_NS : g->end_ns;
    if (g->until.is && g->filled == g->nodes) {
        uint64_t node =
            g->chains[g->until.thread].first + g->until.interval + (until_is_end(g) ? 1 : 0);
        no_later(&g->late[node], g->early[node]);
    }
    return g->filled == g->nodes;
}

bool graph_backward_step(struct graph *g, uint64_t budget)
{
    if (!fill(g, &budget))
        return false;
    while (g->at) {
        struct stretch *s = &g->stretches[g->at - 1];
        struct chain *c = &g->chains[s->chain];
        while (c->done > s->begin) {
            if (budget-- == 0)
                return false;
            take_back(g, c);
        }
        g->at--;
    }
    return true;
}

int64_t graph_slack(const struct graph *g, uint32_t thread, size_t interval)
{
    const struct chain *c = &g->chains[thread];
    uint64_t node = c->first + interval;
    if (g->until.is && g->late[node + 1] >= FAR_LEAST_NS)
        return thread == g->until.thread && interval == g->until.interval ? 0 : INT64_MAX;
    int64_t slack = g->late[node + 1] - g->early[node] - weight_of(g, c, (uint32_t)interval);
    return slack > 0 ? slack : 0;
}

size_t graph_intervals(const struct graph *g, uint32_t thread)
{
    uint32_t count = thread < g->thread_count ? g->chains[thread].count : 0;
    return count ? count - 1 : 0;
}
