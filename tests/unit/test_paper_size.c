/* Paper sizes and widths, as options name them, and the paper of a diagram. */
#define _GNU_SOURCE
#include "clients/cli/paper_size.h"
#include "render/paper_rows.h"
#include "render/paper_bands.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_range;

bool diagram_range_is_set(const struct event_diagram *p)
{
    (void)p;
    return has_range;
}

static void is_about(double is, double wanted) { assert_true(fabs(is - wanted) < 0.01); }

static void sizes_have_names(void **state)
{
    struct document_options page = {.width_pt = 0};
    (void)state;
    assert_true(paper_size_by_name("a4", &page));
    is_about(page.paper_width_pt, 841.89); /* ISO 216, landscape */
    is_about(page.paper_height_pt, 595.28);
    assert_true(paper_size_by_name("A3", &page));
    is_about(page.paper_width_pt, 1190.55);
    is_about(page.paper_height_pt, 841.89);
    assert_true(paper_size_by_name("Letter", &page));
    is_about(page.paper_width_pt, 11 * 72);
    is_about(page.paper_height_pt, 8.5 * 72);
    assert_true(paper_size_by_name("legal", &page));
    is_about(page.paper_width_pt, 14 * 72);
    paper_size_is_portrait(&page);
    is_about(page.paper_width_pt, 595.28);
    is_about(page.paper_height_pt, 841.89);
}

static void any_size_is_in_millimetres(void **state)
{
    struct document_options page = {.width_pt = 0};
    (void)state;
    assert_true(paper_size_by_name("254x127mm", &page));
    is_about(page.paper_width_pt, 720);
    is_about(page.paper_height_pt, 360);
    assert_true(paper_size_by_name("50x5000mm", &page));
    assert_true(paper_size_by_name("100.5x50mm", &page));
}

static void other_sizes_are_rejected(void **state)
{
    static const char *const none[] = {"",          "a5",        "a4 ",        "100x100",
                                       "100mm",     "49x100mm",  "100x5001mm", "-100x100mm",
                                       "100x100m",  "100x100cm", "x100mm",     "infx100mm",
                                       "nanx100mm", "100xnanmm", "100x100mmm", "100x100mm2"};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct document_options page = {.paper_width_pt = 7};
        if (paper_size_by_name(none[i], &page) || page.paper_width_pt != 7)
            fail_msg("%s", none[i]);
    }
}

static void widths_have_units(void **state)
{
    static const char *const none[] = {"",        "100",   "mm",    "1mm",    "19.9pt", "-50mm",
                                       "14401pt", "nanmm", "infcm", "100 mm", "100mmx", "100px"};
    double points;
    (void)state;
    assert_true(paper_size_width("25.4mm", &points));
    is_about(points, 72);
    assert_true(paper_size_width("2.54cm", &points));
    is_about(points, 72);
    assert_true(paper_size_width("5in", &points));
    is_about(points, 360);
    assert_true(paper_size_width("20pt", &points));
    is_about(points, 20);
    assert_true(paper_size_width("14400pt", &points));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (paper_size_width(none[i], &points))
            fail_msg("%s", none[i]);
}

/* ---- of a diagram ---- */

static const struct command command = {.name = "export"};

/* A scene of equal columns. */
struct paper_drawing {
    struct scene scene;
    struct scene_column columns[600];
    struct event_diagram diagram;
    struct document_options page;
};

static void make_drawing(struct paper_drawing *d, uint32_t columns)
{
    memset(d, 0, sizeof *d);
    for (uint32_t i = 0; i < columns; i++)
        d->columns[i] = (struct scene_column){.left_pt = 5, .right_pt = 5};
    d->scene.columns = d->columns;
    d->scene.column_count = columns;
    d->scene.width_pt = 10.0 * columns + 50;
    d->scene.height_pt = 100;
    d->scene.row_count = 3;
    d->scene.row_pt = 20;
    d->scene.top_pt = 30;
    d->scene.bottom_pt = 90;
    d->scene.names_pt = 40;
    d->page.format = DOCUMENT_PDF;
    has_range = false;
}

static void a_small_diagram_is_one_page_of_its_size(void **state)
{
    static struct paper_drawing d;
    (void)state;
    make_drawing(&d, PAPER_COLUMNS);
    assert_true(paper_size_choose(&command, &d.diagram, &d.scene, &d.page));
    assert_true(d.page.paper_width_pt <= 0);
}

static void a_large_diagram_gets_paper_unless_a_size_is_given(void **state)
{
    static struct paper_drawing d;
    (void)state;
    make_drawing(&d, PAPER_COLUMNS + 1);
    assert_true(paper_size_choose(&command, &d.diagram, &d.scene, &d.page));
    is_about(d.page.paper_width_pt, 841.89);
    make_drawing(&d, PAPER_COLUMNS + 1);
    d.page.width_pt = 300;
    assert_true(paper_size_choose(&command, &d.diagram, &d.scene, &d.page));
    assert_true(d.page.paper_width_pt <= 0);
    make_drawing(&d, PAPER_COLUMNS + 1);
    d.page.format = DOCUMENT_SVG;
    assert_true(paper_size_choose(&command, &d.diagram, &d.scene, &d.page));
    assert_true(d.page.paper_width_pt <= 0);
}

