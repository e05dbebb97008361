/* Layout of events: columns, scrolling, line moves, line groups, collapsed repeats. */
#include "tests/unit/random_windows.h"

#include <stdlib.h>
#include <string.h>

static void causes_stand_left_and_pairs_share_a_column(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (uint32_t i = 0; i < x.lines; i++)
            shown[i] = seed % 3 == 0 || execution_random(&random, 3) > 0;
        uint64_t anchor = execution_random(&random, (uint32_t)order_count(order));
        anchor = order_event(order, anchor).point;
        struct layout_result p = window_at(order, anchor, -1000, 2000);
        for (uint32_t a = 0; a < x.count; a++) {
            bool is_a, is_b;
            int32_t ca = column_of(&p, order_position(order, x.arrivals[a].at), &is_a);
            assert_int_equal(is_a, shown[x.arrivals[a].at.line - 1]);
            for (uint32_t b = 0; is_a && b < x.count; b++) {
                int32_t cb = column_of(&p, order_position(order, x.arrivals[b].at), &is_b);
                if (is_b && x.point[a] == x.point[b])
                    assert_int_equal(ca, cb);
                if (is_b && x.before[x.point[a]][x.point[b]])
                    assert_true(ca < cb);
            }
        }
        layout_result_free(&p);
        order_free(order);
    }
}

/* Hidden lines take no columns: each column between the first and the last has a mark, and each
 * mark is in the column after that of one that it follows. */
static void nothing_is_blank_that_the_order_does_not_force(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (uint32_t i = 0; i < x.lines; i++)
            shown[i] = execution_random(&random, 2) > 0;
        struct layout_result p = window_at(order, 0, 0, 2000);
        bool used[2000] = {false};
        for (size_t i = 0; i < p.count; i++)
            used[p.events[i].column] = true;
        for (int32_t c = 0; p.count && c <= p.last; c++)
            assert_true(used[c]);
        layout_result_free(&p);
        p = window_at(order, order_count(order), -2000, 2000);
        memset(used, 0, sizeof used);
        for (size_t i = 0; i < p.count; i++)
            used[-p.events[i].column - 1] = true;
        for (int32_t c = 0; p.count && c <= -p.first - 1; c++)
            assert_true(used[c]);
        layout_result_free(&p);
        order_free(order);
    }
}

static void scrolling_by_columns_is_rigid(void **state)
{
    (void)state;
    memset(shown, 1, sizeof shown);
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        uint64_t anchor = execution_random(&random, (uint32_t)order_count(order) + 1);
        anchor = anchor < order_count(order) ? order_event(order, anchor).point : anchor;
        struct layout_result all = window_at(order, anchor, -1000, 2000);
        for (int n = 0; n < 10; n++) {
            int32_t from = (int32_t)execution_random(&random, 60) - 30;
            struct layout_result some = window_at(order, anchor, from, 12);
            size_t k = 0;
            for (size_t i = 0; i < all.count; i++) {
                if (all.events[i].column < from || all.events[i].column >= from + 12)
                    continue;
                assert_true(k < some.count);
                assert_int_equal(some.events[k].position, all.events[i].position);
                assert_int_equal(some.events[k].column, all.events[i].column);
                k++;
            }
            assert_int_equal(k, some.count);
            layout_result_free(&some);
        }
        layout_result_free(&all);
        order_free(order);
    }
}

/* ---- line moves, with Taylor's requirements of scrolling ---- */

static struct layout_result moved_window(struct order *order, uint64_t anchor,
                                         const struct line_move *moves, size_t count)
{
    struct layout_params placing = {.anchor = anchor,
                                    .moves = moves,
                                    .move_count = count,
                                    .from = -1000,
                                    .columns = 2000,
                                    .row_of = row_of,
                                    .cluster = no_cluster,
                                    .rows = EXECUTION_LINES};
    struct layout_result placement;
    rows_from_shown();
    layout_columns(order, &placing, &placement);
    return placement;
}

