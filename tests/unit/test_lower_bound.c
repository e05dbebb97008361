/* Binary search, against a linear one. */
#include "base/lower_bound.h"
#include "tests/unit/unit.h"

static void it_finds_what_a_linear_search_finds(void **state)
{
    (void)state;
    uint32_t values[40];
    uint64_t random = 1;
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t count = round % 40, value = 0;
        for (uint32_t i = 0; i < count; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            values[i] = value += (uint32_t)(random >> 33) % 3;
        }
        for (uint32_t wanted = 0; wanted <= value + 1; wanted++) {
            uint32_t first = 0;
            while (first < count && values[first] < wanted)
                first++;
            assert_int_equal(LOWER_BOUND(i, 0, count, values[i] < wanted), first);
            for (uint32_t low = 0; low <= first; low++)
                assert_int_equal(LOWER_BOUND(i, low, count, values[i] < wanted), first);
        }
    }
}

static void it_accepts_indexes_up_to_the_largest(void **state)
{
    (void)state;
    assert_true(LOWER_BOUND(i, 0, UINT64_MAX, i < UINT64_MAX - 1) == UINT64_MAX - 1);
    assert_true(LOWER_BOUND(i, UINT64_MAX - 2, UINT64_MAX, i < UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_finds_what_a_linear_search_finds),
                                       cmocka_unit_test(it_accepts_indexes_up_to_the_largest)};
    return cmocka_run_group_tests_name("lower_bound", tests, NULL, NULL);
}
