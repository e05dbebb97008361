/* Conversion of the time-stamp counter to nanoseconds: linear between readings, never
 * decreasing. */
#include "server/decode/tsc_clock.h"
#include "tests/unit/unit.h"

static struct tsc_clock ticks;

static void between_readings(void **state)
{
    (void)state;
    ticks = (struct tsc_clock){0};
    tsc_clock_add(&ticks, 1000, 5000);
    tsc_clock_add(&ticks, 3000, 6000);
    tsc_clock_add(&ticks, 4000, 8000);
    assert_int_equal(tsc_clock_ns(&ticks, 1000), 5000);
    assert_int_equal(tsc_clock_ns(&ticks, 2000), 5500);
    assert_int_equal(tsc_clock_ns(&ticks, 3500), 7000);
    assert_int_equal(tsc_clock_ns(&ticks, 4000), 8000);
    /* after the last reading: with the last slope */
    assert_int_equal(tsc_clock_ns(&ticks, 5000), 10000);
    /* before the first: with the first slope */
    assert_int_equal(tsc_clock_ns(&ticks, 0), 4500);
}

static void never_backwards(void **state)
{
    (void)state;
    ticks = (struct tsc_clock){0};
    uint64_t at = 1u << 30, ns = 1000, seed = 42;
    for (int i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        at += 2000000 + (seed >> 45);
        ns += 1000000 + (seed >> 48);
        tsc_clock_add(&ticks, at, ns);
        tsc_clock_add(&ticks, at - 5, ns + 7); /* a decreasing clock is ignored */
    }
    assert_int_equal(ticks.count, 3000);
    uint64_t before = 0;
    for (uint64_t t = at - 1500000000; t < at; t += 100001) {
        uint64_t now = tsc_clock_ns(&ticks, t);
        assert_true(now >= before);
        before = now;
    }
}

/* The conversion for a range equals that for each value in it, including its limits. */
static void in_one_span(void **state)
{
    (void)state;
    ticks = (struct tsc_clock){0};
    tsc_clock_add(&ticks, 1000, 5000);
    tsc_clock_add(&ticks, 3000, 6000);
    tsc_clock_add(&ticks, 4000, 8000);
    tsc_clock_add(&ticks, 4500, 8100);
    const uint64_t values[] = {0,    999,  1000, 2000, 2999, 3000,
                               3999, 4000, 4499, 4500, 9000, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct tsc_clock_range span = tsc_clock_span(&ticks, values[i]);
        assert_true(tsc_clock_holds(&span, values[i]));
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            if (tsc_clock_holds(&span, values[k]))
                assert_int_equal(tsc_clock_within(&span, values[k]),
                                 tsc_clock_ns(&ticks, values[k]));
    }
}

static void nonsense(void **state)
{
    (void)state;
    ticks = (struct tsc_clock){0};
    tsc_clock_add(&ticks, 1000000, 5000);
    tsc_clock_add(&ticks, 1000010, 6000000);
    assert_int_equal(tsc_clock_ns(&ticks, 0), 6000000);
    assert_int_equal(tsc_clock_ns(&ticks, UINT64_MAX / 2), 6000000);
}

static void this_machine(void **state)
{
    (void)state;
    if (!tsc_clock_known())
        skip();
    ticks = (struct tsc_clock){0};
    while (ticks.count < 3)
        tsc_clock_read(&ticks);
    assert_true(ticks.points[2].ns - ticks.points[1].ns >= 1000000);
    assert_true(ticks.points[2].ticks > ticks.points[1].ticks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_readings), cmocka_unit_test(never_backwards),
        cmocka_unit_test(in_one_span), cmocka_unit_test(nonsense), cmocka_unit_test(this_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
