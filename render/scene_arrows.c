/* Arrows between marks: sync pairs, messages, order edges, groups, and stubs to lines that are not
 * shown. */
#include "render/scene_builder.h"

#include "base/alloc.h"
#include "wire/layout_results.h"

#include <stdlib.h>

static int by_event(const void *a, const void *b)
{
    struct event_id x = (*(const struct scene_mark *const *)a)->event->at,
                    y = (*(const struct scene_mark *const *)b)->event->at;
    if (x.line != y.line)
        return x.line < y.line ? -1 : 1;
    return x.number < y.number ? -1 : x.number > y.number;
}

/* Sorts the marks by event, for mark_of(). A row cannot be searched by x instead: on a shared line,
 * or in a line group, x does not grow with the numbers. */
static void sort_marks(struct builder *b)
{
    const struct scene *scene = b->scene;
    b->by_event = xmalloc((scene->mark_count + 1) * sizeof *b->by_event);
    for (uint32_t i = 0; i < scene->mark_count; i++)
        b->by_event[i] = &scene->marks[i];
    qsort(b->by_event, scene->mark_count, sizeof *b->by_event, by_event);
}

static const struct scene_mark *mark_of(const struct builder *b, struct event_id at)
{
    const struct event_info event = {.at = at};
    const struct scene_mark mark = {.event = &event}, *key = &mark;
    const struct scene_mark **found =
        bsearch(&key, b->by_event, b->scene->mark_count, sizeof *b->by_event, by_event);
    return found ? *found : NULL;
}

static void add_link(struct builder *b, enum scene_arrow kind, double x0, double y0, double x1,
                     double y1, bool head, const struct scene_mark *mark)
{
    struct scene_link link = {
        kind,        x0, y0, x1,   y1,  head, mark->state == EVENT_CONTRADICTORY,
        mark->color, 0,  0,  NULL, NULL};
    ARRAY_PUSH(b->scene->links, b->scene->link_count, link);
}

static void add_stub(struct builder *b, double x0, double y0, double x1, double y1, bool head,
                     const struct scene_mark *mark, uint32_t line)
{
    add_link(b, ARROW_STUB, x0, y0, x1, y1, head, mark);
    b->scene->links[b->scene->link_count - 1].line = line;
}

/* Does the description of an event ask for this arrow? */
static bool scene_arrows_style_has_arrow(const struct target_event *look, enum target_arrow arrow)
{
    return look && look->arrow == arrow;
}

/* Links a sync pair: with an arrow if the description of either event asks for one, else with a
 * line, added once, from the upper mark. */
static void link_pair(struct builder *b, const struct scene_mark *m, const struct scene_mark *other)
{
    bool there = scene_arrows_style_has_arrow(m->look, ARROW_TO_PARTNER) ||
                 scene_arrows_style_has_arrow(other->look, ARROW_FROM_PARTNER);
    bool here = scene_arrows_style_has_arrow(m->look, ARROW_FROM_PARTNER) ||
                scene_arrows_style_has_arrow(other->look, ARROW_TO_PARTNER);
    if (m->row != other->row && (there || (!here && m->row < other->row)))
        add_link(b, ARROW_SYNC, m->x_pt, m->y_pt, other->x_pt, other->y_pt, there, m);
}

static void link_sync(struct builder *b, const struct scene_mark *m)
{
    const struct event_info *e = m->event;
    if (e->partner_count == 0)
        return;
    int32_t row = scene_builder_row(b, e->partners[0].line);
    bool from_here = scene_arrows_style_has_arrow(m->look, ARROW_TO_PARTNER),
         to_here = scene_arrows_style_has_arrow(m->look, ARROW_FROM_PARTNER);
    if (row < 0) { /* its other line is hidden: a stub in its direction */
        double y = m->y_pt + 11;
        add_stub(b, m->x_pt, to_here ? y : m->y_pt, m->x_pt, to_here ? m->y_pt : y,
                 from_here || to_here, m, e->partners[0].line);
        return;
    }
    const struct scene_mark *other = mark_of(b, e->partners[0]);
    if (other)
        link_pair(b, m, other);
}

static void link_async(struct builder *b, const struct scene_mark *m)
{
    const struct event_info *e = m->event;
    for (uint32_t i = 0; i < e->partner_count; i++) {
        int32_t row = scene_builder_row(b, e->partners[i].line);
        const struct scene_mark *other = row < 0 ? NULL : mark_of(b, e->partners[i]);
        double y = row < 0 ? m->y_pt + 11 : b->scene->rows[row].y_pt;
        if (e->relation == RELATION_RECEIVE) {
            if (other)
                add_link(b, ARROW_ASYNC, other->x_pt, other->y_pt, m->x_pt, m->y_pt, true, m);
            else if (row < 0)
                add_stub(b, m->x_pt - 6, y, m->x_pt, m->y_pt, true, m, e->partners[i].line);
            else
                add_link(b, ARROW_ASYNC, b->scene->names_pt, y, m->x_pt, m->y_pt, true, m);
        } else if (!other && row < 0) {
            add_stub(b, m->x_pt, m->y_pt, m->x_pt + 6, y, true, m, e->partners[i].line);
        } else if (!other) {
            add_link(b, ARROW_ASYNC, m->x_pt, m->y_pt, b->scene->width_pt - 4, y, false, m);
        }
    }
}

