#include "server/analysis/activity_graph.h"

#include "base/alloc.h"
#include "server/analysis/graph_edges.h"

#include <stdlib.h>
#include <string.h>

/* Returns a chain's timeline, looked up each time: the intervals may have grown and moved since. */
static const struct thread_timeline *activity_graph_chain_timeline(const struct activity_graph *g,
                                                                   const struct graph_chain *c)
{
    return &g->all->threads[c - g->chains];
}

struct activity_graph *activity_graph_new(const struct intervals *all)
{
    struct activity_graph *g = xcalloc(1, sizeof *g);
    g->all = all;
    g->begin_ns = INT64_MAX;
    g->thread_count = all->thread_count;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct thread_timeline *c = &all->threads[i];
        graph_edges_chain(g, false, c->start_ns == INTERVALS_NEVER ? 0 : (uint32_t)c->count + 1);
        if (c->start_ns != INTERVALS_NEVER && c->start_ns < g->begin_ns)
            g->begin_ns = c->start_ns;
    }
    g->hints = xcalloc(all->thread_count + 1, sizeof *g->hints);
    return g;
}

void activity_graph_free(struct activity_graph *g)
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
    free(g->walks);
    free(g->late);
    free(g->stack);
    free(g->stretches);
    free(g);
}

size_t activity_graph_bytes(const struct activity_graph *g)
{
    size_t bytes = g->nodes * (sizeof *g->early + sizeof *g->late);
    for (uint32_t i = 0; i < g->chain_count; i++)
        bytes += sizeof *g->chains + g->chains[i].edge_room * sizeof *g->chains->edges;
    bytes += g->ready ? g->nodes * sizeof *g->ready : 0;
    return bytes + g->stretch_room * sizeof *g->stretches;
}

/* A thread that waited at that time is replaced by the one that it waited for, up to one that did
 * not wait. */
void activity_graph_until(struct activity_graph *g, uint32_t thread, int64_t at_ns)
{
    const struct intervals *all = g->all;
    for (uint32_t hops = 0; hops < g->thread_count; hops++) {
        const struct thread_timeline *c = &all->threads[thread];
        size_t i = intervals_at(c, at_ns - 1);
        if (i >= activity_graph_intervals(g, thread))
            return;
        const struct thread_timeline *other =
            c->items[i].is == INTERVAL_SEGMENT
                ? intervals_for_thread(all, all->segments[c->items[i].of].thread)
                : NULL;
        if (!other || at_ns >= c->items[i].to_ns) {
            g->until = (struct until){true, thread, (uint32_t)i, at_ns - interval_begin(c, i)};
            return;
        }
        thread = (uint32_t)(other - all->threads);
    }
}

/* ---- weights ---- */

static int64_t activity_graph_scale_time(const struct activity_graph *g, uint32_t step, int64_t ns)
{
    if (!step || step > g->change.factor_count)
        return ns;
    int64_t factor = g->change.factors[step - 1];
    return ns / GRAPH_WHOLE * factor + ns % GRAPH_WHOLE * factor / GRAPH_WHOLE;
}

static bool activity_graph_resumes_at_once(const struct activity_graph *g, const struct interval *i)
{
    const struct graph_change *change = &g->change;
    return i->is == INTERVAL_LATENCY &&
           (change->no_latency ||
            (change->free_line && g->all->waits[i->of].about == change->free_line));
}

static void add_ready(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    *(int64_t *)context += is == CPU_STATE_RUNNABLE ? to_ns - from_ns : 0;
}

/* Returns how long the thread was runnable without a CPU in an interval in which it ran; computed
 * once. */
static int64_t ready_in(const struct activity_graph *g, const struct graph_chain *c,
                        uint32_t interval)
{
    int64_t *ready = &g->ready[c->first + interval];
    const struct thread_timeline *of = activity_graph_chain_timeline(g, c);
    if (*ready < 0) {
        *ready = 0;
        cpu_states_visit(g->change.spans, of, &g->walks[c - g->chains],
                         interval_begin(of, interval), of->items[interval].to_ns, add_ready, ready);
    }
    return *ready;
}

