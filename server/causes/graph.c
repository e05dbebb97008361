#include "server/causes/graph.h"

#include "memory/memory.h"

#include <stdlib.h>

/* From another chain's node: its moment, or so long after it. */
struct edge {
    uint32_t chain, node; /* the node's number in that chain */
    int64_t after;
    uint32_t into, about; /* node of this chain; a line, 0 none */
    bool latency; /* `after` is until a thread that was made began */
};

/* The nodes of a thread, or the one of a group. */
struct chain {
    const struct course_of *course; /* NULL: of a group */
    struct edge *edges;             /* by `into` */
    size_t edge_count, edge_room;
    uint64_t first; /* index of its first node */
    uint32_t count; /* of its nodes */
    /* of a pass: */
    uint32_t done;
    size_t edge;
    bool open; /* it waits for others to get on */
    bool made; /* an edge from its maker says when it starts */
};

struct graph {
    const struct intervals *all;
    struct chain *chains;
    uint32_t chain_count;
    size_t chain_room, hints_room;
    size_t *hints; /* by thread: where the last edge from it began */
    struct map group_of;
    uint64_t nodes;
    /* preparing: */
    uint32_t thread;
    size_t tie, segment_at;
    bool prepared;
    /* a pass: */
    struct graph_change change;
    int64_t *early, *late;
    uint32_t *stack;
    size_t stacked, stack_room;
    uint32_t root;
    struct stretch { /* nodes in the order in which they were done */
        uint32_t chain, begin, end;
    } *stretches;
    size_t stretch_count, stretch_room, at;
    uint64_t left_out;
    int64_t begin_ns, end_ns;
};

static struct chain *new_chain(struct graph *g, const struct course_of *course, uint32_t count)
{
    g->chains = grow(g->chains, &g->chain_room, g->chain_count + 1, sizeof *g->chains);
    g->chains[g->chain_count] = (struct chain){.course = course, .count = count};
    return &g->chains[g->chain_count++];
}

struct graph *graph_new(const struct intervals *all)
{
    struct graph *g = memory_zeroed(1, sizeof *g);
    g->all = all;
    g->begin_ns = INT64_MAX;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const struct course_of *c = &all->threads[i];
        new_chain(g, c, c->start_ns == INTERVALS_NEVER ? 0 : (uint32_t)c->count + 1);
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
    free(g->late);
    free(g->stack);
    free(g->stretches);
    free(g);
}

/* ---- edges ---- */

/* The last node of a thread that is not after a time.  Most edges lead to near where the last one led. */
static uint32_t node_at(struct graph *g, uint32_t thread, int64_t at_ns)
{
    const struct course_of *c = &g->all->threads[thread];
    size_t *hint = &g->hints[thread];
    for (unsigned i = 0; i < 8; i++) {
        if (*hint < c->count && c->items[*hint].to_ns <= at_ns)
            ++*hint;
        else if (*hint && c->items[*hint - 1].to_ns > at_ns)
            --*hint;
        else
            return (uint32_t)*hint;
    }
    *hint = intervals_at(c, at_ns);
    return (uint32_t)*hint;
}

static void add_edge(struct chain *to, struct edge edge)
{
    to->edges = grow(to->edges, &to->edge_room, to->edge_count + 1, sizeof *to->edges);
    to->edges[to->edge_count++] = edge;
}

/* From a thread's moment, if it has one then. */
static void add_from(struct graph *g, struct chain *to, uint32_t into, uint32_t line, int64_t at_ns,
                     struct edge edge)
{
    const struct course_of *from = intervals_of(g->all, line);
    if (!from || from->start_ns == INTERVALS_NEVER || from->start_ns > at_ns)
        return;
    edge.chain = (uint32_t)(from - g->all->threads);
    edge.node = node_at(g, edge.chain, at_ns);
    edge.into = into;
    edge.after += at_ns - (edge.node ? from->items[edge.node - 1].to_ns : from->start_ns);
    if (&g->chains[edge.chain] != to)
        add_edge(to, edge);
}

