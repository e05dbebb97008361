#include "clients/metadata/icicle_layout.h"

#include "base/alloc.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- construction ---- */

uint32_t icicle_layout_group(struct icicle_layout *b, const char *name)
{
    for (uint32_t i = 0; i < b->group_count; i++)
        if (strcmp(b->groups[i].name, name) == 0)
            return i;
    struct icicle_group group = {.name = xstrdup(name)};
    ARRAY_PUSH(b->groups, b->group_count, group);
    return b->group_count - 1;
}

struct icicle_node *icicle_layout_add(struct icicle_layout *b, uint16_t depth, char *name)
{
    struct icicle_node node = {
        .name = name, .depth = depth, .row = UINT32_MAX, .parent = UINT32_MAX};
    ARRAY_PUSH(b->nodes, b->count, node);
    return &b->nodes[b->count - 1];
}

static void add_size(int64_t *to, int64_t size)
{
    if (__builtin_add_overflow(*to, size, to))
        *to = INT64_MAX;
}

static void icicle_layout_link_nodes(struct icicle_layout *b)
{
    uint32_t open[UINT16_MAX + 1u], depth = 0; /* the open node of each depth up to `depth` */
    for (uint32_t i = 0; i < b->count; i++) {
        struct icicle_node *node = &b->nodes[i];
        if (i && node->depth > depth + 1)
            node->depth = (uint16_t)(depth + 1);
        if (i && !node->depth)
            node->depth = 1;
        for (; i && depth >= node->depth; depth--)
            b->nodes[open[depth]].end = i;
        depth = node->depth;
        open[depth] = i;
        node->parent = depth ? open[depth - 1] : UINT32_MAX;
        node->end = b->count;
    }
}

/* Computes sizes from the last node to the first, so that everything below a node is done before
 * it. */
static void add_up(struct icicle_layout *b)
{
    int64_t *below = xcalloc(b->count + 1, sizeof *below);
    for (uint32_t i = b->count; i-- > 0;) {
        struct icicle_node *node = &b->nodes[i];
        int64_t least = below[i];
        add_size(&least, node->own);
        if (node->size < least)
            node->size = least;
        node->own = node->size - below[i];
        if (node->parent != UINT32_MAX)
            add_size(&below[node->parent], node->size);
    }
    free(below);
}

static void icicle_layout_rank_groups(struct icicle_layout *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->nodes[i].kind == ICICLE_BOX_CODE && i) {
            add_size(&b->groups[b->nodes[i].group].own, b->nodes[i].own);
            b->groups[b->nodes[i].group].occurs = true;
        }
    for (uint32_t i = 0; i < b->group_count; i++) {
        b->groups[i].rank = 0;
        for (uint32_t k = 0; k < b->group_count; k++)
            b->groups[i].rank +=
                b->groups[k].occurs && (b->groups[k].own > b->groups[i].own ||
                                        (b->groups[k].own == b->groups[i].own && k < i));
    }
}

void icicle_layout_finish(struct icicle_layout *b)
{
    icicle_layout_link_nodes(b);
    add_up(b);
    icicle_layout_rank_groups(b);
}

void icicle_layout_free(struct icicle_layout *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        free(b->nodes[i].name);
        free(b->nodes[i].brief);
        free(b->nodes[i].amount);
        free(b->nodes[i].change_text);
    }
    for (uint32_t i = 0; i < b->group_count; i++)
        free(b->groups[i].name);
    for (uint32_t i = 0; i < b->note_count; i++)
        free(b->notes[i]);
    free(b->nodes);
    free(b->groups);
    free(b->notes);
    free(b->title);
    free(b->measure);
    *b = (struct icicle_layout){0};
}

/* ---- placing ---- */

struct icicle_placing {
    const struct icicle_layout *boxes;
    struct icicle_boxes *places;
    uint32_t top; /* the displayed node */
    uint16_t above; /* number of its ancestors */
    int64_t least;
};

static void icicle_layout_append_box(struct icicle_placing *p, struct icicle_box placed)
{
    ARRAY_PUSH(p->places->items, p->places->count, placed);
    if (placed.depth >= p->places->rows)
        p->places->rows = placed.depth + 1u;
}

/* Appends a box for the children that are too narrow, behind the others. */
static void icicle_layout_append_smaller(struct icicle_placing *p, struct icicle_box placed)
{
    if (!placed.smaller)
        return;
    icicle_layout_append_box(p, placed);
    p->places->smaller += placed.smaller;
    add_size(&p->places->smaller_size, placed.size);
}

/* Appends the children of a placed node; the caller processes them later (breadth first). */
static void icicle_layout_append_children(struct icicle_placing *p, uint32_t at)
{
    struct icicle_box over = p->places->items[at];
    const struct icicle_node *nodes = p->boxes->nodes;
    int64_t x = over.at, narrow = 0;
    uint32_t smaller = 0;
    for (uint32_t i = over.node + 1; i < nodes[over.node].end; i = nodes[i].end) {
        if (nodes[i].size < p->least || !nodes[i].size) {
            smaller += nodes[i].end - i;
            add_size(&narrow, nodes[i].size);
            continue;
        }
        icicle_layout_append_box(
            p, (struct icicle_box){i, 0, x, nodes[i].size, (uint16_t)(over.depth + 1), false});
        x += nodes[i].size;
    }
    icicle_layout_append_smaller(
        p, (struct icicle_box){over.node, smaller, x, narrow, (uint16_t)(over.depth + 1), false});
}

static uint16_t icicle_layout_append_ancestors(struct icicle_placing *p, uint32_t node)
{
    uint16_t depth = p->boxes->nodes[node].depth;
    for (uint32_t i = node; p->boxes->nodes[i].parent != UINT32_MAX;) {
        i = p->boxes->nodes[i].parent;
        icicle_layout_append_box(p, (struct icicle_box){i, 0, 0, p->boxes->nodes[node].size,
                                                        p->boxes->nodes[i].depth, true});
    }
    return depth;
}

void icicle_layout_place(const struct icicle_layout *b, uint32_t node, int64_t least,
                         struct icicle_boxes *places)
{
    struct icicle_placing p = {b, places, node, 0, least};
    *places = (struct icicle_boxes){0};
    if (node >= b->count)
        return;
    p.above = icicle_layout_append_ancestors(&p, node);
    icicle_layout_append_box(&p,
                             (struct icicle_box){node, 0, 0, b->nodes[node].size, p.above, false});
    for (uint32_t at = places->count - 1; at < places->count; at++)
        if (!places->items[at].smaller)
            icicle_layout_append_children(&p, at);
}

void icicle_layout_places_free(struct icicle_boxes *places)
{
    free(places->items);
    *places = (struct icicle_boxes){0};
}

char *icicle_layout_path(const struct icicle_layout *b, uint32_t node)
{
    char *path = xstrdup(b->nodes[node].name);
    for (uint32_t i = b->nodes[node].parent; i != UINT32_MAX && i; i = b->nodes[i].parent) {
        char *longer = xasprintf("%s > %s", b->nodes[i].name, path);
        free(path);
        path = longer;
    }
    return path;
}

void icicle_layout_bytes(int64_t bytes, char *text, size_t room)
{
    struct byte_unit unit = byte_unit_for((double)bytes, 10240);
    double value = (double)bytes / unit.bytes;
    if (unit.bytes > 1)
        snprintf(text, room, "%.*f %s", value == floor(value) ? 0 : 1, value, unit.name);
    else
        snprintf(text, room, "%lld byte%s", (long long)bytes, bytes == 1 ? "" : "s");
}
