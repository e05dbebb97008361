#include "clients/metadata/graph_layout.h"

#include "base/alloc.h"

#include <stdlib.h>

#define SWEEPS 24u
#define BEND_WIDTH 8.0

/* State of a layout. Links are arcs without bends, or the parts of arcs between bends: each leads
 * to the next layer. */
struct graph_layout_state {
    struct graph_layout *l;
    struct graph_layout_link {
        uint32_t above, below;
    } *links;
    uint32_t link_count;
    uint32_t **rows, *row_counts; /* nodes of each layer, from left to right */
    double gap;
};

/* ---- arcs that close cycles ---- */

static void graph_layout_visit_depth_first(struct graph_layout *l, uint32_t node, uint8_t *met)
{
    met[node] = 1; /* on the current path */
    for (uint32_t i = 0; i < l->arc_count; i++) {
        struct graph_layout_arc *arc = &l->arcs[i];
        if (arc->from != node)
            continue;
        arc->back = met[arc->to] == 1;
        if (!met[arc->to])
            graph_layout_visit_depth_first(l, arc->to, met); /* at most l->count deep */
    }
    met[node] = 2;
}

static void graph_layout_find_back_arcs(struct graph_layout *l)
{
    uint8_t *met = xcalloc(l->count + 1, 1);
    bool *called = xcalloc(l->count + 1, sizeof *called);
    for (uint32_t i = 0; i < l->arc_count; i++)
        called[l->arcs[i].to] |= l->arcs[i].from != l->arcs[i].to;
    for (int round = 0; round < 2; round++) /* nodes without callers first */
        for (uint32_t i = 0; i < l->count; i++)
            if (!met[i] && (round || !called[i]))
                graph_layout_visit_depth_first(l, i, met);
    free(called);
    free(met);
}

/* ---- layers and bends ---- */

static void find_layers(struct graph_layout *l)
{
    bool more = true;
    for (uint32_t i = 0; i < l->count; i++)
        l->nodes[i].layer = 0;
    for (uint32_t round = 0; more && round <= l->count; round++) {
        more = false;
        for (uint32_t i = 0; i < l->arc_count; i++) {
            const struct graph_layout_arc *arc = &l->arcs[i];
            uint32_t least = l->nodes[arc->from].layer + 1;
            if (arc->back || l->nodes[arc->to].layer >= least)
                continue;
            l->nodes[arc->to].layer = least;
            more = true;
        }
    }
    for (uint32_t i = 0; i < l->count; i++)
        if (l->nodes[i].layer >= l->layer_count)
            l->layer_count = l->nodes[i].layer + 1;
}

static void add_link(struct graph_layout_state *o, uint32_t above, uint32_t below)
{
    struct graph_layout_link link = {above, below};
    ARRAY_PUSH(o->links, o->link_count, link);
}

/* Not ARRAY_PUSH: the caller allocated the array with another capacity. */
static uint32_t add_bend(struct graph_layout *l, uint32_t layer)
{
    l->nodes = xreallocarray(l->nodes, l->count + 1, sizeof *l->nodes);
    l->nodes[l->count] = (struct graph_layout_node){.width = BEND_WIDTH, .layer = layer};
    return l->count++;
}

static void graph_layout_split_arc(struct graph_layout_state *o, struct graph_layout_arc *arc)
{
    struct graph_layout *l = o->l;
    uint32_t last = arc->from;
    arc->bends = l->nodes[arc->to].layer - l->nodes[arc->from].layer - 1;
    arc->bend = l->count;
    for (uint32_t i = 0; i < arc->bends; i++) {
        uint32_t made = add_bend(l, l->nodes[arc->from].layer + 1 + i);
        add_link(o, last, made);
        last = made;
    }
    add_link(o, last, arc->to);
}

/* ---- the order in each layer ---- */

static void make_rows(struct graph_layout_state *o)
{
    struct graph_layout *l = o->l;
    o->rows = xcalloc(l->layer_count + 1, sizeof *o->rows);
    o->row_counts = xcalloc(l->layer_count + 1, sizeof *o->row_counts);
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t layer = l->nodes[i].layer;
        l->nodes[i].place = o->row_counts[layer];
        ARRAY_PUSH(o->rows[layer], o->row_counts[layer], i);
    }
}

static uint32_t graph_layout_count_crossings(const struct graph_layout_state *o)
{
    const struct graph_layout_node *n = o->l->nodes;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < o->link_count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct graph_layout_link *a = &o->links[i], *b = &o->links[k];
            if (n[a->above].layer != n[b->above].layer)
                continue;
            int above = n[a->above].place < n[b->above].place   ? -1
                        : n[a->above].place > n[b->above].place ? 1
                                                                : 0,
                below = n[a->below].place < n[b->below].place   ? -1
                        : n[a->below].place > n[b->below].place ? 1
                                                                : 0;
            sum += above * below < 0;
        }
    return sum;
}

/* Returns the mean x or place of a node's neighbors in the layer above or below; its own if it has
 * none. */
static double graph_layout_neighbor_mean(const struct graph_layout_state *o, uint32_t node, bool up,
                                         bool by_x)
{
    const struct graph_layout_node *n = o->l->nodes;
    double sum = 0, count = 0;
    for (uint32_t i = 0; i < o->link_count; i++) {
        const struct graph_layout_link *link = &o->links[i];
        if ((up ? link->below : link->above) != node)
            continue;
        const struct graph_layout_node *other = &n[up ? link->above : link->below];
        sum += by_x ? other->x : other->place;
        count++;
    }
    return count > 0 ? sum / count : by_x ? n[node].x : n[node].place;
}

