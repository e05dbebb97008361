#include "clients/connection/block_graph.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define NONE BLOCK_GRAPH_NONE

/* ---- building ---- */

uint32_t block_graph_node(struct block_graph *g, struct table_place place)
{
    return (uint32_t)MAP_INDEX(&g->numbers, place.process, place.address, g->nodes, g->node_count,
                               g->node_room, (struct block_node){.place = place});
}

void block_graph_add(struct block_graph *g, struct block_graph_edge edge)
{
    g->edges = array_reserve(g->edges, &g->edge_room, g->edge_count + 1, sizeof *g->edges);
    g->edges[g->edge_count++] = edge;
}

void block_graph_free(struct block_graph *g)
{
    for (size_t i = 0; i < g->node_count; i++) {
        free(g->nodes[i].function);
        free(g->nodes[i].inlined);
        free(g->nodes[i].file);
    }
    for (size_t i = 0; i < g->loop_count; i++)
        free(g->loops[i].blocks);
    free(g->nodes);
    free(g->edges);
    free(g->components);
    free(g->loops);
    map_free(&g->numbers);
    *g = (struct block_graph){0};
}

/* ---- functions ---- */

static bool block_graph_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Returns whether an edge leads from one block of a function to another one: if the
 * end of a function was not noticed, it seems to lead to the next one. */
static bool block_graph_is_within(const struct block_graph *g, const struct block_graph_edge *e)
{
    return e->from != NONE &&
           block_graph_same_text(g->nodes[e->from].function, g->nodes[e->to].function);
}

static uint32_t block_graph_root(struct block_graph *g, uint32_t node)
{
    while (g->nodes[node].component != node)
        node = g->nodes[node].component = g->nodes[g->nodes[node].component].component;
    return node;
}

static int block_graph_compare_nodes(const void *a, const void *b)
{
    const struct block_node *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->place.address < y->place.address ? -1 : x->place.address > y->place.address;
}

