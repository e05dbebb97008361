/* Edges of the program activity graph, added for each thread in the order of its nodes. */
#include "server/analysis/graph_edges.h"

#include "base/alloc.h"

#include <stdlib.h>

struct graph_chain *graph_edges_chain(struct activity_graph *g, bool group, uint32_t count)
{
    g->chains = array_reserve(g->chains, &g->chain_room, g->chain_count + 1, sizeof *g->chains);
    g->chains[g->chain_count] = (struct graph_chain){.group = group, .count = count};
    return &g->chains[g->chain_count++];
}

/* Returns the last node of a thread that is not after a time.  Searches from the previous result,
 * as edges mostly lead to near there. */
static uint32_t node_at(struct activity_graph *g, uint32_t thread, int64_t at_ns)
{
    return (uint32_t)intervals_near(&g->all->threads[thread], at_ns, &g->hints[thread]);
}

/* Adds an edge, unless one of its nodes belongs to intervals that were added after the graph was
 * made. */
static void add_edge(const struct activity_graph *g, struct graph_chain *to, struct graph_edge edge)
{
    if (edge.into >= to->count || edge.node >= g->chains[edge.chain].count)
        return;
    to->edges = array_reserve(to->edges, &to->edge_room, to->edge_count + 1, sizeof *to->edges);
    to->edges[to->edge_count++] = edge;
}

/* Adds an edge that begins at a time of the thread `line`, if that had started by then. */
static void add_from(struct activity_graph *g, struct graph_chain *to, uint32_t into, uint32_t line,
                     int64_t at_ns, struct graph_edge edge)
{
    const struct thread_timeline *from = intervals_for_thread(g->all, line);
    if (!from || from->start_ns == INTERVALS_NEVER || from->start_ns > at_ns)
        return;
    edge.chain = (uint32_t)(from - g->all->threads);
    if (edge.chain >= g->thread_count)
        return;
    edge.node = node_at(g, edge.chain, at_ns);
    edge.into = into;
    edge.after += at_ns - (edge.node ? from->items[edge.node - 1].to_ns : from->start_ns);
    if (&g->chains[edge.chain] != to)
        add_edge(g, to, edge);
}

static uint32_t group_chain(struct activity_graph *g, uint64_t group)
{
    uintptr_t known = (uintptr_t)map_get(&g->group_of, group, 0);
    if (!known) {
        graph_edges_chain(g, true, 1);
        known = g->chain_count;
        map_put(&g->group_of, group, 0, (void *)known);
    }
    return (uint32_t)known - 1;
}

static uint32_t into_gathering(const struct activity_graph *g, uint32_t thread,
                               const struct gathering *of)
{
    bool last = of->came_ns == of->at_ns;
    return last ? (uint32_t)of->came + 1
                : (uint32_t)intervals_at(&g->all->threads[thread], of->at_ns);
}

static void add_gathering(struct activity_graph *g, uint32_t thread,
                          const struct gathering *gathering)
{
    uint32_t chain = group_chain(g, gathering->group);
    add_edge(g, &g->chains[chain],
             (struct graph_edge){.chain = thread, .node = (uint32_t)gathering->came});
    add_edge(g, &g->chains[thread],
             (struct graph_edge){.chain = chain, .into = into_gathering(g, thread, gathering)});
}

static void add_segment(struct activity_graph *g, uint32_t thread, size_t i)
{
    const struct wait_interval *s = &g->all->segments[g->all->threads[thread].items[i].of];
    add_from(g, &g->chains[thread], (uint32_t)i + 1, s->thread, s->to_ns,
             (struct graph_edge){.about = g->all->waits[s->wait].about});
}

static int by_node(const void *a, const void *b)
{
    const struct graph_edge *x = a, *y = b;
    return x->into != y->into     ? (x->into > y->into) - (x->into < y->into)
           : x->chain != y->chain ? (x->chain > y->chain) - (x->chain < y->chain)
                                  : (x->node > y->node) - (x->node < y->node);
}

/* Moves the last edge to its place: only it may be out of order, and not by much. */
static void graph_edges_insert_sorted(struct graph_chain *c)
{
    for (size_t i = c->edge_count; i-- > 1 && by_node(&c->edges[i - 1], &c->edges[i]) > 0;) {
        struct graph_edge edge = c->edges[i];
        c->edges[i] = c->edges[i - 1];
        c->edges[i - 1] = edge;
    }
}

