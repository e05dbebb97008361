/* Icicle layout: no box is narrower than those below it, nothing is lost, and boxes that are too
 * narrow are counted. */
#include "clients/metadata/icicle_layout.h"
#include "base/alloc.h"
#include "render/icicle_drawing.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void add(struct icicle_layout *b, uint16_t depth, const char *name, int64_t own,
                int64_t size)
{
    struct icicle_node *node = icicle_layout_add(b, depth, xstrdup(name));
    node->own = own;
    node->size = size;
    node->amount = xasprintf("%d", (int)(own > size ? own : size));
    node->group = icicle_layout_group(b, own % 2 ? "odd.c" : "even.c");
}

/* Returns a tree of 100: a 60 (b 20 (c 5), d 30), e 30; 10 are in no child. */
static struct icicle_layout small(void)
{
    struct icicle_layout b = {.title = xstrdup("t"), .measure = xstrdup("total")};
    add(&b, 0, "all", 0, 100);
    add(&b, 1, "a", 0, 60);
    add(&b, 2, "b", 0, 20);
    add(&b, 3, "c", 5, 0);
    add(&b, 2, "d", 30, 0);
    add(&b, 1, "e", 0, 30);
    icicle_layout_finish(&b);
    return b;
}

static void sizes_add_up(void **state)
{
    (void)state;
    struct icicle_layout b = small();
    static const int64_t size[] = {100, 60, 20, 5, 30, 30}, own[] = {10, 10, 15, 5, 30, 30};
    static const uint32_t parent[] = {UINT32_MAX, 0, 1, 2, 1, 0}, end[] = {6, 5, 4, 4, 5, 6};
    for (uint32_t i = 0; i < b.count; i++) {
        assert_int_equal(b.nodes[i].size, size[i]);
        assert_int_equal(b.nodes[i].own, own[i]);
        assert_int_equal(b.nodes[i].parent, parent[i]);
        assert_int_equal(b.nodes[i].end, end[i]);
    }
    char *path = icicle_layout_path(&b, 3);
    assert_string_equal(path, "a > b > c");
    free(path);
    icicle_layout_free(&b);
}

/* A node smaller than the sum of its children is as wide as they are. */
static void what_is_below_is_never_wider(void **state)
{
    (void)state;
    struct icicle_layout b = {0};
    add(&b, 0, "all", 0, 5);
    add(&b, 1, "a", 0, 7);
    add(&b, 2, "b", 0, 9);
    add(&b, 5, "c", 0, 4); /* too deep: becomes a child of the previous node */
    icicle_layout_finish(&b);
    assert_int_equal(b.nodes[0].size, 9);
    assert_int_equal(b.nodes[1].size, 9);
    assert_int_equal(b.nodes[1].own, 0);
    assert_int_equal(b.nodes[3].depth, 3);
    assert_int_equal(b.nodes[2].own, 5);
    icicle_layout_free(&b);
}

static void a_node_is_looked_at_below_those_that_it_lies_in(void **state)
{
    (void)state;
    struct icicle_layout b = small();
    struct icicle_boxes p;
    icicle_layout_place(&b, 2, 1, &p);
    assert_int_equal(p.count, 4);
    assert_int_equal(p.rows, 4);
    for (uint32_t i = 0; i < p.count; i++) {
        assert_int_equal(p.items[i].above, p.items[i].node < 2);
        assert_int_equal(p.items[i].at, 0);
        assert_int_equal(p.items[i].size, p.items[i].node == 3 ? 5 : 20);
        assert_int_equal(p.items[i].depth, b.nodes[p.items[i].node].depth);
    }
    icicle_layout_places_free(&p);
    icicle_layout_free(&b);
}

static struct icicle_layout random_tree(uint32_t count)
{
    struct icicle_layout b = {0};
    uint16_t depth = 0;
    add(&b, 0, "all", 0, 0);
    for (uint32_t i = 1; i < count; i++) {
        depth = (uint16_t)(1 + (uint32_t)rand() % (depth < 30 ? depth + 1u : 30u));
        add(&b, depth, "x", rand() % 4 ? rand() % 1000 : 0, 0);
    }
    icicle_layout_finish(&b);
    return b;
}

/* Each node is drawn or counted as too narrow; siblings do not overlap. */
static void nothing_is_lost(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 200; round++) {
        struct icicle_layout b = random_tree(1 + (uint32_t)rand() % 300);
        struct icicle_boxes p;
        icicle_layout_place(&b, 0, rand() % 5000, &p);
        uint32_t drawn = 0, smaller = 0;
        int64_t own = 0;
        for (uint32_t i = 0; i < p.count; i++) {
            const struct icicle_box *q = &p.items[i];
            drawn += !q->smaller;
            smaller += q->smaller;
            own += q->smaller ? q->size : b.nodes[q->node].own;
            assert_true(q->at >= 0 && q->at + q->size <= b.nodes[0].size);
            for (uint32_t k = 0; k < i; k++)
                assert_true(p.items[k].depth != q->depth ||
                            p.items[k].at + p.items[k].size <= q->at ||
                            q->at + q->size <= p.items[k].at);
        }
        assert_int_equal(drawn + smaller, b.count);
        assert_int_equal(smaller, p.smaller);
        assert_int_equal(own, b.nodes[0].size);
        icicle_layout_places_free(&p);
        icicle_layout_free(&b);
    }
}

static void groups_are_ranked_by_what_they_took(void **state)
{
    (void)state;
    struct icicle_layout b = small();
    assert_int_equal(b.groups[icicle_layout_group(&b, "even.c")].rank, 0);
    assert_int_equal(b.groups[icicle_layout_group(&b, "odd.c")].rank, 1);
    icicle_layout_free(&b);
}

static void in_letters(void **state)
{
    (void)state;
    struct icicle_layout b = small();
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    icicle_text_print(&b, 41, f);
    fclose(f);
    assert_string_equal(text, "t: as wide as total\n"
                              "|all  100                               |\n"
                              "|a  60                  |e  30      |\n"
                              "|b  20  |d  30      |\n"
                              "|~|\n"
                              "note: 1 box narrower than 8 merged into \"(other)\": 5 in total.\n");
    free(text);
    icicle_layout_free(&b);
}

/* Nodes of size 0 are not counted as too narrow. */
static void of_nothing(void **state)
{
    (void)state;
    struct icicle_layout b = small();
    struct icicle_boxes places;
    char *said = NULL;
    for (uint32_t i = 0; i < b.count; i++)
        if (b.nodes[i].size == 5)
            b.nodes[i].size = 0;
    icicle_layout_place(&b, 0, 8, &places);
    said = icicle_page_smaller_text(&b, &places, 8);
    assert_null(said);
    icicle_layout_places_free(&places);
    icicle_layout_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_add_up),
        cmocka_unit_test(what_is_below_is_never_wider),
        cmocka_unit_test(a_node_is_looked_at_below_those_that_it_lies_in),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(groups_are_ranked_by_what_they_took),
        cmocka_unit_test(in_letters),
        cmocka_unit_test(of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