static int block_graph_compare_edges(const void *a, const void *b)
{
    const struct block_graph_edge *x = a, *y = b;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

/* Sorts blocks by function and address, and edges by the block to which they lead. */
static void block_graph_sort(struct block_graph *g)
{
    uint32_t *now = xcalloc(g->node_count + 1, sizeof *now);
    for (uint32_t i = 0; i < g->node_count; i++)
        g->nodes[i].component = g->nodes[i].number = i;
    for (size_t i = 0; i < g->edge_count; i++)
        if (block_graph_is_within(g, &g->edges[i]))
            g->nodes[block_graph_root(g, g->edges[i].from)].component =
                block_graph_root(g, g->edges[i].to);
    for (uint32_t i = 0; i < g->node_count; i++)
        g->nodes[i].component = block_graph_root(g, i);
    if (g->node_count)
        qsort(g->nodes, g->node_count, sizeof *g->nodes, block_graph_compare_nodes);
    for (uint32_t i = 0; i < g->node_count; i++)
        now[g->nodes[i].number] = i;
    for (size_t i = 0; i < g->edge_count; i++) {
        struct block_graph_edge *e = &g->edges[i];
        e->to = now[e->to];
        e->from = e->from == NONE ? NONE : now[e->from];
    }
    if (g->edge_count)
        qsort(g->edges, g->edge_count, sizeof *g->edges, block_graph_compare_edges);
    free(now);
}

/* Returns the first of its blocks that was reached from none, else the first one. */
static uint32_t block_graph_entry(const struct block_graph *g, const struct block_component *c)
{
    uint32_t entry = NONE;
    for (uint32_t i = c->first_edge; i < c->end_edge; i++)
        if (!block_graph_is_within(g, &g->edges[i]) && g->edges[i].to < entry)
            entry = g->edges[i].to;
    return entry == NONE ? c->first : entry;
}

static void block_graph_set_kinds(struct block_graph *g, const struct block_component *c)
{
    for (uint32_t i = c->first_edge; i < c->end_edge; i++)
        g->edges[i].kind = g->edges[i].to == c->entry                ? BLOCK_EDGE_ENTRY
                           : !block_graph_is_within(g, &g->edges[i]) ? BLOCK_EDGE_UNKNOWN
                                                                     : BLOCK_EDGE_FLOW;
}

static void block_graph_add_components(struct block_graph *g)
{
    uint32_t edge = 0;
    for (uint32_t i = 0, end; i < g->node_count; i = end) {
        for (end = i; end < g->node_count && g->nodes[end].component == g->nodes[i].component;)
            end++;
        struct block_component c = {.first = i, .end = end, .first_edge = edge};
        while (edge < g->edge_count && g->edges[edge].to < end)
            edge++;
        c.end_edge = edge;
        c.entry = block_graph_entry(g, &c);
        block_graph_set_kinds(g, &c);
        g->components = array_reserve(g->components, &g->component_room, g->component_count + 1,
                                      sizeof *g->components);
        g->components[g->component_count++] = c;
    }
}

/* ---- dominators (Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001) ---- */

struct block_walk { /* of one function; indices of `out`, `postorder`: less c->first */
    struct block_graph *g;
    struct block_component *c;
    uint32_t *first_out, *out; /* edges by the block from which they lead */
    uint32_t *postorder, count; /* blocks, in postorder */
};

static struct block_walk block_walk_begin(struct block_graph *g, struct block_component *c)
{
    uint32_t nodes = c->end - c->first, edges = c->end_edge - c->first_edge;
    struct block_walk w = {.g = g,
                           .c = c,
                           .first_out = xcalloc(nodes + 2, sizeof *w.first_out),
                           .out = xcalloc(edges + 1, sizeof *w.out),
                           .postorder = xcalloc(nodes + 1, sizeof *w.postorder)};
    for (uint32_t i = c->first_edge; i < c->end_edge; i++)
        if (g->edges[i].kind == BLOCK_EDGE_FLOW)
            w.first_out[g->edges[i].from - c->first + 2]++;
    for (uint32_t i = 2; i < nodes + 2; i++)
        w.first_out[i] += w.first_out[i - 1];
    for (uint32_t i = c->first_edge; i < c->end_edge; i++)
        if (g->edges[i].kind == BLOCK_EDGE_FLOW)
            w.out[w.first_out[g->edges[i].from - c->first + 1]++] = i;
    return w;
}

static void block_walk_end(struct block_walk *w)
{
    free(w->first_out);
    free(w->out);
    free(w->postorder);
}

/* Numbers the blocks that can be reached from one in postorder. */
static void block_walk_visit(struct block_walk *w, uint32_t from)
{
    uint32_t depth = 0, *stack = xcalloc(w->c->end - w->c->first + 1, sizeof *stack),
             *next = xcalloc(w->c->end - w->c->first + 1, sizeof *next);
    stack[depth++] = from;
    w->g->nodes[from].reached = true;
    while (depth) {
        uint32_t at = stack[depth - 1] - w->c->first;
        if (w->first_out[at] + next[at] == w->first_out[at + 1]) {
            w->g->nodes[stack[--depth]].order = w->count;
            w->postorder[w->count++] = at + w->c->first;
            continue;
        }
        uint32_t to = w->g->edges[w->out[w->first_out[at] + next[at]++]].to;
        if (!w->g->nodes[to].reached)
            stack[depth++] = to;
        w->g->nodes[to].reached = true;
    }
    free(stack);
    free(next);
}

static uint32_t block_walk_meet(const struct block_graph *g, uint32_t a, uint32_t b)
{
    while (a != b)
        if (g->nodes[a].order < g->nodes[b].order)
            a = g->nodes[a].dominator;
        else
            b = g->nodes[b].dominator;
    return a;
}

/* Sets the immediate dominator of a block; returns whether it changed. */
static bool block_walk_set_dominator(struct block_graph *g, const struct block_component *c,
                                     uint32_t node, const uint32_t *first_in)
{
    uint32_t is = NONE;
    for (uint32_t i = first_in[node - c->first]; i < c->end_edge && g->edges[i].to == node; i++) {
        uint32_t from = g->edges[i].from;
        if (g->edges[i].kind != BLOCK_EDGE_FLOW || !g->nodes[from].reached ||
            g->nodes[from].dominator == NONE)
            continue;
        is = is == NONE ? from : block_walk_meet(g, is, from);
    }
    bool changed = is != NONE && is != g->nodes[node].dominator;
    if (changed)
        g->nodes[node].dominator = is;
    return changed;
}

static void block_walk_find_dominators(struct block_walk *w, const uint32_t *first_in)
{
    struct block_graph *g = w->g;
    for (uint32_t i = w->c->first; i < w->c->end; i++)
        g->nodes[i].dominator = NONE;
    g->nodes[w->c->entry].dominator = w->c->entry;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = w->count; i--;)
            if (w->postorder[i] != w->c->entry)
                changed |= block_walk_set_dominator(g, w->c, w->postorder[i], first_in);
    }
}

