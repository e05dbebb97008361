/* A mask of rectangles covers what a path of them does. */
#include "render/coverage_mask.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

enum { WIDTH = 120, HEIGHT = 60, BOXES = 40 };

static cairo_surface_t *surface_new(int scale)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH * scale, HEIGHT * scale);
    cairo_surface_set_device_scale(surface, scale, scale);
    return surface;
}

static cairo_surface_t *paint(const cairo_rectangle_t *boxes, int count, int scale, bool masked)
{
    const cairo_rectangle_t area = {10, 5, 100, 50};
    cairo_surface_t *surface = surface_new(scale);
    cairo_t *cr = cairo_create(surface);
    struct coverage_mask mask = coverage_mask_new(area, scale);
    cairo_rectangle(cr, area.x, area.y, area.width, area.height);
    cairo_clip(cr);
    for (int i = 0; i < count; i++) {
        coverage_mask_add(&mask, boxes[i]);
        if (!masked)
            cairo_rectangle(cr, boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height);
    }
    cairo_set_source_rgba(cr, 1, 1, 1, 0.9);
    if (!masked)
        cairo_fill(cr);
    coverage_mask_paint(&mask, masked ? cr : NULL);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    return surface;
}

static int most_difference(cairo_surface_t *a, cairo_surface_t *b, int scale)
{
    int most = 0;
    for (int y = 0; y < HEIGHT * scale; y++)
        for (int x = 0; x < WIDTH * scale; x++) {
            long at = (long)y * cairo_image_surface_get_stride(a) + 4L * x;
            int d = abs(cairo_image_surface_get_data(a)[at] - cairo_image_surface_get_data(b)[at]);
            most = d > most ? d : most;
        }
    return most;
}

static void compare(const cairo_rectangle_t *boxes, int count, int scale, int most)
{
    cairo_surface_t *path = paint(boxes, count, scale, false),
                    *mask = paint(boxes, count, scale, true);
    assert_true(most_difference(path, mask, scale) <= most);
    cairo_surface_destroy(path);
    cairo_surface_destroy(mask);
}

static double random_to(double most) { return (double)(rand() % 1000) / 1000 * most; }

static void masks_cover_what_paths_do(void **state)
{
    (void)state;
    srand(5);
    for (int round = 0; round < 200; round++) {
        cairo_rectangle_t one = {random_to(WIDTH) - 5, random_to(HEIGHT) - 5, random_to(60),
                                 random_to(40)};
        compare(&one, 1, 1 + round % 2, 4);
        cairo_rectangle_t whole[BOXES]; /* of whole pixels: they overlap */
        for (int i = 0; i < BOXES; i++)
            whole[i] = (cairo_rectangle_t){rand() % WIDTH - 5, rand() % HEIGHT - 5, rand() % 30,
                                           rand() % 20};
        compare(whole, BOXES, 1 + round % 2, 2);
    }
}

static void boxes_far_away_are_not_there(void **state)
{
    const cairo_rectangle_t far[] = {
        {1e18, 0, 5, 5}, {-1e18, 0, 5, 5}, {20, 1e300, 5, 5}, {20, 20, -3, 5}, {20, 20, 5, 0}};
    (void)state;
    cairo_surface_t *nothing = surface_new(1), *mask = paint(far, 5, 1, true);
    assert_int_equal(most_difference(nothing, mask, 1), 0);
    cairo_surface_destroy(nothing);
    cairo_surface_destroy(mask);
    const cairo_rectangle_t all = {-1e18, -1e18, 3e18, 3e18};
    cairo_rectangle_t wide = {-1000, -1000, 5000, 5000};
    cairo_surface_t *path = paint(&wide, 1, 2, false);
    mask = paint(&all, 1, 2, true);
    assert_true(most_difference(path, mask, 2) <= 2);
    cairo_surface_destroy(path);
    cairo_surface_destroy(mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(masks_cover_what_paths_do),
                                       cmocka_unit_test(boxes_far_away_are_not_there)};
    return cmocka_run_group_tests_name("coverage mask", tests, NULL, NULL);
}