/* Returns the part of `ns`, which are a part of an interval, that remains if the thread always had
 * a CPU. */
static int64_t without_ready(const struct activity_graph *g, const struct graph_chain *c,
                             uint32_t interval, int64_t ns)
{
    const struct thread_timeline *of = activity_graph_chain_timeline(g, c);
    int64_t all = of->items[interval].to_ns - interval_begin(of, interval);
    if (of->items[interval].is != INTERVAL_RUNS || all <= 0)
        return ns;
    int64_t ready = ready_in(g, c, interval);
    return ns - (ns == all ? ready : (int64_t)((double)ready * (double)ns / (double)all));
}

/* Returns the weight of a part of an interval that is `ns` long. */
static inline int64_t activity_graph_interval_weight(const struct activity_graph *g,
                                                     const struct graph_chain *c, uint32_t interval,
                                                     int64_t ns)
{
    const struct interval *i = &activity_graph_chain_timeline(g, c)->items[interval];
    if (g->change.spans)
        ns = without_ready(g, c, interval, ns);
    return i->is == INTERVAL_SEGMENT || activity_graph_resumes_at_once(g, i)
               ? 0
               : activity_graph_scale_time(g, i->step, ns);
}

static inline int64_t weight_of(const struct activity_graph *g, const struct graph_chain *c,
                                uint32_t interval)
{
    const struct thread_timeline *of = activity_graph_chain_timeline(g, c);
    return activity_graph_interval_weight(g, c, interval,
                                          of->items[interval].to_ns - interval_begin(of, interval));
}

/* Returns how long a created thread took to start, minus the time without a CPU if the change asks
 * for that. */
static int64_t start_latency(const struct activity_graph *g, const struct graph_edge *e,
                             const struct graph_chain *into)
{
    const struct thread_timeline *of = activity_graph_chain_timeline(g, into);
    struct cpu_state_walk walk = {0};
    int64_t ready = 0;
    if (g->change.no_latency)
        return 0;
    if (cpu_states_best(g->change.spans, of->thread, CPU_SOURCE_ORDER) == CPU_SOURCE_SWITCHES)
        cpu_states_visit(g->change.spans, of, &walk, of->start_ns - e->after, of->start_ns,
                         add_ready, &ready);
    return e->after - ready;
}

/* Returns how long after its node an edge into a chain begins. */
static int64_t activity_graph_edge_delay(const struct activity_graph *g, const struct graph_edge *e,
                                         const struct graph_chain *into)
{
    if (e->after <= 0)
        return 0;
    if (e->latency)
        return start_latency(g, e, into);
    const struct graph_chain *from = &g->chains[e->chain];
    bool within = !from->group && e->node + 1 < from->count;
    return within ? activity_graph_interval_weight(g, from, e->node, e->after) : e->after;
}

static bool is_free(const struct activity_graph *g, const struct graph_edge *e)
{
    return g->change.free_line && e->about == g->change.free_line;
}

/* ---- earliest times ---- */