static bool block_walk_dominates(const struct block_graph *g, uint32_t a, uint32_t b)
{
    while (b != a && b != g->nodes[b].dominator)
        b = g->nodes[b].dominator;
    return a == b;
}

/* ---- loops ---- */

/* Adds the blocks from which a block of the loop is reached without its header. */
static void block_loop_collect(struct block_walk *w, uint32_t latch, const uint32_t *first_in,
                               bool *in)
{
    struct block_graph *g = w->g;
    uint32_t first = w->c->first, depth = 0, *stack = xcalloc(w->c->end - first + 1, sizeof *stack);
    if (!in[latch - first])
        stack[depth++] = latch;
    in[latch - first] = true;
    while (depth) {
        uint32_t at = stack[--depth];
        for (uint32_t i = first_in[at - first]; i < w->c->end_edge && g->edges[i].to == at; i++) {
            uint32_t from = g->edges[i].from;
            if (g->edges[i].kind != BLOCK_EDGE_FLOW || !g->nodes[from].reached || in[from - first])
                continue;
            in[from - first] = true;
            stack[depth++] = from;
        }
    }
    free(stack);
}

/* A block from which an edge leads back to the header, and how many blocks its loop has. */
struct block_latch {
    uint32_t block, size;
};

static int block_latch_compare(const void *a, const void *b)
{
    const struct block_latch *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? -1 : 1)
                              : (x->block > y->block) - (x->block < y->block);
}

static uint32_t block_loop_count(const bool *in, uint32_t count)
{
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < count; i++)
        blocks += in[i];
    return blocks;
}

/* Returns the latches of the loops with that header, those of the smallest loop first. */
static struct block_latch *block_loop_latches(struct block_walk *w, uint32_t header,
                                              const uint32_t *first_in, uint32_t *count)
{
    struct block_graph *g = w->g;
    uint32_t nodes = w->c->end - w->c->first;
    struct block_latch *latches = xcalloc(nodes + 1, sizeof *latches);
    *count = 0;
    for (uint32_t i = first_in[header - w->c->first];
         i < w->c->end_edge && g->edges[i].to == header; i++) {
        uint32_t from = g->edges[i].from;
        bool last = *count && latches[*count - 1].block == from; /* the edge of another thread */
        if (g->edges[i].kind != BLOCK_EDGE_FLOW || !g->nodes[from].reached || last)
            continue;
        bool back = block_walk_dominates(g, header, from);
        w->c->irreducible += !back && g->nodes[from].order < g->nodes[header].order;
        if (!back)
            continue;
        bool *in = xcalloc(nodes + 1, sizeof *in);
        in[header - w->c->first] = true;
        block_loop_collect(w, from, first_in, in);
        latches[(*count)++] = (struct block_latch){from, block_loop_count(in, nodes)};
        free(in);
    }
    qsort(latches, *count, sizeof *latches, block_latch_compare);
    return latches;
}

/* Returns the least source line of the blocks that are in one loop and not in another one (NULL:
 * none), in the file of the header; 0: unknown. */
static int block_loop_first_line(const struct block_walk *w, uint32_t header, const bool *in,
                                 const bool *not_in)
{
    int line = 0;
    for (uint32_t i = w->c->first; i < w->c->end; i++) {
        const struct block_node *n = &w->g->nodes[i];
        if (in[i - w->c->first] && !(not_in && not_in[i - w->c->first]) && n->line &&
            block_graph_same_text(n->file, w->g->nodes[header].file) && (!line || n->line < line))
            line = n->line;
    }
    return line;
}

