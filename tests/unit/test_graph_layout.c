/* Layered graph layout: callers above callees, no overlapping nodes, cycles broken at one arc, the
 * same result each time. */
#include "clients/metadata/graph_layout.h"
#include "base/alloc.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static struct graph_layout graph(uint32_t count, const uint32_t (*arcs)[2], uint32_t arc_count)
{
    struct graph_layout l = {.nodes = xcalloc(count + 1, sizeof *l.nodes),
                             .arcs = xcalloc(arc_count + 1, sizeof *l.arcs),
                             .count = count,
                             .arc_count = arc_count};
    for (uint32_t i = 0; i < count; i++)
        l.nodes[i].width = 40 + 10 * (i % 3);
    for (uint32_t i = 0; i < arc_count; i++)
        l.arcs[i] = (struct graph_layout_arc){.from = arcs[i][0], .to = arcs[i][1]};
    return l;
}

static void callers_are_above(void **state)
{
    (void)state;
    static const uint32_t arcs[][2] = {{0, 1}, {1, 2}, {0, 2}, {2, 1}, {2, 2}};
    struct graph_layout l = graph(3, arcs, 5);
    graph_layout_place(&l, 10);
    assert_int_equal(l.layer_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(l.nodes[i].layer, i);
    assert_false(l.arcs[0].back || l.arcs[1].back || l.arcs[2].back);
    assert_true(l.arcs[3].back && l.arcs[4].back);
    assert_int_equal(l.arcs[2].bends, 1);
    assert_int_equal(l.nodes[l.arcs[2].bend].layer, 1);
    graph_layout_free(&l);
}

/* The nodes of the second layer are in the order of their callers. */
static void arrows_do_not_cross_without_need(void **state)
{
    (void)state;
    static const uint32_t arcs[][2] = {{0, 5}, {1, 4}, {2, 3}};
    struct graph_layout l = graph(6, arcs, 3);
    graph_layout_place(&l, 10);
    bool rises = l.nodes[0].x < l.nodes[1].x;
    assert_int_equal(l.nodes[5].x < l.nodes[4].x, rises);
    assert_int_equal(l.nodes[4].x < l.nodes[3].x, l.nodes[1].x < l.nodes[2].x);
    graph_layout_free(&l);
}

static void is_sound(const struct graph_layout *l, double gap)
{
    for (uint32_t i = 0; i < l->arc_count; i++)
        if (!l->arcs[i].back)
            assert_true(l->nodes[l->arcs[i].from].layer < l->nodes[l->arcs[i].to].layer);
    for (uint32_t i = 0; i < l->count; i++) {
        const struct graph_layout_node *a = &l->nodes[i];
        assert_true(a->x - a->width / 2 > -1e-6 && a->x + a->width / 2 < l->width + 1e-6);
        for (uint32_t k = 0; k < i; k++) {
            const struct graph_layout_node *b = &l->nodes[k];
            double apart = a->x < b->x ? b->x - a->x : a->x - b->x;
            assert_true(a->layer != b->layer || apart > (a->width + b->width) / 2 + gap - 1e-6);
        }
    }
}

static void nobody_stands_over_anybody(void **state)
{
    (void)state;
    srand(11);
    for (int round = 0; round < 60; round++) {
        uint32_t count = 1 + (uint32_t)rand() % 30, arc_count = (uint32_t)rand() % 60;
        uint32_t(*arcs)[2] = xcalloc(arc_count + 1, sizeof *arcs);
        for (uint32_t i = 0; i < arc_count; i++)
            for (int k = 0; k < 2; k++)
                arcs[i][k] = (uint32_t)rand() % count;
        struct graph_layout l = graph(count, (const uint32_t(*)[2])arcs, arc_count),
                            again = graph(count, (const uint32_t(*)[2])arcs, arc_count);
        graph_layout_place(&l, 12);
        graph_layout_place(&again, 12);
        is_sound(&l, 12);
        assert_int_equal(l.count, again.count);
        for (uint32_t i = 0; i < l.count; i++)
            assert_true(l.nodes[i].x >= again.nodes[i].x && l.nodes[i].x <= again.nodes[i].x);
        graph_layout_free(&l);
        graph_layout_free(&again);
        free(arcs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_above),
        cmocka_unit_test(arrows_do_not_cross_without_need),
        cmocka_unit_test(nobody_stands_over_anybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