static uint64_t *cut_with(struct order *order, uint64_t anchor, struct line_move move)
{
    struct layout_params placing = {
        .anchor = anchor, .moves = &move, .move_count = move.events != 0};
    return layout_cut(order, &placing);
}

/* Checks that the cut is consistent. */
static void assert_consistent(struct order *order, const uint64_t *cut)
{
    for (uint32_t a = 0; a < x.count; a++)
        for (uint32_t b = 0; b < x.count; b++) {
            uint64_t pa = order_position(order, x.arrivals[a].at);
            uint64_t pb = order_position(order, x.arrivals[b].at);
            bool left_a = pa < cut[x.arrivals[a].at.line - 1],
                 left_b = pb < cut[x.arrivals[b].at.line - 1];
            if (x.before[x.point[a]][x.point[b]] && left_b)
                assert_true(left_a);
            if (x.point[a] == x.point[b])
                assert_int_equal(left_a, left_b);
        }
}

static uint64_t events_left(struct order *order, uint32_t line, const uint64_t *cut)
{
    return order_line_from(order, line, cut[line - 1]);
}

/* Priority: the moved line moves as requested. Minimal change: other lines move only as the order,
 * or the succession drawn on shared lines, requires. Unidirectional: all lines move in the same
 * direction. Monotonic: a larger move moves each line at least as much. */
static void moving_a_line_moves_others_only_as_forced(void **state)
{
    (void)state;
    memset(shown, 1, sizeof shown);
    for (unsigned seed = 1; seed <= 300; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        uint64_t anchor = execution_random(&random, (uint32_t)order_count(order));
        anchor = order_event(order, anchor).point;
        uint32_t line = 1 + execution_random(&random, x.lines);
        int32_t by = 1 + (int32_t)execution_random(&random, 6);
        by = seed % 2 ? by : -by;
        struct line_move none = {0}, move = {.line = line, .events = by},
                         larger = {.line = line, .events = 2 * by};
        uint64_t *before = cut_with(order, anchor, none), *after = cut_with(order, anchor, move);
        uint64_t *further = cut_with(order, anchor, larger);
        assert_consistent(order, after);
        uint64_t n = order_line_events(order, line), old = events_left(order, line, before);
        uint64_t want = by > 0 ? (old + (uint64_t)by > n ? n : old + (uint64_t)by)
                               : (old < (uint64_t)-by ? 0 : old - (uint64_t)-by);
        uint64_t got = events_left(order, line, after);
        if (by > 0)
            /* more, where the move pushes out what is after it on the line */
            assert_true(got >= want);
        else
            assert_true(got <= want);
        if (!x.shared[line])
            assert_int_equal(got, want);
        for (uint32_t l = 1; l <= x.lines; l++) {
            uint64_t a = events_left(order, l, before), b = events_left(order, l, after);
            uint64_t c = events_left(order, l, further);
            assert_true(by > 0 ? b >= a && c >= b : b <= a && c <= b);
        }
        free(before);
        free(after);
        free(further);
        order_free(order);
    }
}

/* A window depends only on its anchor and moves: requested again, it is the same. */
static void undoing_gives_the_same_picture(void **state)
{
    (void)state;
    memset(shown, 1, sizeof shown);
    for (unsigned seed = 1; seed <= 100; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        uint64_t anchor =
            order_event(order, execution_random(&random, (uint32_t)order_count(order))).point;
        struct line_move moves[3];
        for (int i = 0; i < 3; i++)
            moves[i] = (struct line_move){.line = 1 + execution_random(&random, x.lines),
                                          .events = (int32_t)execution_random(&random, 9) - 4};
        struct layout_result first = moved_window(order, anchor, moves, 2);
        struct layout_result other = moved_window(order, anchor, moves, 3);
        struct layout_result again = moved_window(order, anchor, moves, 2);
        assert_int_equal(first.count, again.count);
        assert_int_equal(first.count, order_figures(order).events); /* moving loses no event */
        for (size_t i = 0; i < first.count; i++) {
            assert_int_equal(first.events[i].position, again.events[i].position);
            assert_int_equal(first.events[i].column, again.events[i].column);
        }
        for (uint32_t a = 0; a < x.count; a++)
            for (uint32_t b = 0; b < x.count; b += 3) {
                bool is_a, is_b;
                int32_t ca = column_of(&other, order_position(order, x.arrivals[a].at), &is_a);
                int32_t cb = column_of(&other, order_position(order, x.arrivals[b].at), &is_b);
                if (x.before[x.point[a]][x.point[b]])
                    assert_true(ca < cb);
            }
        layout_result_free(&first);
        layout_result_free(&other);
        layout_result_free(&again);
        order_free(order);
    }
}