static uint32_t block_loop_add(struct block_walk *w, uint32_t header, const bool *in,
                               uint32_t inner)
{
    struct block_graph *g = w->g;
    struct block_loop loop = {.header = header, .outer = NONE, .depth = 1, .inner = inner};
    loop.blocks = xcalloc(w->c->end - w->c->first + 1, sizeof *loop.blocks);
    for (uint32_t i = w->c->first; i < w->c->end; i++)
        if (in[i - w->c->first])
            loop.blocks[loop.count++] = i;
    g->loops = array_reserve(g->loops, &g->loop_room, g->loop_count + 1, sizeof *g->loops);
    g->loops[g->loop_count] = loop;
    return (uint32_t)g->loop_count++;
}

static void block_loop_find(struct block_walk *w, uint32_t header, const uint32_t *first_in)
{
    uint32_t nodes = w->c->end - w->c->first, count, inner = NONE;
    struct block_latch *latches = block_loop_latches(w, header, first_in, &count);
    bool *in = xcalloc(nodes + 1, sizeof *in), *more = xcalloc(nodes + 1, sizeof *more);
    in[header - w->c->first] = count != 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(more, in, nodes);
        block_loop_collect(w, latches[i].block, first_in, more);
        int outer_line = block_loop_first_line(w, header, more, in),
            inner_line = block_loop_first_line(w, header, in, NULL);
        if (i && outer_line && outer_line < inner_line)
            inner = block_loop_add(w, header, in, inner);
        memcpy(in, more, nodes);
    }
    if (count)
        block_loop_add(w, header, in, inner);
    free(in);
    free(more);
    free(latches);
}

static int block_loop_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

bool block_loop_contains(const struct block_loop *loop, uint32_t block)
{
    return bsearch(&block, loop->blocks, loop->count, sizeof *loop->blocks, block_loop_compare);
}

/* Sets which loops of a function are in which others. */
static void block_loop_nest(struct block_graph *g, size_t first)
{
    for (size_t i = first; i < g->loop_count; i++)
        for (size_t k = first; k < g->loop_count; k++) {
            struct block_loop *inner = &g->loops[i];
            if (i == k || !block_loop_contains(&g->loops[k], inner->header) ||
                (g->loops[k].header == inner->header && g->loops[k].count <= inner->count))
                continue;
            inner->depth++;
            if (inner->outer == NONE || g->loops[k].count < g->loops[inner->outer].count)
                inner->outer = (uint32_t)k;
        }
}

static void block_graph_find_component_loops(struct block_graph *g, struct block_component *c)
{
    struct block_walk w = block_walk_begin(g, c);
    uint32_t nodes = c->end - c->first, *first_in = xcalloc(nodes + 1, sizeof *first_in);
    size_t first = g->loop_count;
    for (uint32_t i = c->end_edge; i-- > c->first_edge;)
        first_in[g->edges[i].to - c->first] = i;
    block_walk_visit(&w, c->entry);
    block_walk_find_dominators(&w, first_in);
    for (uint32_t i = c->first; i < c->end; i++)
        if (g->nodes[i].reached)
            block_loop_find(&w, i, first_in);
    block_loop_nest(g, first);
    free(first_in);
    block_walk_end(&w);
}

void block_graph_find_loops(struct block_graph *g)
{
    block_graph_sort(g);
    block_graph_add_components(g);
    for (size_t i = 0; i < g->component_count; i++)
        block_graph_find_component_loops(g, &g->components[i]);
}

/* ---- sums ---- */

static bool block_loop_is_latch(const struct block_graph *g, const struct block_component *c,
                                const struct block_loop *loop, uint32_t block)
{
    for (uint32_t i = c->first_edge; i < c->end_edge; i++)
        if (g->edges[i].from == block && g->edges[i].to == loop->header &&
            g->edges[i].kind == BLOCK_EDGE_FLOW)
            return true;
    return false;
}

/* Returns whether a block continues the test: reached from the test only, on its source line. */
static bool block_loop_continues_test(const struct block_graph *g, const struct block_component *c,
                                      const struct block_loop *loop, const struct map *test,
                                      uint32_t block)
{
    const struct block_node *n = &g->nodes[block], *header = &g->nodes[loop->header];
    if (!n->plain || n->line != header->line || !block_graph_same_text(n->file, header->file) ||
        block_loop_is_latch(g, c, loop, block))
        return false;
    for (uint32_t i = c->first_edge; i < c->end_edge; i++)
        if (g->edges[i].to == block &&
            (g->edges[i].from == NONE || !map_get(test, g->edges[i].from, 0)))
            return false;
    return true;
}

