/* Layout with idle lines, and with very many lines: the cost of a window depends on its content
 * only. */
#include "tests/unit/random_windows.h"

/* Line 1 sends, and receives much later; in between there are events of line 2, and of line 3,
 * which is not drawn. */
static struct order *with_a_line_that_rests(uint64_t rounds)
{
    struct order *order = order_new();
    struct event_id sent = {1, 1}, returned = {2, rounds};
    for (uint32_t line = 1; line <= 3; line++)
        order_line(order, false, 1);
    order_insert(order, &(struct arrival){.at = sent, .relation = RELATION_SEND});
    order_insert(order, &(struct arrival){.at = {2, 1},
                                          .relation = RELATION_RECEIVE,
                                          .partners = &sent,
                                          .partner_count = 1});
    for (uint64_t i = 2; i <= rounds; i++) {
        order_insert(order, &(struct arrival){.at = {3, i - 1}, .relation = RELATION_NONE});
        order_insert(order,
                     &(struct arrival){.at = {2, i},
                                       .relation = i == rounds ? RELATION_SEND : RELATION_NONE});
    }
    order_insert(order, &(struct arrival){.at = {1, 2},
                                          .relation = RELATION_RECEIVE,
                                          .partners = &returned,
                                          .partner_count = 1});
    return order;
}

/* The cost of a window does not depend on how long a line is idle, and the window equals that of a
 * complete sweep. */
static void a_line_that_rests_is_not_waited_for(void **state)
{
    (void)state;
    const uint64_t rounds = 5000;
    struct order *order = with_a_line_that_rests(rounds);
    assert_int_equal(order_count(order), 2 * rounds + 1);
    memset(shown, 0, sizeof shown);
    shown[0] = shown[1] = 1;
    rows_from_shown();
    struct layout_params placing = {.anchor = rounds,
                                    .from = -10,
                                    .columns = 20,
                                    .row_of = row_of,
                                    .cluster = no_cluster,
                                    .rows = EXECUTION_LINES};
    struct layout_job *job = layout_columns_begin(order, &placing);
    for (uint64_t looked = 0; !layout_columns_step(job, 1); looked++)
        assert_true(looked < 500);
    struct layout_result p,
        all = window_at(order, rounds, -(int32_t)rounds - 2, 2 * (uint32_t)rounds + 4);
    layout_columns_collect(job, &p);
    assert_int_equal(p.count, 20);
    assert_true(p.more_left && p.more_right && !p.unresolved);
    assert_int_equal(p.before[0], 1); /* the send of line 1 is left of the window */
    for (size_t i = 0; i < p.count; i++) {
        bool found;
        assert_int_equal(p.events[i].column, column_of(&all, p.events[i].position, &found));
        assert_true(found);
    }
    layout_columns_end(job);
    layout_result_free(&p);
    layout_result_free(&all);
    order_free(order);
}

/* With too many lines to search each of them, the window has the same content. */
static void very_many_lines_are_placed_as_few(void **state)
{
    (void)state;
    uint32_t all_drawn[EXECUTION_LINES + 1];
    for (uint32_t i = 0; i <= EXECUTION_LINES; i++)
        all_drawn[i] = 1;
    memset(shown, 1, sizeof shown);
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (int n = 0; n < 10; n++) {
            uint64_t anchor =
                order_event(order, execution_random(&random, (uint32_t)order_count(order))).point;
            int32_t from = (int32_t)execution_random(&random, 24) - 16;
            struct layout_result few = window_at(order, anchor, from, 6), many;
            struct layout_params placing = {.anchor = anchor,
                                            .from = from,
                                            .columns = 6,
                                            .row_of = all_drawn,
                                            .cluster = no_cluster,
                                            .rows = 1,
                                            .many = true};
            layout_columns(order, &placing, &many);
            assert_int_equal(many.count, few.count);
            assert_false(many.unresolved);
            for (size_t i = 0; i < few.count; i++) {
                uint32_t line = order_event(order, few.events[i].position).line;
                assert_int_equal(many.events[i].position, few.events[i].position);
                assert_int_equal(many.events[i].column, few.events[i].column);
                assert_int_equal(many.before[line - 1], few.before[line - 1]);
            }
            layout_result_free(&few);
            layout_result_free(&many);
        }
        order_free(order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_that_rests_is_not_waited_for),
        cmocka_unit_test(very_many_lines_are_placed_as_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