static uint32_t group_chain(struct graph *g, uint64_t group)
{
    uintptr_t known = (uintptr_t)map_get(&g->group_of, group, 0);
    if (!known) {
        new_chain(g, NULL, 1);
        known = g->chain_count;
        map_put(&g->group_of, group, 0, (void *)known);
    }
    return (uint32_t)known - 1;
}

static void add_gathering(struct graph *g, uint32_t thread, const struct gathering *gathering)
{
    uint32_t chain = group_chain(g, gathering->group);
    add_edge(&g->chains[chain], (struct edge){.chain = thread, .node = (uint32_t)gathering->came});
    add_edge(&g->chains[thread], (struct edge){.chain = chain, .into = (uint32_t)gathering->at});
}

static void add_segments(struct graph *g, uint32_t thread)
{
    const struct course_of *c = &g->all->threads[thread];
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].is == INTERVAL_SEGMENT) {
            const struct segment *s = &g->all->segments[c->items[i].of];
            add_from(g, &g->chains[thread], (uint32_t)i + 1, s->thread, s->to_ns,
                     (struct edge){.about = g->all->waits[s->wait].about});
        }
}

static int by_node(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->into != y->into     ? (x->into > y->into) - (x->into < y->into)
           : x->chain != y->chain ? (x->chain > y->chain) - (x->chain < y->chain)
                                  : (x->node > y->node) - (x->node < y->node);
}

static void sort_edges(struct chain *c)
{
    for (size_t i = 1; i < c->edge_count; i++)
        if (by_node(&c->edges[i - 1], &c->edges[i]) > 0) {
            qsort(c->edges, c->edge_count, sizeof *c->edges, by_node);
            return;
        }
}

static void prepare_thread(struct graph *g, uint32_t thread)
{
    const struct course_of *c = &g->all->threads[thread];
    struct chain *chain = &g->chains[thread];
    if (!chain->count)
        return;
    if (c->maker && c->made_ns != INTERVALS_NEVER && c->made_ns <= c->start_ns)
        add_from(g, chain, 0, c->maker, c->made_ns,
                 (struct edge){.after = c->start_ns - c->made_ns, .latency = true});
    chain->made = chain->edge_count > 0;
    for (size_t i = 0; i < c->tie_count; i++)
        add_from(g, chain, node_at(g, thread, c->ties[i].at_ns), c->ties[i].thread,
                 c->ties[i].from_ns, (struct edge){.about = c->ties[i].about});
    add_segments(g, thread);
    for (size_t i = 0; i < c->gathering_count; i++)
        add_gathering(g, thread, &c->gatherings[i]);
    sort_edges(&g->chains[thread]);
}

static void number_nodes(struct graph *g)
{
    for (uint32_t i = 0; i < g->chain_count; i++) {
        struct chain *c = &g->chains[i];
        if (!c->course)
            sort_edges(c);
        c->first = g->nodes;
        g->nodes += c->count;
    }
    g->early = memory_zeroed(g->nodes + 1, sizeof *g->early);
}

bool graph_prepare_step(struct graph *g, uint64_t budget)
{
    for (uint64_t looks = 0; g->thread < g->all->thread_count; g->thread++) {
        if (looks >= budget)
            return false;
        const struct course_of *c = &g->all->threads[g->thread];
        prepare_thread(g, g->thread);
        looks += c->count + c->tie_count + c->gathering_count + 1;
    }
    if (!g->prepared)
        number_nodes(g);
    return g->prepared = true;
}

/* ---- weights ---- */

static int64_t scaled(const struct graph *g, uint32_t step, int64_t ns)
{
    if (!step || !g->change.factors || g->change.factors[step - 1] == GRAPH_WHOLE)
        return ns;
    return (int64_t)((__int128)ns * g->change.factors[step - 1] / GRAPH_WHOLE);
}

/* What a part of so many ns of an interval weighs. */
static int64_t weight(const struct graph *g, const struct interval *i, int64_t ns)
{
    const struct wait *wait = &g->all->waits[i->of];
    switch ((enum interval_is)i->is) {
    case INTERVAL_SEGMENT:
        return 0;
    case INTERVAL_LATENCY:
        if (g->change.no_latency || (g->change.free_line && wait->about == g->change.free_line))
            return 0;
        break;
    case INTERVAL_TIMER:
    case INTERVAL_UNEXPLAINED:
    case INTERVAL_RUNS:
        break;
    }
    return scaled(g, i->step, ns);
}

