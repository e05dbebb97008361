/* State charts: shares of pixels, short states, letters; no pixel is filled by more than its
 * length. */
#include "render/state_chart.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define near(a, b) assert_true((double)(a) > (b)-1e-4 && (double)(a) < (b) + 1e-4)

static struct chart_pixel pixel(unsigned running, unsigned blocked, unsigned start)
{
    struct chart_pixel p = {{0}};
    p.share[THREAD_STATE_RUNNING] = (uint8_t)running;
    p.share[THREAD_STATE_BLOCKED] = (uint8_t)blocked;
    p.share[THREAD_STATE_CREATED] = (uint8_t)start;
    return p;
}

static void shares_are_those_of_the_pixels(void **state)
{
    (void)state;
    struct chart_pixel pixels[] = {pixel(0, 0, 51), pixel(254, 1, 0), pixel(127, 127, 1)};
    struct chart_row row = {"T:t", pixels};
    struct state_chart c = {.rows = &row, .row_count = 1, .pixels = 3, .to_ns = 100};
    float(*shares)[THREAD_STATES_DRAWN] = state_shares_of(&c, 0);
    near(shares[0][THREAD_STATE_CREATED], 0.2);
    near(shares[0][THREAD_STATE_RUNNING], 0);
    near(shares[1][THREAD_STATE_BLOCKED], 1 / 255.0);
    near(shares[2][THREAD_STATE_RUNNING], 127 / 255.0);
    free(shares);
    c.overview = true;
    shares = state_shares_of(&c, 0);
    near(shares[0][THREAD_STATE_RUNNING], 0);
    near(shares[1][THREAD_STATE_RUNNING], 1);
    near(shares[1][THREAD_STATE_BLOCKED], 0);
    near(shares[2][THREAD_STATE_RUNNING], 254 / 255.0);
    near(shares[2][THREAD_STATE_CREATED], 1 / 255.0);
    free(shares);
}

static double all_of(const float *share)
{
    double all = 0;
    for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++)
        all += (double)share[s];
    return all;
}

/* Each state that occurs is visible, in order, and full pixels are not overfilled. */
static void short_states_are_seen(void **state)
{
    (void)state;
    srand(1);
    for (unsigned round = 0; round < 5000; round++) {
        float before[THREAD_STATES_DRAWN] = {0}, after[THREAD_STATES_DRAWN];
        float left = 1, least = (float)(rand() % 30) / 100;
        for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++) {
            before[s] = rand() % 3 ? left * (float)(rand() % 100) / 100 : 0;
            left -= before[s];
        }
        memcpy(after, before, sizeof after);
        state_shares_visible(after, least);
        assert_true(all_of(after) <= 1 + 1e-4 && all_of(after) >= all_of(before) - 1e-4);
        for (unsigned s = 0; s < THREAD_STATES_DRAWN; s++) {
            assert_true((before[s] > 0) == (after[s] > 0));
            assert_true(before[s] <= 0 || after[s] > least / (1 + THREAD_STATES_DRAWN * least));
            for (unsigned k = 0; k < s; k++)
                assert_true((before[s] < before[k]) >= (after[s] < after[k] - 1e-6f));
        }
    }
}

static void in_letters_each_has_a_row(void **state)
{
    (void)state;
    struct chart_pixel one[20], two[20] = {{{0}}};
    struct chart_row rows[2] = {{"T:one", one}, {"T:b", two}};
    struct state_chart c = {
        .title = "x", .rows = rows, .row_count = 2, .from_ns = 0, .to_ns = 1000};
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    assert_int_equal(state_chart_text_width(&c, 27), 20);
    assert_int_equal(state_chart_text_width(&c, 107), 100);
    assert_int_equal(state_chart_text_width(&c, 3), 20);
    c.pixels = 20;
    for (unsigned i = 0; i < 20; i++)
        one[i] = i < 10 ? pixel(255, 0, 0) : i == 10 ? pixel(127, 128, 0) : pixel(60, 195, 0);
    for (unsigned i = 10; i < 20; i++)
        two[i] = pixel(0, i == 19 ? 1 : 255, 0);
    state_chart_text_print(&c, f);
    fclose(f);
    assert_non_null(strstr(text, "\nT:one  ##########%=========\n"));
    assert_non_null(strstr(text, "\nT:b              ==========\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_pixels),
        cmocka_unit_test(short_states_are_seen),
        cmocka_unit_test(in_letters_each_has_a_row),
    };
    return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