/* A layout that reuses an earlier sweep equals a new one. */
static void going_on_is_the_same_as_beginning_anew(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (uint32_t i = 0; i < x.lines; i++)
            shown[i] = execution_random(&random, 4) > 0;
        rows_from_shown();
        uint64_t anchor =
            order_event(order, execution_random(&random, (uint32_t)order_count(order))).point;
        struct layout_params placing = {.anchor = anchor,
                                        .columns = 5,
                                        .row_of = row_of,
                                        .cluster = no_cluster,
                                        .rows = EXECUTION_LINES};
        struct layout_job *job = layout_columns_begin(order, &placing);
        for (int n = 0; n < 12; n++) {
            struct layout_result a, b;
            placing.from = (int32_t)execution_random(&random, 80) - 40;
            placing.columns = 1 + execution_random(&random, 30);
            layout_columns_want(job, placing.from, placing.columns);
            while (!layout_columns_step(job, 7))
                ;
            layout_columns_collect(job, &a);
            layout_columns(order, &placing, &b);
            assert_int_equal(a.count, b.count);
            assert_int_equal(a.more_left, b.more_left);
            assert_int_equal(a.more_right, b.more_right);
            for (size_t i = 0; i < a.count; i++) {
                assert_int_equal(a.events[i].position, b.events[i].position);
                assert_int_equal(a.events[i].column, b.events[i].column);
            }
            for (uint32_t line = 1; line <= x.lines; line++)
                assert_int_equal(a.before[line - 1], b.before[line - 1]);
            layout_result_free(&a);
            layout_result_free(&b);
        }
        layout_columns_end(job);
        order_free(order);
    }
}

/* In the row of a line group, marks have different columns, and those that are related to other
 * rows are shown. */
static void a_cluster_shows_what_ties_it_to_others(void **state)
{
    (void)state;
    static uint8_t cluster[EXECUTION_LINES];
    for (unsigned seed = 1; seed <= 200; seed++) {
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (uint32_t i = 0; i < x.lines; i++)
            row_of[i] = i < x.lines / 2 ? 1 : i + 1;
        cluster[0] = 1;
        struct layout_params placing = {.anchor = seed % 2 ? 0 : order_count(order),
                                        .from = -1000,
                                        .columns = 2000,
                                        .row_of = row_of,
                                        .cluster = cluster,
                                        .rows = EXECUTION_LINES};
        struct layout_result p;
        layout_columns(order, &placing, &p);
        int32_t last = INT32_MIN;
        for (size_t i = 0; i < p.count; i++) {
            if (row_of[order_event(order, p.events[i].position).line - 1] != 1)
                continue;
            assert_true(p.events[i].column > last ||
                        (p.events[i].column == last && i && /* both events of a pair */
                         order_event(order, p.events[i].position).point ==
                             order_event(order, p.events[i - 1].position).point));
            last = p.events[i].column;
        }
        for (uint32_t a = 0; a < x.count; a++) {
            bool found;
            bool inside = x.arrivals[a].at.line <= x.lines / 2;
            bool tied = x.arrivals[a].relation == RELATION_SYNC && x.partners[a].line > x.lines / 2;
            column_of(&p, order_position(order, x.arrivals[a].at), &found);
            if (!inside || tied)
                assert_true(found);
        }
        layout_result_free(&p);
        order_free(order);
    }
}