static void sort_edges(struct graph_chain *c)
{
    for (size_t i = 1; i < c->edge_count; i++)
        if (by_node(&c->edges[i - 1], &c->edges[i]) > 0) {
            qsort(c->edges, c->edge_count, sizeof *c->edges, by_node);
            return;
        }
}

static void begin_thread(struct activity_graph *g)
{
    const struct thread_timeline *c = &g->all->threads[g->thread];
    struct graph_chain *chain = &g->chains[g->thread];
    g->sources = (struct graph_sources){.begun = true};
    if (c->maker && c->made_ns != INTERVALS_NEVER && c->made_ns <= c->start_ns)
        add_from(g, chain, 0, c->maker, c->made_ns,
                 (struct graph_edge){.after = c->start_ns - c->made_ns, .latency = true});
    chain->made = chain->edge_count > 0;
}

/* Finds the next wait interval; decrements *looks for each interval visited. */
static void find_segment(const struct thread_timeline *c, size_t end, size_t *item, uint64_t *looks)
{
    for (; *item < end && c->items[*item].is != INTERVAL_SEGMENT && *looks; ++*item)
        --*looks;
}

/* Returns the node at which the next incoming edge (ties) ends; they are sorted by time. */
static uint32_t find_tie(struct graph_sources *s, const struct thread_timeline *c, uint64_t *looks)
{
    if (s->tie >= c->tie_count)
        return UINT32_MAX;
    for (; s->near < c->count && c->items[s->near].to_ns <= c->ties[s->tie].at_ns; s->near++)
        *looks -= *looks > 0;
    return (uint32_t)s->near;
}

/* Adds the next edge of the thread, beginning with that into its first node; returns false if there
 * is none or *looks is used up. */
static bool add_next(struct activity_graph *g, uint64_t *looks)
{
    const struct thread_timeline *c = &g->all->threads[g->thread];
    struct graph_sources *s = &g->sources;
    size_t end = g->chains[g->thread].count - 1;
    find_segment(c, end, &s->item, looks);
    if (!*looks)
        return false;
    --*looks;
    uint32_t tie = find_tie(s, c, looks),
             segment = s->item < end ? (uint32_t)s->item + 1 : UINT32_MAX,
             gathering = s->gathering < c->gathering_count
                             ? into_gathering(g, g->thread, &c->gatherings[s->gathering])
                             : UINT32_MAX;
    if (tie != UINT32_MAX && tie <= segment && tie <= gathering) {
        const struct interval_edge *t = &c->ties[s->tie++];
        add_from(g, &g->chains[g->thread], tie, t->thread, t->from_ns,
                 (struct graph_edge){.about = t->about});
    } else if (segment != UINT32_MAX && segment <= gathering) {
        add_segment(g, g->thread, s->item++);
    } else if (gathering != UINT32_MAX) {
        add_gathering(g, g->thread, &c->gatherings[s->gathering++]);
    } else {
        return false;
    }
    graph_edges_insert_sorted(&g->chains[g->thread]);
    return true;
}

/* Adds the edges of all threads; returns true when all are done. */
static bool add_edges(struct activity_graph *g, uint64_t *looks)
{
    for (; g->thread < g->thread_count; g->thread++) {
        g->sources.begun &= g->chains[g->thread].count > 0;
        if (!g->sources.begun && g->chains[g->thread].count)
            begin_thread(g);
        while (g->chains[g->thread].count && add_next(g, looks))
            ;
        if (!*looks)
            return false;
        --*looks;
        g->sources.begun = false;
    }
    return true;
}

static bool number_nodes(struct activity_graph *g, uint64_t *looks)
{
    for (; g->numbered < g->chain_count; g->numbered++) {
        struct graph_chain *c = &g->chains[g->numbered];
        uint64_t cost = c->group ? c->edge_count + 1 : 1;
        if (!*looks)
            return false;
        *looks -= cost < *looks ? cost : *looks;
        if (c->group)
            sort_edges(c);
        c->first = g->nodes;
        g->nodes += c->count;
    }
    return true;
}

bool graph_prepare_step(struct activity_graph *g, uint64_t budget)
{
    if (!add_edges(g, &budget) || !number_nodes(g, &budget))
        return false;
    if (!g->early)
        g->early = xcalloc(g->nodes + 1, sizeof *g->early);
    return true;
}
