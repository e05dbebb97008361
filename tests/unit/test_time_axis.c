/* Positions of times in a scene: exact at the marks, linear between them, and recomputed for each
 * new scene. */
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARKS 60u
#define LEFT 100.0
#define RIGHT 2000.0

static struct view view;
static struct scene scene;
static struct scene_mark marks[MARKS];
static struct event_info events[MARKS];
static struct scene_row rows[3] = {{.line = 7}, {.line = 2}, {.line = 9}};
static unsigned chance;

static unsigned below(unsigned n) { return execution_random(&chance, n); }

/* Makes marks in the order of time, some with the same time but further right; one is pending. */
static void make_scene(unsigned seed)
{
    int64_t ns = 1000;
    double x = LEFT + 5;
    chance = seed;
    for (uint32_t i = 0; i < MARKS; i++) {
        events[i] = (struct event_info){.at = {7 + i % 3, 1 + i / 3}, .time_ns = ns};
        marks[i] = (struct scene_mark){.row = i % 3, .x_pt = x, .event = &events[i]};
        ns += below(3) ? below(50) : below(100000);
        x += below(30);
    }
    marks[20].state = EVENT_PENDING;
    events[20].time_ns = 5;
    scene = (struct scene){.names_pt = LEFT,
                           .width_pt = RIGHT,
                           .marks = marks,
                           .mark_count = MARKS,
                           .rows = rows,
                           .row_count = 3};
    view.scene_cache.scene = &scene;
    view.scene_cache.serial++;
    view.viewport.place.overview = false;
}

static void times_are_where_their_marks_are(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed < 100; seed++) {
        make_scene(seed);
        const struct time_axis *axis = time_axis_of(&view);
        int64_t from, to;
        assert_non_null(axis);
        time_axis_span(axis, &from, &to);
        assert_true(from == 1000 && to == events[MARKS - 1].time_ns);
        for (uint32_t i = 0; i < MARKS; i++) {
            uint32_t last = i; /* the last mark with the same time */
            while (last + 1 < MARKS && (events[last + 1].time_ns == events[i].time_ns))
                last++;
            if (i != 20 && last != 20)
                assert_true(fabs(time_axis_x_pt(axis, events[i].time_ns) - marks[last].x_pt) <
                            1e-9);
        }
        double before = LEFT;
        for (int64_t ns = 0; ns < to + 100; ns += 1 + to / 997) {
            assert_true(time_axis_x_pt(axis, ns) >= before);
            before = time_axis_x_pt(axis, ns);
        }
        assert_true(time_axis_x_pt(axis, 0) == LEFT && time_axis_x_pt(axis, to + 1) == RIGHT);
    }
}

static void between_two_marks_time_is_even(void **state)
{
    (void)state;
    make_scene(1);
    for (uint32_t i = 0; i < MARKS; i++)
        events[i].time_ns = 100 * i;
    view.scene_cache.serial++;
    const struct time_axis *axis = time_axis_of(&view);
    for (uint32_t i = 0; i + 1 < MARKS; i++) {
        if (i == 19 || i == 20)
            continue;
        double a = marks[i].x_pt, b = marks[i + 1].x_pt;
        assert_true(fabs(time_axis_x_pt(axis, 100 * i + 25) - (a + 0.25 * (b - a))) < 1e-9);
        if (b > a) /* else several times are at one place */
            assert_int_equal(time_axis_ns(axis, a + 0.25 * (b - a)), 100 * i + 25);
    }
    assert_int_equal(time_axis_ns(axis, LEFT - 1), 0);
    assert_int_equal(time_axis_ns(axis, RIGHT + 1), 100 * (MARKS - 1));
    double a = marks[19].x_pt, b = marks[21].x_pt; /* the pending mark has no place in time */
    assert_true(fabs(time_axis_x_pt(axis, 2000) - (a + b) / 2) < 1e-9);
}

static void marks_and_rows_are_found(void **state)
{
    (void)state;
    make_scene(3);
    const struct time_axis *axis = time_axis_of(&view);
    for (uint32_t i = 0; i < MARKS; i++)
        assert_ptr_equal(time_axis_find_mark(axis, events[i].at), i == 20 ? NULL : &marks[i]);
    assert_null(time_axis_find_mark(axis, (struct event_id){7, 1000}));
    assert_null(time_axis_find_mark(axis, (struct event_id){1, 1}));
    assert_int_equal(time_axis_row_of_line(&view, 7), 0);
    assert_int_equal(time_axis_row_of_line(&view, 9), 2);
    assert_int_equal(time_axis_row_of_line(&view, 8), -1);
}

static void it_is_that_of_the_scene_that_is_here(void **state)
{
    (void)state;
    make_scene(1);
    double was = time_axis_x_pt(time_axis_of(&view), events[30].time_ns);
    for (uint32_t i = 0; i < MARKS; i++)
        marks[i].x_pt += 7;
    view.scene_cache.serial++; /* another scene at the same address */
    assert_true(fabs(time_axis_x_pt(time_axis_of(&view), events[30].time_ns) - was - 7) < 1e-9);
    scene.mark_count = 0;
    view.scene_cache.serial++;
    int64_t from, to;
    time_axis_span(time_axis_of(&view), &from, &to);
    assert_true(from == 0 && to == 0 && time_axis_x_pt(time_axis_of(&view), 5) == LEFT);
    view.viewport.place.overview = true;
    assert_null(time_axis_of(&view));
    view.viewport.place.overview = false;
    view.scene_cache.scene = NULL;
    assert_null(time_axis_of(&view));
    time_axis_on_notification(&view, NOTIFY_DIAGRAM);
    for (size_t i = 0; i < view.addons.count; i++)
        g_free(view.addons.states[i].state);
    g_free(view.addons.states);
    view.addons = (struct viewer_addons){0};
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_where_their_marks_are),
        cmocka_unit_test(between_two_marks_time_is_even),
        cmocka_unit_test(marks_and_rows_are_found),
        cmocka_unit_test(it_is_that_of_the_scene_that_is_here),
    };
    return cmocka_run_group_tests_name("axis", tests, NULL, NULL);
}
