/* The viewport of a scene: points and pixels, the left edge, and anchors that stay in place when
 * the scene changes. */
#include "clients/viewer/state/viewport.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#define COLUMNS 40
#define ROWS 6

/* A scene with one mark in each column; marks are ten positions apart. */
static struct scene_column columns[COLUMNS];
static struct scene_mark marks[COLUMNS];
static struct scene_row rows[ROWS];
static struct event_info events[COLUMNS];
static struct scene scene;
static struct scene_cache stage;
static struct viewer_settings settings;

static void receive_notification(struct view *user, enum notification what)
{
    (void)what;
    ++*(unsigned *)(void *)user;
}

static unsigned received;
static struct notifier news;

static struct viewport seen(double zoom, bool vertical)
{
    double x = 100;
    scene = (struct scene){.names_pt = x,
                           .row_pt = SCENE_ROW_PT,
                           .columns = columns,
                           .marks = marks,
                           .rows = rows,
                           .column_count = COLUMNS,
                           .mark_count = COLUMNS,
                           .row_count = ROWS,
                           .bottom_pt = ROWS * SCENE_ROW_PT};
    for (uint32_t i = 0; i < ROWS; i++)
        rows[i] = (struct scene_row){.line = i + 1, .y_pt = (i + 0.5) * SCENE_ROW_PT};
    for (uint32_t i = 0; i < COLUMNS; i++) {
        double left = 8 + i % 3, right = 10 + i % 5;
        columns[i] = (struct scene_column){
            .column = (int32_t)i - 20, .x_pt = x + left, .left_pt = left, .right_pt = right};
        events[i] = (struct event_info){.at = {1 + i % ROWS, 1 + i / ROWS}, .position = 10 * i};
        marks[i] = (struct scene_mark){.row = i % ROWS,
                                       .column = i,
                                       .x_pt = x + left,
                                       .y_pt = rows[i % ROWS].y_pt,
                                       .event = &events[i]};
        x += left + right;
    }
    scene.width_pt = x;
    stage = (struct scene_cache){.scene = &scene, .row_total = ROWS};
    settings = (struct viewer_settings){.look.vertical = vertical};
    received = 0;
    return (struct viewport){.place = {.zoom = zoom, .from = -20},
                             .width_px = 500,
                             .height_px = 260,
                             .scene_cache = &stage,
                             .settings = &settings,
                             .notifier = &news};
}

static void a_left_edge_that_is_set_is_there(void **state)
{
    struct viewport camera = seen(1.3, false);
    for (double x = -300; x < 1500; x += 3.7) {
        viewport_set_left_pt(&camera, x);
        assert_true(fabs(viewport_left_pt(&camera) - x) < 1e-6);
    }
    (void)state;
}

static void the_picture_ends_where_the_run_does(void **state)
{
    struct viewport camera = seen(1, false);
    for (double x = -300; x < 1500; x += 41) {
        double good = viewport_clamped_pt(&camera, x);
        assert_true(good >= scene.names_pt);
        assert_true(good <= fmax(scene.names_pt, scene.width_pt + 10 - viewport_width_pt(&camera)));
        assert_true(viewport_clamped_pt(&camera, good) == good);
    }
    stage.window.more_left = stage.window.more_right = true; /* more may follow on both sides */
    assert_true(viewport_clamped_pt(&camera, scene.names_pt - 50) == scene.names_pt - 50);
    assert_true(viewport_needs_more(&camera));
    (void)state;
}

static void what_is_painted_somewhere_is_hit_there(void **state)
{
    for (int turned = 0; turned < 2; turned++)
        for (double zoom = VIEWPORT_MIN_ZOOM; zoom < VIEWPORT_MAX_ZOOM; zoom *= 1.7) {
            struct viewport camera = seen(zoom, turned);
            unsigned many = 0;
            for (double x = 100; x < scene.width_pt; x += 77) {
                viewport_set_left_pt(&camera, x);
                for (uint32_t i = 0; i < COLUMNS; i++) {
                    double along = viewport_x_px(&camera, &marks[i]);
                    double across = viewport_y_px(&camera, marks[i].row);
                    if (!viewport_sees(&camera, &marks[i]) || turned)
                        continue; /* rows of a turned scene have another height */
                    assert_ptr_equal(viewport_hit(&camera, along, across), &marks[i]);
                    assert_int_equal(viewport_row_at(&camera, across), marks[i].row);
                    many++;
                }
            }
            assert_true(turned || many > 0);
            assert_true(viewport_along_px(&camera) == (turned ? 260 : 500));
            assert_true(viewport_across_px(&camera) == (turned ? 500 : 260));
        }
    (void)state;
}