static void a_diagram_that_is_cut_must_be_asked_for(void **state)
{
    static struct paper_drawing d;
    (void)state;
    make_drawing(&d, 10);
    d.diagram.window.more_right = true;
    FILE *before = stderr;
    char *message = NULL;
    size_t size = 0;
    stderr = open_memstream(&message, &size);
    assert_non_null(stderr);
    bool chosen = paper_size_choose(&command, &d.diagram, &d.scene, &d.page);
    fclose(stderr);
    stderr = before;
    assert_false(chosen);
    assert_non_null(strstr(message, "more than 10 columns and 3 rows, 1 page: "));
    free(message);
    has_range = true;
    assert_true(paper_size_choose(&command, &d.diagram, &d.scene, &d.page));
    has_range = false;
    d.diagram.all = true;
    assert_true(paper_size_choose(&command, &d.diagram, &d.scene, &d.page));
}

/* ---- breaks between bands: columns are 10 points wide, a band has space for 10 ---- */

static uint32_t columns_of_band(struct paper_drawing *d, uint32_t from)
{
    struct paper_bands bands = {.columns_pt = 100};
    for (uint32_t i = 0; i < d->scene.column_count; i++)
        d->columns[i].x_pt = 45 + 10.0 * i;
    return paper_bands_columns(&d->scene, &bands, from);
}

static void a_band_ends_where_a_break_cuts_least(void **state)
{
    static struct paper_drawing d;
    (void)state;
    make_drawing(&d, 30);
    assert_int_equal(columns_of_band(&d, 0), 10);
    d.columns[10].break_cost = d.columns[9].break_cost = 2;
    d.columns[8].break_cost = 1;
    d.columns[7].break_cost = 1;
    assert_int_equal(columns_of_band(&d, 0), 8); /* of equals, the fuller band */
    d.columns[8].break_cost = d.columns[7].break_cost = 9;
    assert_int_equal(columns_of_band(&d, 0),
                     10); /* a break that cuts nothing would be too far left */
    assert_int_equal(columns_of_band(&d, 25), 5); /* nothing is cut at the end */
}

static void a_deadlock_cycle_stays_whole_if_it_fits(void **state)
{
    static struct paper_drawing d;
    (void)state;
    make_drawing(&d, 30);
    for (uint32_t i = 4; i <= 12; i++)
        d.columns[i].break_cost = BREAK_IN_DEADLOCK + i;
    assert_int_equal(columns_of_band(&d, 0), 3);
    assert_int_equal(columns_of_band(&d, 3), 10);
    for (uint32_t i = 1; i <= 12; i++)
        d.columns[i].break_cost = BREAK_IN_DEADLOCK + (i == 6 ? 0 : i);
    assert_int_equal(columns_of_band(&d, 0), 6); /* it does not fit: as little of it as possible */
}

/* ---- rows of a band ---- */

static void a_band_has_the_rows_with_something_in_it(void **state)
{
    struct scene_row rows[4] = {{.y_pt = 10}, {.y_pt = 20}, {.y_pt = 30}, {.y_pt = 40}};
    struct scene_segment segments[] = {{.row = 0, .from_pt = 0, .to_pt = 50, .style = STYLE_SOLID},
                                       {.row = 1, .from_pt = 50, .to_pt = 99},
                                       {.row = 2, .from_pt = 60, .to_pt = 99, .style = STYLE_END}};
    /* from the first row at x 40 to the last one at x 80 */
    struct scene_link link = {.x0_pt = 40, .y0_pt = 10, .x1_pt = 80, .y1_pt = 40};
    struct scene scene = {.rows = rows,
                          .row_count = 4,
                          .row_pt = 10,
                          .segments = segments,
                          .segment_count = 3,
                          .links = &link,
                          .link_count = 1};
    struct paint_selection selection = {0};
    bool kept[4];
    (void)state;
    assert_int_equal(paper_rows_find(&scene, &selection, 0, 30, kept), 1);
    assert_true(kept[0]);
    assert_int_equal(paper_rows_find(&scene, &selection, 30, 55, kept), 2); /* the link goes down */
    assert_true(kept[0] && kept[1]);
    assert_int_equal(paper_rows_find(&scene, &selection, 82, 99, kept), 1);
    assert_true(kept[2]);
    scene.tick_count = 1; /* the ruler is above the first row */
    assert_int_equal(paper_rows_find(&scene, &selection, 82, 99, kept), 2);
    scene.tick_count = 0;
    assert_int_equal(paper_rows_find(&scene, &selection, 100, 200, kept), 4); /* nothing is there */
    assert_true(kept[0] && kept[1] && kept[2] && kept[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_names),
        cmocka_unit_test(any_size_is_in_millimetres),
        cmocka_unit_test(other_sizes_are_rejected),
        cmocka_unit_test(widths_have_units),
        cmocka_unit_test(a_small_diagram_is_one_page_of_its_size),
        cmocka_unit_test(a_large_diagram_gets_paper_unless_a_size_is_given),
        cmocka_unit_test(a_diagram_that_is_cut_must_be_asked_for),
        cmocka_unit_test(a_band_ends_where_a_break_cuts_least),
        cmocka_unit_test(a_deadlock_cycle_stays_whole_if_it_fits),
        cmocka_unit_test(a_band_has_the_rows_with_something_in_it),
    };
    return cmocka_run_group_tests_name("paper", tests, NULL, NULL);
}
