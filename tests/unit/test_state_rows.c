/* Rows of thread states as images, for a screen, are what they are as shapes. */
#include "render/state_row_paint.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

enum { PIXELS = 150, WIDTH = 200, HEIGHT = 24 };

static cairo_surface_t *paint(const float *shares, struct state_row_style style, int scale)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH * scale, HEIGHT * scale);
    cairo_surface_set_device_scale(surface, scale, scale);
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    state_row_paint(cr, shares, PIXELS, (cairo_rectangle_t){20, 5, 170, 14}, style);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    return surface;
}

/* Returns how many pixels differ in color by more than `most`. */
static unsigned differing(cairo_surface_t *a, cairo_surface_t *b, int scale, int most)
{
    unsigned count = 0;
    for (int y = 0; y < HEIGHT * scale; y++) {
        const unsigned char *p = cairo_image_surface_get_data(a) +
                                 (long)y * cairo_image_surface_get_stride(a),
                            *q = cairo_image_surface_get_data(b) +
                                 (long)y * cairo_image_surface_get_stride(b);
        for (int x = 0; x < WIDTH * scale; x++) {
            bool same = true;
            for (int k = 0; k < 3; k++)
                same &= abs(p[4 * x + k] - q[4 * x + k]) <= most;
            count += !same;
        }
    }
    return count;
}

static void make_shares(float *shares, bool whole)
{
    for (int i = 0; i < PIXELS * THREAD_STATES_DRAWN; i++)
        shares[i] = 0;
    for (int i = 0; i < PIXELS; i++) {
        float left = 1;
        for (int n = 0; n < 4; n++) {
            float share = whole ? (float)(rand() % 5) / 14 : (float)(rand() % 1000) / 2500;
            share = share < left ? share : left;
            shares[i * THREAD_STATES_DRAWN + rand() % THREAD_STATES_DRAWN] += share;
            left -= share;
        }
    }
}

static void images_are_what_shapes_are(void **state)
{
    static float shares[PIXELS * THREAD_STATES_DRAWN];
    (void)state;
    srand(3);
    for (int round = 0; round < 16; round++) {
        int scale = 1 + round % 2;
        bool whole = round % 4 < 2, grey = round >= 8;
        make_shares(shares, whole);
        cairo_surface_t *shapes = paint(shares, (struct state_row_style){grey, 0}, scale),
                        *image = paint(shares, (struct state_row_style){grey, scale}, scale);
        /* Where states share a pixel, shapes let the background through. */
        if (whole)
            assert_true(differing(shapes, image, scale, 2) <= PIXELS / 10);
        assert_int_equal(differing(shapes, image, scale, 80), 0);
        make_shares(shares, whole);
        cairo_surface_t *other = paint(shares, (struct state_row_style){grey, scale}, scale);
        assert_true(differing(other, image, scale, 80) > PIXELS / 2);
        cairo_surface_destroy(shapes);
        cairo_surface_destroy(image);
        cairo_surface_destroy(other);
    }
}

/* Shares that are more than a pixel, or less than anything, stay in the row. */
static void a_row_stays_in_its_box(void **state)
{
    static float shares[PIXELS * THREAD_STATES_DRAWN];
    (void)state;
    for (int i = 0; i < PIXELS; i++)
        for (unsigned k = 0; k < 3; k++)
            shares[i * THREAD_STATES_DRAWN + (int)k] = k ? 0.9f : 0.0001f;
    cairo_surface_t *image = paint(shares, (struct state_row_style){false, 1}, 1);
    const unsigned char *data = cairo_image_surface_get_data(image);
    int stride = cairo_image_surface_get_stride(image);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            if (y < 5 || y >= 19 || x < 20 || x >= 190)
                assert_int_equal(data[y * stride + 4 * x], 255);
    assert_int_not_equal(data[5 * stride + 4 * 100], 255);
    cairo_surface_destroy(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(images_are_what_shapes_are),
                                       cmocka_unit_test(a_row_stays_in_its_box)};
    return cmocka_run_group_tests_name("state rows", tests, NULL, NULL);
}