/* Links messages that cross the whole window, from the left edge to the right: only their rows are
 * known. */
static void link_crossings(struct builder *b)
{
    const struct window_info *w = b->window;
    for (uint32_t i = 0; i < w->crossing_count; i++) {
        int32_t from = scene_builder_row(b, w->crossings[i].from.line),
                to = scene_builder_row(b, w->crossings[i].to.line);
        if (from < 0 || to < 0 || from == to)
            continue;
        struct scene_link link = {.kind = ARROW_CROSSING,
                                  .x0_pt = b->scene->names_pt,
                                  .y0_pt = b->scene->rows[from].y_pt,
                                  .x1_pt = b->scene->width_pt - 4,
                                  .y1_pt = b->scene->rows[to].y_pt,
                                  .color = {0.62, 0.62, 0.62}};
        ARRAY_PUSH(b->scene->links, b->scene->link_count, link);
    }
}

/* Links events ordered via lines that are not drawn: from the cause, or from the left edge if the
 * cause is outside the window. */
static void link_vias(struct builder *b)
{
    const struct window_info *w = b->window;
    for (uint32_t i = 0; i < w->via_count; i++) {
        int32_t from = scene_builder_row(b, w->vias[i].from.line),
                to = scene_builder_row(b, w->vias[i].to.line);
        const struct scene_mark *tail = from < 0 ? NULL : mark_of(b, w->vias[i].from),
                                *head = to < 0 ? NULL : mark_of(b, w->vias[i].to);
        if (from < 0 || !head)
            continue;
        struct scene_link link = {.kind = ARROW_VIA,
                                  .x0_pt = tail ? tail->x_pt : b->scene->names_pt,
                                  .y0_pt = b->scene->rows[from].y_pt,
                                  .x1_pt = head->x_pt,
                                  .y1_pt = head->y_pt,
                                  .head = true,
                                  .color = {0.55, 0.55, 0.55},
                                  .line = w->vias[i].line};
        ARRAY_PUSH(b->scene->links, b->scene->link_count, link);
    }
}

/* bend of an arrow within a row: clear of the row's marks and the next row's labels */
#define BOW_PT 8.0

/* Links order edges, where the later event's description asks for a dotted arrow. */
static void link_order(struct builder *b)
{
    const struct window_info *w = b->window;
    for (uint32_t i = 0; b->options->order_arrows && i < w->edge_count; i++) {
        struct event_id from = w->edges[i].from, to = w->edges[i].to;
        int32_t from_row = scene_builder_row(b, from.line), to_row = scene_builder_row(b, to.line);
        const struct scene_mark *tail = from_row < 0 ? NULL : mark_of(b, from),
                                *head = to_row < 0 ? NULL : mark_of(b, to);
        const struct target_event *look = head ? head->look : NULL;
        if (!tail || !look || look->arrow != ARROW_DOTTED)
            continue;
        add_link(b, ARROW_ORDER, tail->x_pt, tail->y_pt, head->x_pt, head->y_pt, true, head);
        struct scene_link *link = &b->scene->links[b->scene->link_count - 1];
        link->from = tail;
        link->to = head;
        link->bow_pt = from_row == to_row ? BOW_PT : 0;
    }
}

const struct scene_link *scene_hit_link(const struct scene *scene, double x, double y, double reach)
{
    const struct scene_link *best = NULL;
    double least = reach * reach;
    for (uint32_t i = 0; i < scene->link_count; i++) {
        const struct scene_link *l = &scene->links[i];
        double dx = l->x1_pt - l->x0_pt, dy = l->y1_pt - l->y0_pt, square = dx * dx + dy * dy;
        double t = square > 0 ? ((x - l->x0_pt) * dx + (y - l->y0_pt) * dy) / square : 0;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        double ex = l->x0_pt + t * dx - x, ey = l->y0_pt + t * dy - y, away = ex * ex + ey * ey;
        if (!l->line || away > least)
            continue;
        least = away;
        best = l;
    }
    return best;
}

/* Links the first member of a group in this row with one in the next row that has any. */
static void link_group(struct builder *b, const struct scene_mark *m)
{
    const struct scene_mark *next = NULL;
    for (uint32_t i = 0; i < b->scene->mark_count; i++) {
        const struct scene_mark *o = &b->scene->marks[i];
        if (o->event->group != m->event->group)
            continue;
        if (o->row == m->row && o < m)
            return;
        if (o->row > m->row && (!next || o->row < next->row))
            next = o;
    }
    if (next)
        add_link(b, ARROW_GROUP, m->x_pt, m->y_pt, next->x_pt, next->y_pt, false, m);
}

void scene_arrows_build(struct builder *b)
{
    sort_marks(b);
    link_crossings(b); /* first, below the others */
    link_vias(b);
    link_order(b);
    for (uint32_t i = 0; i < b->scene->mark_count; i++) {
        const struct scene_mark *m = &b->scene->marks[i];
        if (m->state == EVENT_PENDING)
            continue;
        if (m->event->relation == RELATION_SYNC)
            link_sync(b, m);
        else if (m->event->relation == RELATION_SEND || m->event->relation == RELATION_RECEIVE)
            link_async(b, m);
        else if (m->event->relation == RELATION_GROUP && m->event->group)
            link_group(b, m);
    }
    free(b->by_event);
    b->by_event = NULL;
}