static int64_t weight_of(const struct graph *g, const struct chain *c, uint32_t interval)
{
    const struct interval *i = &c->course->items[interval];
    return weight(g, i, i->to_ns - interval_begin(c->course, interval));
}

/* How long after its node an edge begins. */
static int64_t lag(const struct graph *g, const struct edge *e)
{
    if (e->after <= 0)
        return 0;
    if (e->latency)
        return g->change.no_latency ? 0 : e->after;
    const struct course_of *from = g->chains[e->chain].course;
    return from && e->node < from->count ? weight(g, &from->items[e->node], e->after) : e->after;
}

static bool is_free(const struct graph *g, const struct edge *e)
{
    return g->change.free_line && e->about == g->change.free_line;
}

/* ---- forward ---- */

void graph_forward(struct graph *g, struct graph_change change)
{
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
    if (!c->course)
        return INT64_MIN;
    if (node)
        return g->early[c->first + node - 1] + weight_of(g, c, node - 1);
    return c->made ? INT64_MIN : c->course->start_ns;
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
        int64_t came = g->early[from->first + e->node] + lag(g, e);
        if (came > *at)
            *at = came;
    }
    if (*at == INT64_MIN) /* of nobody that is known */
        *at = c->course ? c->course->start_ns : g->begin_ns;
    return UINT32_MAX;
}

static void note(struct graph *g, uint32_t chain)
{
    if (g->stretch_count && g->stretches[g->stretch_count - 1].chain == chain)
        g->stretches[g->stretch_count - 1].end = g->chains[chain].done;
    else {
        g->stretches =
            grow(g->stretches, &g->stretch_room, g->stretch_count + 1, sizeof *g->stretches);
        g->stretches[g->stretch_count++] =
            (struct stretch){chain, g->chains[chain].done - 1, g->chains[chain].done};
    }
}

/* The chain on top of the stack by a node, or another one onto it. */
static void advance(struct graph *g)
{
    uint32_t top = g->stack[g->stacked - 1];
    struct chain *c = &g->chains[top];
    uint32_t other = c->done < c->count ? meet(g, c) : UINT32_MAX;
    if (other != UINT32_MAX) {
        push(g, other);
        return;
    }
    if (c->done < c->count) {
        c->done++;
        note(g, top);
    }
    if (c->done == c->count) {
        if (c->count && c->course && g->early[c->first + c->count - 1] > g->end_ns)
            g->end_ns = g->early[c->first + c->count - 1];
        c->open = false;
        g->stacked--;
    } else if (g->stacked > 1) { /* no further than who waits for it needs */
        const struct chain *below = &g->chains[g->stack[g->stacked - 2]];
        if (below->edges[below->edge].node < c->done) {
            c->open = false;
            g->stacked--;
        }
    }
}

bool graph_forward_step(struct graph *g, uint64_t budget)
{
    for (; budget; budget--) {
        if (g->stacked)
            advance(g);
        else if (g->root < g->chain_count)
            push(g, g->root++);
        else
            return true;
    }
    return false;
}

int64_t graph_length(const struct graph *g)
{
    return g->end_ns == INT64_MIN ? 0 : g->end_ns - g->begin_ns;
}

uint64_t graph_left_out(const struct graph *g) { return g->left_out; }

/* ---- backward ---- */

void graph_backward(struct graph *g)
{
    g->late = memory_resized(g->late, g->nodes + 1, sizeof *g->late);
    for (uint64_t i = 0; i < g->nodes; i++)
        g->late[i] = g->end_ns;
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
            no_later(&g->late[from->first + e->node], late - lag(g, e));
    }
}

bool graph_backward_step(struct graph *g, uint64_t budget)
{
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
    int64_t slack = g->late[node + 1] - g->early[node] - weight_of(g, c, (uint32_t)interval);
    return slack > 0 ? slack : 0;
}
