/* State bands as images, for a screen, are what they are as shapes, for files. */
#include "render/state_band_key.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { PIXELS = 150, WIDTH = 200, HEIGHT = 40 };

/* fontconfig keeps what it has read of fonts */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }

static cairo_surface_t *paint(const struct state_bands *s, const struct state_band_cell *measured,
                              struct state_band_style look, int scale)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH * scale, HEIGHT * scale);
    cairo_surface_set_device_scale(surface, scale, scale);
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    /* the second of such low rows has no name */
    state_band_paint_row(cr, s, NULL, 1, 7, &look);
    state_band_paint_measured(cr, s->cells + PIXELS, measured, PIXELS, 7, &look);
    cairo_destroy(cr);
    cairo_surface_flush(surface);
    return surface;
}

/* Returns how many pixels differ in color by more than rounding. */
static unsigned differing(cairo_surface_t *a, cairo_surface_t *b, int scale)
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
                same &= abs(p[4 * x + k] - q[4 * x + k]) <= 2;
            count += !same;
        }
    }
    return count;
}

static void images_are_what_shapes_are(void **state)
{
    static struct state_band_cell rows[2 * PIXELS], measured[PIXELS], *cells = rows + PIXELS;
    struct state_bands s = {.cells = rows, .pixels = PIXELS, .row_count = 2};
    (void)state;
    srand(3);
    for (int i = 0; i < PIXELS; i++) {
        unsigned left = 255;
        for (unsigned k = 0; k < BAND_CLASSES; k++) {
            unsigned share = k % 2 == 0 && rand() % 3 == 0 ? 0 : (unsigned)rand() % (left / 2 + 1);
            cells[i].share[k] = (uint8_t)share;
            left -= share;
        }
        measured[i].share[BAND_LIVING_READY] = cells[i].share[BAND_RUNS] / 3;
        measured[i].share[BAND_LIVING_SYSTEM] = cells[i].share[BAND_RUNS] / 4;
    }
    for (int scale = 1; scale <= 2; scale++) {
        struct state_band_style look = {
            .names_pt = 20, .width_pt = 170, .row_pt = 8, .name = "T:main"};
        cairo_surface_t *shapes = paint(&s, measured, look, scale);
        look.pixels_per_pt = scale;
        cairo_surface_t *image = paint(&s, measured, look, scale);
        /* Cairo counts in 256ths of a pixel: edges on the center of a pixel may differ. */
        assert_true(differing(shapes, image, scale) <= PIXELS * (unsigned)scale / 10);
        look.width_pt = 100;
        cairo_surface_t *other = paint(&s, measured, look, scale);
        assert_true(differing(other, image, scale) > PIXELS);
        cairo_surface_destroy(shapes);
        cairo_surface_destroy(image);
        cairo_surface_destroy(other);
    }
}

/* The key has words for threads and for objects, in as many lines as they need. */
static void the_key_names_states_of_objects(void **state)
{
    (void)state;
    struct state_band_style threads = {.names_pt = 60, .width_pt = 900},
                            locks = {.names_pt = 60, .width_pt = 900, .objects = BAND_KEY_LOCKS},
                            narrow = {.names_pt = 60, .width_pt = 300, .objects = BAND_KEY_LOCKS};
    assert_string_equal(state_band_object_name(BAND_INSIDE, BAND_KEY_LOCKS), "held");
    assert_string_equal(state_band_object_name(BAND_WAITS, BAND_KEY_LOCKS),
                        "held by a blocked thread");
    assert_string_equal(state_band_object_name(BAND_CLASSES, BAND_KEY_LOCKS), "free");
    assert_string_equal(state_band_object_name(BAND_INSIDE, BAND_KEY_OTHERS), "in use");
    assert_true(state_band_key_pt(&locks) == state_band_key_pt(&threads));
    assert_true(state_band_key_pt(&narrow) > state_band_key_pt(&locks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(images_are_what_shapes_are),
                                       cmocka_unit_test(the_key_names_states_of_objects)};
    return cmocka_run_group_tests_name("bands", tests, NULL, NULL);
}
