/* Charts: shares of pixels are exact, short states are seen, and who took turns never seems to work at once. */
#include "render/chart.h"
#include "render/shares.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define near(a, b) assert_true((double)(a) > (b)-1e-4 && (double)(a) < (b) + 1e-4)

static void shares_are_those_of_the_time(void **state)
{
    (void)state;
    struct chart_span spans[] = {{0, 10, CHART_START},
                                 {10, 35, CHART_RUNNING},
                                 {35, 36, CHART_BLOCKED},
                                 {36, 80, CHART_RUNNING}};
    struct chart_row row = {"T:t", spans, 4};
    struct chart c = {.title = "x", .rows = &row, .row_count = 1, .from_ns = 0, .to_ns = 100};
    float(*shares)[CHART_STATES] = shares_of(&c, 0, 5); /* of 20 each */
    near(shares[0][CHART_START], 0.5);
    near(shares[0][CHART_RUNNING], 0.5);
    near(shares[1][CHART_BLOCKED], 0.05);
    near(shares[1][CHART_RUNNING], 0.95);
    near(shares[3][CHART_RUNNING], 1);
    for (unsigned s = 0; s < CHART_STATES; s++)
        near(shares[4][s], 0);
    shares_seen(shares[1]); /* what is short is seen, and the pixel is not fuller than it was */
    assert_true(shares[1][CHART_BLOCKED] > 0.09f);
    near(shares[1][CHART_BLOCKED] + shares[1][CHART_RUNNING], 1);
    free(shares);
    c.overview = true;
    shares = shares_of(&c, 0, 5);
    near(shares[1][CHART_RUNNING], 1);
    free(shares);
}

static void who_takes_turns_never_seems_to_work_at_once(void **state)
{
    (void)state;
    struct chart_span spans[2][100];
    struct chart_row rows[2] = {{"a", spans[0], 100}, {"b", spans[1], 100}};
    struct chart c = {.title = "x", .rows = rows, .row_count = 2, .from_ns = 0, .to_ns = 1000};
    for (unsigned i = 0; i < 100; i++)
        for (unsigned k = 0; k < 2; k++)
            spans[k][i] = (struct chart_span){10 * i, 10 * i + 10,
                                              i % 2 == k ? CHART_RUNNING : CHART_BLOCKED};
    for (uint32_t pixels = 1; pixels < 300; pixels += 7) {
        float(*a)[CHART_STATES] = shares_of(&c, 0, pixels),
        (*b)[CHART_STATES] = shares_of(&c, 1, pixels);
        for (uint32_t i = 0; i < pixels; i++)
            near(a[i][CHART_RUNNING] + b[i][CHART_RUNNING], 1);
        free(a);
        free(b);
    }
}

static void in_letters_each_has_a_row(void **state)
{
    (void)state;
    struct chart_span spans[] = {{0, 500, CHART_RUNNING}, {500, 1000, CHART_BLOCKED}};
    struct chart_row rows[2] = {{"T:one", spans, 2}, {"T:b", spans + 1, 1}};
    struct chart c = {.title = "x", .rows = rows, .row_count = 2, .from_ns = 0, .to_ns = 1000};
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    chart_print(&c, 27, f);
    fclose(f);
    assert_non_null(strstr(text, "\nT:one  ==========##########\n"));
    assert_non_null(strstr(text, "\nT:b              ##########\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_time),
        cmocka_unit_test(who_takes_turns_never_seems_to_work_at_once),
        cmocka_unit_test(in_letters_each_has_a_row),
    };
    return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