/* Returns whether a block leads out of the loop, at once or by way of the test. */
static bool block_loop_leads_out(const struct block_graph *g, const struct block_component *c,
                                 const struct block_loop *loop, const struct map *out,
                                 uint32_t block)
{
    for (uint32_t i = c->first_edge; i < c->end_edge; i++)
        if (g->edges[i].from == block && g->edges[i].kind == BLOCK_EDGE_FLOW &&
            (!block_loop_contains(loop, g->edges[i].to) || map_get(out, g->edges[i].to, 0)))
            return true;
    return false;
}

static bool block_loop_may_test(const struct block_graph *g, const struct block_component *c,
                                const struct block_loop *loop)
{
    return loop->inner == NONE && !block_loop_is_latch(g, c, loop, loop->header) &&
           (g->nodes[loop->header].plain || !g->nodes[loop->header].line);
}

/* Returns the blocks of the test with which the loop begins; empty if it does not. */
static struct map block_loop_test(const struct block_graph *g, const struct block_component *c,
                                  const struct block_loop *loop)
{
    struct map may = {0}, test = {0};
    if (!block_loop_may_test(g, c, loop))
        return test;
    map_put(&may, loop->header, 0, &may);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < loop->count; i++)
            if (!map_get(&may, loop->blocks[i], 0) &&
                block_loop_continues_test(g, c, loop, &may, loop->blocks[i])) {
                map_put(&may, loop->blocks[i], 0, &may);
                more = true;
            }
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < loop->count; i++)
            if (map_get(&may, loop->blocks[i], 0) && !map_get(&test, loop->blocks[i], 0) &&
                block_loop_leads_out(g, c, loop, &test, loop->blocks[i])) {
                map_put(&test, loop->blocks[i], 0, &may);
                more = true;
            }
    }
    map_free(&may);
    return test;
}

static const struct block_component *block_graph_component(const struct block_graph *g,
                                                           uint32_t block)
{
    size_t low = 0, high = g->component_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (g->components[middle].first <= block)
            low = middle;
        else
            high = middle;
    }
    return &g->components[low];
}

static void block_loop_add_edge(const struct block_graph *g, struct block_loop_sums *s,
                                const struct block_loop *loop, const struct block_graph_edge *e,
                                const struct map *test)
{
    bool to = block_loop_contains(loop, e->to),
         from = e->from != NONE && e->kind == BLOCK_EDGE_FLOW && block_loop_contains(loop, e->from),
         tested = from && map_get(test, e->from, 0);
    if (!to)
        return;
    s->self_ns += e->self_ns;
    s->called_ns += e->called_ns;
    s->overhead_ns += e->overhead_ns;
    s->timed |= e->timed;
    if (e->kind == BLOCK_EDGE_UNKNOWN)
        s->unknown += e->count;
    else if (e->to == loop->header && !from)
        s->entries += e->count;
    bool inner =
        loop->inner != NONE && from && block_loop_contains(&g->loops[loop->inner], e->from);
    if (from && e->to == loop->header && !inner)
        s->back_edges += e->count;
    if (tested && !map_get(test, e->to, 0))
        s->iterations += e->count;
}

struct block_loop_sums block_graph_sum_loop(const struct block_graph *g,
                                            const struct block_loop *loop, uint32_t line)
{
    const struct block_component *c = block_graph_component(g, loop->header);
    struct block_loop_sums s = {0};
    struct map test = block_loop_test(g, c, loop);
    for (uint32_t i = c->first_edge; i < c->end_edge; i++) {
        const struct block_graph_edge *e = &g->edges[i];
        s.recursive |= e->recursive != 0;
        if (!line || e->line == line)
            block_loop_add_edge(g, &s, loop, e, &test);
    }
    bool tests = map_get(&test, loop->header, 0) != NULL;
    s.iterations_unknown = tests && !g->nodes[loop->header].line;
    if (!tests)
        s.iterations = s.entries + s.back_edges;
    map_free(&test);
    return s;
}