void activity_graph_forward(struct activity_graph *g, struct graph_change change)
{
    if (change.spans && !g->ready) {
        g->ready = xreallocarray(NULL, g->nodes + 1, sizeof *g->ready);
        memset(g->ready, 0xff, (g->nodes + 1) * sizeof *g->ready);
        g->walks = xcalloc(g->thread_count + 1, sizeof *g->walks);
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

static void activity_graph_push_chain(struct activity_graph *g, uint32_t chain)
{
    g->stack = array_reserve(g->stack, &g->stack_room, g->stacked + 1, sizeof *g->stack);
    g->stack[g->stacked++] = chain;
    g->chains[chain].open = true;
}

/* Returns the time of a node without its edges from other chains. */
static int64_t activity_graph_own_time(const struct activity_graph *g, const struct graph_chain *c,
                                       uint32_t node)
{
    if (c->group)
        return INT64_MIN;
    if (node)
        return g->early[c->first + node - 1] + weight_of(g, c, node - 1);
    return c->made ? INT64_MIN : activity_graph_chain_timeline(g, c)->start_ns;
}

/* Applies the edges into the chain's next node; returns the chain that must be advanced first, or
 * UINT32_MAX. */
static uint32_t activity_graph_apply_in_edges(struct activity_graph *g, struct graph_chain *c)
{
    int64_t *at = &g->early[c->first + c->done];
    if (c->edge == 0 || c->edges[c->edge - 1].into < c->done)
        *at = activity_graph_own_time(g, c, c->done);
    for (; c->edge < c->edge_count && c->edges[c->edge].into <= c->done; c->edge++) {
        const struct graph_edge *e = &c->edges[c->edge];
        const struct graph_chain *from = &g->chains[e->chain];
        if (is_free(g, e))
            continue;
        if (e->node >= from->done && !from->open)
            return e->chain;
        if (e->node >= from->done) {
            g->left_out++;
            continue;
        }
        int64_t came = g->early[from->first + e->node] + activity_graph_edge_delay(g, e, c);
        if (came > *at)
            *at = came;
    }
    /* no predecessor is known: begins with the thread, a group with the graph */
    if (*at == INT64_MIN)
        *at = c->group ? g->begin_ns : activity_graph_chain_timeline(g, c)->start_ns;
    return UINT32_MAX;
}

/* Records that the chain's nodes from `from` on were completed. */
static void activity_graph_note_stretch(struct activity_graph *g, uint32_t chain, uint32_t from)
{
    if (g->stretch_count && g->stretches[g->stretch_count - 1].chain == chain)
        g->stretches[g->stretch_count - 1].end = g->chains[chain].done;
    else {
        g->stretches = array_reserve(g->stretches, &g->stretch_room, g->stretch_count + 1,
                                     sizeof *g->stretches);
        g->stretches[g->stretch_count++] =
            (struct graph_stretch){chain, from, g->chains[chain].done};
    }
}

/* Completes nodes of a thread that no edge leads into, up to `end`: a chain that waits for this
 * one needs no more. */
static void activity_graph_advance_free(const struct activity_graph *g, struct graph_chain *c,
                                        uint32_t end)
{
    const struct thread_timeline *of = activity_graph_chain_timeline(g, c);
    const struct interval *items = of->items;
    uint32_t into = c->edge < c->edge_count ? c->edges[c->edge].into : c->count;
    int64_t *early = &g->early[c->first], at = early[c->done - 1];
    end = into < end ? into : end;
    for (; c->done < end; c->done++) {
        uint32_t i = c->done - 1;
        early[c->done] = at +=
            activity_graph_interval_weight(g, c, i, items[i].to_ns - interval_begin(of, i));
    }
}

/* Returns the node up to which the chain on top of the stack must be advanced. */
static uint32_t activity_graph_chain_target(const struct activity_graph *g,
                                            const struct graph_chain *c)
{
    if (g->stacked == 1)
        return c->count;
    const struct graph_chain *below = &g->chains[g->stack[g->stacked - 2]];
    return below->edges[below->edge].node + 1;
}

static void activity_graph_pop_chain(struct activity_graph *g, struct graph_chain *c)
{
    if (c->done == c->count && c->count && !c->group &&
        g->early[c->first + c->count - 1] > g->end_ns)
        g->end_ns = g->early[c->first + c->count - 1];
    c->open = false;
    g->stacked--;
}

/* Advances the chain on top of the stack by one node and by about `budget` nodes after it that no
 * edge leads into, or pushes another chain. */
static void activity_graph_advance_top(struct activity_graph *g, uint64_t *budget)
{
    uint32_t top = g->stack[g->stacked - 1], end = activity_graph_chain_target(g, &g->chains[top]);
    struct graph_chain *c = &g->chains[top];
    uint32_t from = c->done,
             other = from < c->count ? activity_graph_apply_in_edges(g, c) : UINT32_MAX;
    if (other != UINT32_MAX) {
        activity_graph_push_chain(g, other);
        return;
    }
    if (from < c->count) {
        c->done++;
        if (!c->group)
            activity_graph_advance_free(
                g, c, end - c->done > *budget ? c->done + (uint32_t)*budget : end);
        activity_graph_note_stretch(g, top, from);
        *budget -= c->done - from - 1 < *budget ? c->done - from - 1 : *budget;
    }
    if (c->done >= end)
        activity_graph_pop_chain(g, c);
}

bool activity_graph_forward_step(struct activity_graph *g, uint64_t budget)
{
    for (; budget; budget -= budget > 0) {
        if (g->stacked)
            activity_graph_advance_top(g, &budget);
        else if (g->root < g->chain_count)
            activity_graph_push_chain(g, g->root++);
        else
            return true;
    }
    return false;
}

/* Returns whether the graph ends with its last interval, not within it. */
static bool until_is_end(const struct activity_graph *g)
{
    const struct thread_timeline *of =
        activity_graph_chain_timeline(g, &g->chains[g->until.thread]);
    uint32_t i = g->until.interval;
    return g->until.part >= of->items[i].to_ns - interval_begin(of, i);
}

int64_t activity_graph_length(const struct activity_graph *g)
{
    if (g->until.is) {
        const struct graph_chain *c = &g->chains[g->until.thread];
        const int64_t *early = &g->early[c->first + g->until.interval];
        return (until_is_end(g) ? early[1]
                                : early[0] + activity_graph_interval_weight(g, c, g->until.interval,
                                                                            g->until.part)) -
               g->begin_ns;
    }
    return g->end_ns == INT64_MIN ? 0 : g->end_ns - g->begin_ns;
}

uint64_t activity_graph_left_out(const struct activity_graph *g) { return g->left_out; }

/* ---- latest times ---- */

void activity_graph_backward(struct activity_graph *g)
{
    g->late = xreallocarray(g->late, g->nodes + 1, sizeof *g->late);
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

/* Processes the last unprocessed node of a chain: lowers the latest times of its predecessors. */
static void activity_graph_relax_backward(struct activity_graph *g, struct graph_chain *c)
{
    uint32_t node = --c->done;
    int64_t late = g->late[c->first + node];
    if (node)
        no_later(&g->late[c->first + node - 1], late - weight_of(g, c, node - 1));
    for (; c->edge && c->edges[c->edge - 1].into >= node; c->edge--) {
        const struct graph_edge *e = &c->edges[c->edge - 1];
        const struct graph_chain *from = &g->chains[e->chain];
        /* (an edge that was left out comes from a node that was completed later) */
        if (!is_free(g, e) && e->node < from->done)
            no_later(&g->late[from->first + e->node], late - activity_graph_edge_delay(g, e, c));
    }
}

/* Latest time of a node from which no path leads to the graph's end: this, or somewhat less. */
#define FAR_NS (INT64_MAX / 2)
#define FAR_LEAST_NS (FAR_NS - (INT64_C(1) << 60))

/* Initializes all latest times to the end. */
static bool activity_graph_fill_late(struct activity_graph *g, uint64_t *budget)
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

bool activity_graph_backward_step(struct activity_graph *g, uint64_t budget)
{
    if (!activity_graph_fill_late(g, &budget))
        return false;
    while (g->at) {
        struct graph_stretch *s = &g->stretches[g->at - 1];
        struct graph_chain *c = &g->chains[s->chain];
        while (c->done > s->begin) {
            if (budget-- == 0)
                return false;
            activity_graph_relax_backward(g, c);
        }
        g->at--;
    }
    return true;
}

int64_t activity_graph_slack(const struct activity_graph *g, uint32_t thread, size_t interval)
{
    const struct graph_chain *c = &g->chains[thread];
    uint64_t node = c->first + interval;
    if (g->until.is && g->late[node + 1] >= FAR_LEAST_NS)
        return thread == g->until.thread && interval == g->until.interval ? 0 : INT64_MAX;
    int64_t slack = g->late[node + 1] - g->early[node] - weight_of(g, c, (uint32_t)interval);
    return slack > 0 ? slack : 0;
}

size_t activity_graph_intervals(const struct activity_graph *g, uint32_t thread)
{
    uint32_t count = thread < g->thread_count ? g->chains[thread].count : 0;
    return count ? count - 1 : 0;
}
