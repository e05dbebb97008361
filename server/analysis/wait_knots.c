#include "server/analysis/wait_knots.h"

#include <stdlib.h>

#define CUT 100 /* edges below this fraction (1/CUT) of all that the waiter waited are cut */

static struct knot_member *knots_get_member(struct wait_knots *knots, uint32_t line)
{
    return MAP_ITEM(&knots->member_of, line, 0, knots->members, knots->member_count,
                    knots->member_room, (struct knot_member){.thread = line});
}

static void knots_add_wait_edge(struct wait_knots *knots, uint32_t waiter, uint32_t runner,
                                int64_t ns)
{
    MAP_ITEM(&knots->of, waiter, runner, knots->holds, knots->hold_count, knots->hold_room,
             (struct wait_edge){waiter, runner, 0, false})
        ->ns += ns;
    knots->waited_ns += ns;
    knots_get_member(knots, waiter)->waited_ns += ns;
    knots_get_member(knots, runner)->held_ns += ns;
}

static int64_t knots_end_of_thread(const struct wait_knots *knots, uint32_t line)
{
    const struct intervals *all = knots->why->paths.all;
    size_t index = (size_t)(intervals_for_thread(all, line) - all->threads);
    return index < knots->until_count ? knots->until_ns[index] : INT64_MIN;
}

/* Adds the part of a wait interval that lies in the range. */
static void knots_scan_wait(struct wait_knots *knots, uint32_t waiter, uint32_t segment,
                            int64_t until_ns)
{
    const struct intervals *all = knots->why->paths.all;
    int64_t begin = wait_interval_begin(all, segment), end = all->segments[segment].to_ns;
    int64_t from = begin > knots->from_ns ? begin : knots->from_ns,
            to = end < until_ns ? end : until_ns;
    if (to <= from)
        return;
    double part = (double)(to - from) / (double)(end - begin);
    struct list_pool_reader reader = wait_attribution_overlap(knots->why, segment);
    for (struct path_share share; list_pool_next(&reader, &share);) {
        int64_t ns = part < 1 ? (int64_t)((double)share.ns * part) : share.ns;
        if (ns > 0)
            knots_add_wait_edge(knots, waiter, wait_attribution_pair(knots->why, share.pair).thread,
                                ns);
    }
}

bool wait_knots_step(struct wait_knots *knots, uint64_t budget)
{
    const struct intervals *all = knots->why->paths.all;
    for (; budget && knots->done < knots->why->done; budget--, knots->done++) {
        const struct wait_record *wait = &all->waits[knots->done];
        int64_t until_ns = knots_end_of_thread(knots, wait->thread);
        for (uint32_t i = 0; i < wait->count; i++)
            knots_scan_wait(knots, wait->thread, wait->segment + i, until_ns);
    }
    return knots->done == knots->why->done;
}

/* ---- components ---- */

struct knot_vertex {
    uint32_t first, end; /* range of its edges in knots->holds */
    uint32_t next; /* index of the next edge to follow */
    uint32_t found, low; /* Tarjan's numbers, from 1 */
    uint32_t above; /* 1 + index of the previous vertex of the search path */
    uint32_t part; /* number of the strongly connected component, from 1 */
};

struct knot_search {
    struct wait_knots *knots;
    struct knot_vertex *vertices; /* by member */
    uint32_t *stack, depth, found, parts;
};

static int by_waiter(const void *a, const void *b)
{
    const struct wait_edge *x = a, *y = b;
    if (x->waiter != y->waiter)
        return x->waiter < y->waiter ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->runner < y->runner ? -1 : x->runner > y->runner;
}

static uint32_t index_of(const struct wait_knots *knots, uint32_t line)
{
    return (uint32_t)((uintptr_t)map_get(&knots->member_of, line, 0) - 1);
}

