/* Timestamps in the formats of logs are parsed, and anything else is rejected. */
#include "clients/cli/logtime.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct logtime read(const char *text) { return logtime_read(text, strlen(text)); }

static void is(const char *text, uint64_t unit, uint64_t ns)
{
    struct logtime time = read(text);
    assert_int_not_equal(time.kind, LOGTIME_NONE);
    assert_int_equal(logtime_ns(time, unit), ns);
}

static void numbers_are_of_a_unit(void **state)
{
    (void)state;
    is("0", 1, 0);
    is("12", 1000, 12000);
    is(" 1700000000 ", 1000000000, 1700000000000000000);
    is("1700000000.25", 1000000000, 1700000000250000000);
    is("[17.5]", 1000000, 17500000);
    is("0.000000001", 1000000000, 1);
    is("1.9", 1, 1);
}

static void the_unit_makes_dates(void **state)
{
    (void)state;
    assert_int_equal(logtime_unit(1700000000), 1000000000);
    assert_int_equal(logtime_unit(1700000000000), 1000000);
    assert_int_equal(logtime_unit(1700000000000000), 1000);
    assert_int_equal(logtime_unit(1700000000000000000), 1);
    assert_int_equal(logtime_unit(5), 1000000000);
    assert_int_equal(logtime_unit_named("ms"), 1000000);
    assert_int_equal(logtime_unit_named("min"), 0);
}

static void dates_are_read(void **state)
{
    const uint64_t begin = 1704164645; /* 2024-01-02 03:04:05 UTC */
    (void)state;
    is("2024-01-02T03:04:05Z", 1, begin * 1000000000);
    is("2024-01-02 03:04:05.250", 1, begin * 1000000000 + 250000000);
    is("2024-01-02T04:04:05,5+01:00", 1, begin * 1000000000 + 500000000);
    is("2024-01-01 21:34:05 -0530", 1, begin * 1000000000);
    is("2024/01/02 03:04:05.000001", 1, begin * 1000000000 + 1000);
    is("02/Jan/2024:03:04:05 +0000", 1, begin * 1000000000);
    is("00:01:02.5", 1, 62500000000);
}

static void what_is_no_time_is_not_read(void **state)
{
    static const char *const none[] = {"",
                                       " ",
                                       "soon",
                                       "5ms",
                                       "-5",
                                       "1.",
                                       "1.2.3",
                                       "2024-01-02T",
                                       "2024-01-02T03:04:05 or so",
                                       "2024-13-02T03:04:05",
                                       "12345678901234567890",
                                       "2024-01-02T03:04:05+1",
                                       "2024-01-02T03:04:05+01:75",
                                       "1900-01-02T03:04:05Z",
                                       "00:00:01+09:00"};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(read(none[i]).kind, LOGTIME_NONE);
    assert_int_equal(logtime_ns(read("9999999999999999999"), 1000000000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_of_a_unit), cmocka_unit_test(the_unit_makes_dates),
        cmocka_unit_test(dates_are_read), cmocka_unit_test(what_is_no_time_is_not_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