/* Insertion sort: stable, and rows are short. */
static void sort_row(struct graph_layout_state *o, uint32_t layer, bool up)
{
    uint32_t *row = o->rows[layer], count = o->row_counts[layer];
    double *keys = xcalloc(count + 1, sizeof *keys);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = graph_layout_neighbor_mean(o, row[i], up, false);
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && keys[k] < keys[k - 1]; k--) {
            double key = keys[k];
            uint32_t node = row[k];
            keys[k] = keys[k - 1];
            row[k] = row[k - 1];
            keys[k - 1] = key;
            row[k - 1] = node;
        }
    for (uint32_t i = 0; i < count; i++)
        o->l->nodes[row[i]].place = i;
    free(keys);
}

static void graph_layout_save_order(struct graph_layout_state *o, uint32_t *places)
{
    for (uint32_t i = 0; i < o->l->count; i++)
        places[i] = o->l->nodes[i].place;
}

static void graph_layout_restore_order(struct graph_layout_state *o, const uint32_t *places)
{
    for (uint32_t i = 0; i < o->l->count; i++) {
        struct graph_layout_node *node = &o->l->nodes[i];
        node->place = places[i];
        o->rows[node->layer][node->place] = i;
    }
}

static void order_rows(struct graph_layout_state *o)
{
    uint32_t *best = xcalloc(o->l->count + 1, sizeof *best),
             least = graph_layout_count_crossings(o);
    graph_layout_save_order(o, best);
    for (uint32_t sweep = 0; least && sweep < SWEEPS; sweep++) {
        bool up = sweep % 2 == 0;
        for (uint32_t i = 1; i < o->l->layer_count; i++)
            sort_row(o, up ? i : o->l->layer_count - 1 - i, up);
        uint32_t now = graph_layout_count_crossings(o);
        if (now < least) {
            least = now;
            graph_layout_save_order(o, best);
        }
    }
    graph_layout_restore_order(o, best);
    free(best);
}

/* ---- positions ---- */

/* Places the nodes of a layer in their order, with least squares of the distances to their
 * neighbors' means: nodes that would overlap are merged to blocks (isotonic regression). */
static void place_row(struct graph_layout_state *o, uint32_t layer, bool up)
{
    uint32_t *row = o->rows[layer], count = o->row_counts[layer], blocks = 0;
    double *offset = xcalloc(count + 1, sizeof *offset), *sum = xcalloc(count + 1, sizeof *sum);
    uint32_t *size = xcalloc(count + 1, sizeof *size);
    for (uint32_t i = 0; i < count; i++) {
        const struct graph_layout_node *node = &o->l->nodes[row[i]];
        if (i)
            offset[i] = offset[i - 1] + o->gap + (o->l->nodes[row[i - 1]].width + node->width) / 2;
        sum[blocks] = graph_layout_neighbor_mean(o, row[i], up, true) - offset[i];
        size[blocks++] = 1;
        while (blocks > 1 &&
               sum[blocks - 2] / size[blocks - 2] > sum[blocks - 1] / size[blocks - 1]) {
            sum[blocks - 2] += sum[blocks - 1];
            size[blocks - 2] += size[blocks - 1];
            blocks--;
        }
    }
    for (uint32_t b = 0, i = 0; b < blocks; b++)
        for (uint32_t k = 0; k < size[b]; k++, i++)
            o->l->nodes[row[i]].x = sum[b] / size[b] + offset[i];
    free(offset);
    free(sum);
    free(size);
}

static void place_rows(struct graph_layout_state *o)
{
    struct graph_layout *l = o->l;
    double least = 0, most = 0;
    for (uint32_t i = 0; i < l->layer_count; i++)
        place_row(o, i, true);
    for (uint32_t sweep = 0; sweep < SWEEPS; sweep++)
        for (uint32_t i = 0; i < l->layer_count; i++)
            place_row(o, sweep % 2 ? i : l->layer_count - 1 - i, sweep % 2);
    for (uint32_t i = 0; i < l->count; i++) {
        double left = l->nodes[i].x - l->nodes[i].width / 2, right = left + l->nodes[i].width;
        least = !i || left < least ? left : least;
        most = !i || right > most ? right : most;
    }
    for (uint32_t i = 0; i < l->count; i++)
        l->nodes[i].x -= least;
    l->width = most - least;
}

void graph_layout_place(struct graph_layout *l, double gap)
{
    struct graph_layout_state o = {.l = l, .gap = gap};
    graph_layout_find_back_arcs(l);
    find_layers(l);
    for (uint32_t i = 0; i < l->arc_count; i++)
        if (!l->arcs[i].back)
            graph_layout_split_arc(&o, &l->arcs[i]);
    make_rows(&o);
    order_rows(&o);
    place_rows(&o);
    for (uint32_t i = 0; i < l->layer_count; i++)
        free(o.rows[i]);
    free(o.rows);
    free(o.row_counts);
    free(o.links);
}

void graph_layout_free(struct graph_layout *l)
{
    free(l->nodes);
    free(l->arcs);
    *l = (struct graph_layout){0};
}
