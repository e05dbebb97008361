/* Loops of control flow graphs (clients/connection/block_graph.h), in small ones with known loops,
 * and in random ones, where the blocks of each loop are found by a search without its header. */
#include "base/alloc.h"
#include "clients/connection/block_graph.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define NONE BLOCK_GRAPH_NONE

/* Blocks are numbers; block 1 is the begin of the function. */
static uint32_t node(struct block_graph *g, uint64_t address, int line)
{
    uint32_t number = block_graph_node(g, (struct table_place){1, address * 16});
    if (!g->nodes[number].file) {
        g->nodes[number].function = xstrdup("f");
        g->nodes[number].file = xstrdup("f.c");
        g->nodes[number].line = line;
    }
    return number;
}

static void edge(struct block_graph *g, uint64_t from, uint64_t to, int64_t count)
{
    uint32_t a = from ? node(g, from, (int)from) : NONE, b = node(g, to, (int)to);
    block_graph_add(g, (struct block_graph_edge){.from = a, .to = b, .count = count});
}

static uint64_t address_of(const struct block_graph *g, uint32_t block)
{
    return g->nodes[block].place.address / 16;
}

static void a_loop_has_entries_and_iterations(void **state)
{
    (void)state;
    /* while: 2 tests and is plain, 3 is the body, 4 is behind it */
    struct block_graph g = {0};
    edge(&g, 0, 1, 2);
    edge(&g, 1, 2, 2);
    edge(&g, 2, 3, 10);
    edge(&g, 3, 2, 10);
    edge(&g, 2, 4, 2);
    block_graph_find_loops(&g);
    assert_int_equal(g.loop_count, 1);
    struct block_loop_sums s = block_graph_sum_loop(&g, &g.loops[0], 0);
    assert_int_equal(s.entries, 2);
    assert_int_equal(s.back_edges, 10);
    assert_int_equal(s.iterations, 12); /* unless the header is a test */
    g.nodes[g.loops[0].header].plain = true;
    assert_int_equal(block_graph_sum_loop(&g, &g.loops[0], 0).iterations, 10);
    g.nodes[g.loops[0].header].line = 0;
    assert_true(block_graph_sum_loop(&g, &g.loops[0], 0).iterations_unknown);
    block_graph_free(&g);
}

static void nested_loops_with_one_header_are_told_apart_by_lines(void **state)
{
    (void)state;
    /* 5 is the body of both, 3 the rest of the outer one, on a line above */
    struct block_graph g = {0};
    edge(&g, 0, 1, 1);
    edge(&g, 1, 5, 1);
    edge(&g, 5, 5, 12);
    edge(&g, 5, 3, 4);
    edge(&g, 3, 5, 3);
    edge(&g, 3, 9, 1);
    block_graph_find_loops(&g);
    assert_int_equal(g.loop_count, 2);
    struct block_loop_sums inner = block_graph_sum_loop(&g, &g.loops[0], 0),
                           outer = block_graph_sum_loop(&g, &g.loops[1], 0);
    assert_int_equal(g.loops[0].depth, 2);
    assert_int_equal(g.loops[0].outer, 1);
    assert_int_equal(inner.entries, 4);
    assert_int_equal(inner.iterations, 16);
    assert_int_equal(outer.entries, 1);
    assert_int_equal(outer.iterations, 4);
    block_graph_free(&g);
    /* the rest of a loop with continue is on lines below */
    edge(&g, 0, 1, 1);
    edge(&g, 1, 5, 1);
    edge(&g, 5, 5, 12);
    edge(&g, 5, 7, 4);
    edge(&g, 7, 5, 3);
    edge(&g, 7, 9, 1);
    block_graph_find_loops(&g);
    assert_int_equal(g.loop_count, 1);
    assert_int_equal(block_graph_sum_loop(&g, &g.loops[0], 0).iterations, 16);
    block_graph_free(&g);
}

static void unknown_ways_into_a_loop_are_counted(void **state)
{
    (void)state;
    struct block_graph g = {0};
    edge(&g, 0, 1, 1);
    edge(&g, 1, 2, 1);
    edge(&g, 2, 3, 5);
    edge(&g, 0, 3, 2); /* after a handler on another stack */
    edge(&g, 3, 2, 6);
    edge(&g, 2, 4, 1);
    block_graph_find_loops(&g);
    assert_int_equal(g.loop_count, 1);
    assert_int_equal(block_graph_sum_loop(&g, &g.loops[0], 0).unknown, 2);
    assert_int_equal(block_graph_sum_loop(&g, &g.loops[0], 0).entries, 1);
    block_graph_free(&g);
}

static void a_loop_with_two_entries_is_none(void **state)
{
    (void)state;
    struct block_graph g = {0};
    edge(&g, 0, 1, 1);
    edge(&g, 1, 2, 1);
    edge(&g, 1, 3, 1);
    edge(&g, 2, 3, 5);
    edge(&g, 3, 2, 5);
    block_graph_find_loops(&g);
    assert_int_equal(g.loop_count, 0);
    assert_true(g.components[0].irreducible > 0);
    block_graph_free(&g);
}

/* Returns whether a block is reached from the begin without passing another one. */
static bool reaches(const struct block_graph *g, uint32_t from, uint32_t to, uint32_t without,
                    bool *seen)
{
    if (from == without)
        return false;
    if (from == to)
        return true;
    seen[from] = true;
    for (size_t i = 0; i < g->edge_count; i++)
        if (g->edges[i].from == from && g->edges[i].kind == BLOCK_EDGE_FLOW &&
            !seen[g->edges[i].to] && reaches(g, g->edges[i].to, to, without, seen))
            return true;
    return false;
}

static void loops_of_random_graphs_are_natural_loops(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        struct block_graph g = {0};
        srand(seed);
        edge(&g, 0, 1, 1);
        for (unsigned i = 2; i <= 12; i++)
            edge(&g, 1 + (unsigned)rand() % (i - 1), i, 1);
        for (unsigned i = 0; i < 8; i++)
            edge(&g, 2 + (unsigned)rand() % 11, 2 + (unsigned)rand() % 11, 1);
        block_graph_find_loops(&g);
        uint32_t entry = g.components[0].entry, back = 0, counted = 0;
        assert_int_equal(address_of(&g, entry), 1);
        for (size_t i = 0; i < g.edge_count; i++) {
            const struct block_graph_edge *e = &g.edges[i];
            bool seen[64] = {0};
            if (e->kind == BLOCK_EDGE_FLOW)
                back += !reaches(&g, entry, e->from, e->to, seen);
        }
        for (size_t i = 0; i < g.loop_count; i++) {
            const struct block_loop *loop = &g.loops[i];
            counted += (uint32_t)block_graph_sum_loop(&g, loop, 0).back_edges;
            for (uint32_t k = 0; k < loop->count; k++) {
                bool seen[64] = {0};
                assert_true(!reaches(&g, entry, loop->blocks[k], loop->header, seen));
            }
        }
        assert_int_equal(counted, back);
        block_graph_free(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_has_entries_and_iterations),
        cmocka_unit_test(nested_loops_with_one_header_are_told_apart_by_lines),
        cmocka_unit_test(unknown_ways_into_a_loop_are_counted),
        cmocka_unit_test(a_loop_with_two_entries_is_none),
        cmocka_unit_test(loops_of_random_graphs_are_natural_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
