/* Labels that stay visible while their interval scrolls: none is cut off at the left edge, and
 * none overlaps another, wherever the edge is. */
#include "render/text_cache.h"
#include "render/scene_paint.h"
#include "tests/unit/unit.h"

#include <string.h>

/* Fontconfig keeps its cache. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }

static struct scene_row rows[] = {{.y_pt = 20}, {.y_pt = 46}};

/* Two labels in one row, the second until 400, and one in the row below, until 300. */
static char more[] = "waits for Q:more", lock[] = "waits for M:lock", mark[] = "broadcast";
static struct scene_text texts[] = {
    {100, 8, 90, 10, 8, more, .until_pt = 230, .followed = true},
    {250, 8, 90, 10, 8, more, .until_pt = 400},
    {120, 34, 90, 10, 8, lock, .until_pt = 300},
    {0, 34, 30, 10, 8, mark, .until_pt = 0}, /* of a mark */
};

struct told {
    struct text_cache_entry all[8];
    char text[8][40];
    unsigned count;
};

static void take(void *context, cairo_t *cr, const struct text_cache_entry *text)
{
    struct told *told = context;
    (void)cr;
    assert_true(told->count < 8);
    told->all[told->count] = *text;
    snprintf(told->text[told->count++], sizeof told->text[0], "%s", text->text);
}

static struct told paint_from(double left)
{
    struct scene scene = {
        .row_pt = 26, .rows = rows, .row_count = 2, .texts = texts, .text_count = 4};
    struct told told = {.count = 0};
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 8, 8);
    cairo_t *cr = cairo_create(surface);
    text_cache_divert(take, &told);
    sticky_labels_paint(cr, &scene, &(struct paint_theme){0},
                        &(struct paint_part){.from_pt = left, .to_pt = left + 500, .last_row = 2});
    text_cache_divert(NULL, NULL);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return told;
}

static void none_is_cut(void **state)
{
    (void)state;
    for (double left = 0; left < 420; left += 0.5) {
        struct told told = paint_from(left);
        for (unsigned i = 0; i < told.count; i++) {
            const struct text_cache_entry *l = &told.all[i];
            assert_true(l->x >= left);
            assert_true(l->x + l->width <= (l->y > 20 ? 300 : 400) + 0.5);
            for (unsigned k = 0; k < i; k++)
                assert_true(told.all[k].y != l->y || told.all[k].x + told.all[k].width < l->x);
        }
    }
}

static void what_there_is_room_for_is_said(void **state)
{
    (void)state;
    struct told told = paint_from(0);
    assert_int_equal(told.count, 3);
    assert_true(told.all[0].x == 100 && told.all[1].x == 250 && told.all[2].x == 120);
    told = paint_from(130);
    assert_int_equal(told.count, 3); /* all of them, right of the edge */
    assert_true(told.all[0].x > 130 && told.all[0].x < 136 && told.all[2].x > 130);
    assert_string_equal(told.text[0], "waits for Q:more");
    told = paint_from(200);
    assert_int_equal(told.count, 2); /* the next label says the same */
    assert_true(told.all[0].x == 250);
    told = paint_from(240);
    assert_int_equal(told.count, 2); /* there is space for a part of the lower label */
    assert_non_null(strstr(told.text[1], "…"));
    told = paint_from(290);
    assert_int_equal(told.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_cut),
        cmocka_unit_test(what_there_is_room_for_is_said),
    };
    int failed = cmocka_run_group_tests_name("sticking", tests, NULL, NULL);
    text_cache_clear();
    return failed;
}