static void folding_hides_no_order(void **state)
{
    (void)state;
    struct order *order = order_new(); /* one thread visits one object ten times */
    uint32_t thread = order_line(order, false, 1), object = order_line(order, false, 2);
    for (uint64_t i = 0; i < 10; i++) {
        struct event_id t[2] = {{thread, 2 * i + 1}, {thread, 2 * i + 2}};
        struct event_id o[2] = {{object, 2 * i + 1}, {object, 2 * i + 2}};
        for (int k = 0; k < 2; k++) {
            struct arrival a = {.at = t[k],
                                .thread = thread,
                                .type = 1,
                                .relation = RELATION_SYNC,
                                .partners = &o[k],
                                .partner_count = 1};
            struct arrival b = {.at = o[k],
                                .thread = thread,
                                .type = 2,
                                .relation = RELATION_SYNC,
                                .partners = &t[k],
                                .partner_count = 1};
            order_insert(order, &a);
            order_insert(order, &b);
        }
    }
    memset(shown, 1, sizeof shown);
    struct layout_params placing = {.columns = 100,
                                    .row_of = row_of,
                                    .cluster = no_cluster,
                                    .rows = EXECUTION_LINES,
                                    .fold = true};
    struct layout_result p;
    rows_from_shown();
    layout_columns(order, &placing, &p);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.events[0].fold, 10);
    assert_int_equal(p.events[0].column, p.events[1].column);
    layout_result_free(&p);
    order_free(order);
}

/* Events that are collected before the layout is complete are marked unresolved, and have their
 * final columns. */
static void what_is_found_early_stays_where_it_is(void **state)
{
    (void)state;
    unsigned early = 0;
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned random = seed;
        execution_make(&x, seed);
        struct order *order = execution_order(&x);
        execution_feed(&x, order, seed);
        for (uint32_t i = 0; i < x.lines; i++)
            shown[i] = execution_random(&random, 3) > 0;
        uint64_t anchor =
            order_event(order, execution_random(&random, (uint32_t)order_count(order))).point;
        struct layout_result p, all = window_at(order, anchor, -15, 30);
        struct layout_params placing = {.anchor = anchor,
                                        .from = -15,
                                        .columns = 30,
                                        .row_of = row_of,
                                        .cluster = no_cluster,
                                        .rows = EXECUTION_LINES};
        struct layout_job *job = layout_columns_begin(order, &placing);
        for (bool done = false; !done;) {
            done = layout_columns_step(job, 1 + execution_random(&random, 40));
            layout_columns_collect(job, &p);
            assert_int_equal(p.unresolved, !done);
            assert_true(done ? p.count == all.count : p.count <= all.count);
            for (size_t i = 0; i < p.count; i++) {
                bool found;
                assert_int_equal(p.events[i].column, column_of(&all, p.events[i].position, &found));
                assert_true(found);
            }
            early += !done && p.count > 0;
            layout_result_free(&p);
        }
        layout_columns_end(job);
        layout_result_free(&all);
        order_free(order);
    }
    assert_true(early > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_stand_left_and_pairs_share_a_column),
        cmocka_unit_test(nothing_is_blank_that_the_order_does_not_force),
        cmocka_unit_test(scrolling_by_columns_is_rigid),
        cmocka_unit_test(moving_a_line_moves_others_only_as_forced),
        cmocka_unit_test(undoing_gives_the_same_picture),
        cmocka_unit_test(going_on_is_the_same_as_beginning_anew),
        cmocka_unit_test(a_cluster_shows_what_ties_it_to_others),
        cmocka_unit_test(folding_hides_no_order),
        cmocka_unit_test(what_is_found_early_stays_where_it_is),
    };
    return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