static void what_is_held_comes_where_it_is_wanted(void **state)
{
    struct viewport camera = seen(2, false);
    camera.place.follow = true;
    scroll_anchor_set_event(&camera, events[17].at, events[17].position);
    assert_false(camera.place.follow);
    assert_int_equal(received, 1); /* the change of the mode */
    scroll_anchor_settle(&camera);
    double middle = (viewport_names_px(&camera) + viewport_along_px(&camera)) / 2;
    assert_true(fabs(viewport_x_px(&camera, &marks[17]) - middle) < 1e-6);

    scroll_anchor_set_position(&camera, 201); /* the first mark at that position or after it */
    scroll_anchor_settle(&camera);
    assert_true(fabs(viewport_x_px(&camera, &marks[21]) - middle) < 1e-6);

    double before = viewport_x_px(&camera, &marks[19]);
    camera.place.selected = events[19].at;
    scroll_anchor_keep_selected(&camera);
    for (uint32_t i = 0; i < COLUMNS; i++) { /* a new scene in which the mark has moved */
        marks[i].x_pt += 33;
        columns[i].x_pt += 33;
    }
    scroll_anchor_settle(&camera);
    assert_true(fabs(viewport_x_px(&camera, &marks[19]) - before) < 1e-6);
    (void)state;
}

static void who_follows_sees_the_end(void **state)
{
    struct viewport camera = seen(1, false);
    camera.place.follow = true;
    scroll_anchor_settle(&camera);
    assert_true(fabs(viewport_left_pt(&camera) - viewport_end_pt(&camera)) < 1e-6);
    assert_true(viewport_sees(&camera, &marks[COLUMNS - 1]));
    assert_false(viewport_sees(&camera, &marks[0]));
    uint64_t first, last;
    viewport_positions(&camera, &first, &last);
    assert_true(first > 0 && first < last);
    assert_int_equal(last, events[COLUMNS - 1].position);
    (void)state;
}

/* Two rows are pinned; the others scroll below them. */
static void rows_that_are_pinned_do_not_scroll(void **state)
{
    struct viewport camera = seen(1, false);
    camera.height_px = (int)(4 * SCENE_ROW_PT);
    stage.pinned = 2;
    camera.place.rise_pt = 2 * SCENE_ROW_PT;
    assert_true(viewport_band_px(&camera) == 2 * SCENE_ROW_PT);
    for (uint32_t row = 0; row < ROWS; row++) {
        double y = viewport_y_px(&camera, row);
        bool seen_now = row < 2 || row >= 4;
        assert_true(fabs(y - (row < 2 ? row + 0.5 : row - 1.5) * SCENE_ROW_PT) < 1e-9);
        if (seen_now)
            assert_int_equal(viewport_row_at(&camera, y), row);
    }
    for (uint32_t i = 0; i < COLUMNS; i++) {
        const struct scene_mark *m = &marks[i];
        double x = viewport_x_px(&camera, m), y = viewport_y_px(&camera, m->row);
        bool in = x >= viewport_names_px(&camera) && x <= 500;
        assert_int_equal(viewport_sees(&camera, m), in && (m->row < 2 || m->row >= 4));
        if (viewport_sees(&camera, m))
            assert_ptr_equal(viewport_hit(&camera, x, y), m);
    }
    stage.row_base = 20; /* rows between them are not in the window */
    stage.row_total = 20 + ROWS;
    camera.place.rise_pt = 22 * SCENE_ROW_PT;
    assert_int_equal(viewport_row_at(&camera, 0.5 * SCENE_ROW_PT), 0);
    assert_int_equal(viewport_row_at(&camera, 2.5 * SCENE_ROW_PT), 4);
    stage.pinned = stage.row_base = 0;
    (void)state;
}

static void few_rows_fill_the_height(void **state)
{
    struct viewport camera = seen(1, false);
    assert_true(viewport_max_row_pt(&camera, 100) == SCENE_ROW_PT);
    assert_true(viewport_max_row_pt(&camera, 1) == 2 * SCENE_ROW_PT);
    double good = viewport_max_row_pt(&camera, 7);
    assert_true(good > SCENE_ROW_PT && 7 * good <= 260);
    camera.place.overview = true; /* in the overview all rows fit, whatever their height */
    for (stage.row_total = 1; stage.row_total < 50; stage.row_total++) {
        assert_true(stage.row_total * viewport_row_pt(&camera) <= 260);
        assert_true(viewport_row_pt(&camera) <= 2 * SCENE_ROW_PT);
    }
    (void)state;
}

static void pinned_rows_come_first_with_their_clusters(void **state)
{
    static const struct view_state_row before[] = {{.line = 1},
                                                   {.line = 2, .joins = true},
                                                   {.line = 3, .pinned = true},
                                                   {.line = 4, .joins = true},
                                                   {.line = 5},
                                                   {.line = 6, .pinned = true, .hidden = true}};
    static const uint32_t after[] = {3, 4, 6, 1, 2, 5};
    struct view_state place = {.rows = g_memdup2(before, sizeof before), .row_count = 6};
    view_state_pinned_first(&place);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(place.rows[i].line, after[i]);
        assert_int_equal(place.rows[i].pinned, i < 3);
    }
    view_state_free(&place);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_left_edge_that_is_set_is_there),
        cmocka_unit_test(the_picture_ends_where_the_run_does),
        cmocka_unit_test(what_is_painted_somewhere_is_hit_there),
        cmocka_unit_test(what_is_held_comes_where_it_is_wanted),
        cmocka_unit_test(who_follows_sees_the_end),
        cmocka_unit_test(rows_that_are_pinned_do_not_scroll),
        cmocka_unit_test(few_rows_fill_the_height),
        cmocka_unit_test(pinned_rows_come_first_with_their_clusters),
    };
    news.view = (void *)&received;
    notifier_connect(&news, NOTIFY_MIDDLE, NOTIFY_ALL, receive_notification);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