static void cut_edges(struct knot_search *t)
{
    struct wait_knots *k = t->knots;
    if (k->hold_count)
        qsort(k->holds, k->hold_count, sizeof *k->holds, by_waiter);
    for (uint32_t i = 0; i < k->hold_count; i++) {
        uint32_t waiter = index_of(k, k->holds[i].waiter);
        struct knot_vertex *v = &t->vertices[waiter];
        if (v->end != i)
            v->first = i;
        v->end = i + 1;
        k->holds[i].cut = k->holds[i].ns < k->members[waiter].waited_ns / CUT;
        map_put(&k->of, k->holds[i].waiter, k->holds[i].runner, (void *)((uintptr_t)i + 1));
    }
    for (uint32_t i = 0; i < k->member_count; i++)
        t->vertices[i].next = t->vertices[i].first;
}

static void knots_enter_vertex(struct knot_search *t, uint32_t vertex, uint32_t above)
{
    struct knot_vertex *v = &t->vertices[vertex];
    v->found = v->low = ++t->found;
    v->above = above;
    t->stack[t->depth++] = vertex;
}

static void knots_lower_link(struct knot_vertex *v, uint32_t low)
{
    if (low < v->low)
        v->low = low;
}

static void close_part(struct knot_search *t, uint32_t vertex)
{
    uint32_t member;
    t->parts++;
    do
        t->vertices[member = t->stack[--t->depth]].part = t->parts;
    while (member != vertex);
}

/* Follows one edge of a vertex, or leaves the vertex; returns 1 + the next vertex, or 0 at the
 * end. */
static uint32_t knots_follow_edge(struct knot_search *t, uint32_t vertex)
{
    struct knot_vertex *v = &t->vertices[vertex];
    if (v->next < v->end) {
        const struct wait_edge *h = &t->knots->holds[v->next++];
        uint32_t to = h->cut ? vertex : index_of(t->knots, h->runner);
        if (!t->vertices[to].found) {
            knots_enter_vertex(t, to, vertex + 1);
            return to + 1;
        }
        if (!t->vertices[to].part)
            knots_lower_link(v, t->vertices[to].found);
        return vertex + 1;
    }
    if (v->low == v->found)
        close_part(t, vertex);
    if (v->above)
        knots_lower_link(&t->vertices[v->above - 1], v->low);
    return v->above;
}

/* Numbers the knots: components without an outgoing edge, but with an edge into or within them. */
static void number_knots(struct knot_search *t)
{
    struct wait_knots *k = t->knots;
    bool *out = xcalloc(t->parts + 1, sizeof *out), *in = xcalloc(t->parts + 1, sizeof *in);
    uint32_t *knot = xcalloc(t->parts + 1, sizeof *knot);
    for (uint32_t i = 0; i < k->hold_count; i++) {
        if (k->holds[i].cut)
            continue;
        uint32_t from = t->vertices[index_of(k, k->holds[i].waiter)].part,
                 to = t->vertices[index_of(k, k->holds[i].runner)].part;
        out[from] |= from != to;
        in[to] = true;
    }
    for (uint32_t i = 0; i < k->member_count; i++) {
        uint32_t part = t->vertices[i].part;
        if (!out[part] && in[part] && !knot[part])
            knot[part] = ++k->count;
        k->members[i].knot = knot[part];
    }
    free(out);
    free(in);
    free(knot);
}

void wait_knots_compute(struct wait_knots *knots)
{
    struct knot_search t = {.knots = knots,
                            .vertices = xcalloc(knots->member_count + 1, sizeof *t.vertices),
                            .stack = xcalloc(knots->member_count + 1, sizeof *t.stack)};
    knots->count = 0;
    cut_edges(&t);
    for (uint32_t i = 0; i < knots->member_count; i++) {
        if (t.vertices[i].found)
            continue;
        knots_enter_vertex(&t, i, 0);
        for (uint32_t at = i + 1; at;)
            at = knots_follow_edge(&t, at - 1);
    }
    number_knots(&t);
    free(t.vertices);
    free(t.stack);
}

void wait_knots_free(struct wait_knots *knots)
{
    free(knots->holds);
    free(knots->members);
    map_free(&knots->of);
    map_free(&knots->member_of);
    *knots = (struct wait_knots){.why = knots->why,
                                 .from_ns = knots->from_ns,
                                 .until_ns = knots->until_ns,
                                 .until_count = knots->until_count};
}
