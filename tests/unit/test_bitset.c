/* A set of integers, sparse or dense. */
#include "base/bitset.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static void it_holds_what_was_put(void **state)
{
    (void)state;
    const uint64_t steps[] = {1, 3, 64, 4095, 4096, 100003, (uint64_t)1 << 40};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        struct bitset bits = {0};
        assert_false(bitset_test(&bits, 0));
        for (uint64_t i = 0; i < 2000; i++)
            bitset_set(&bits, i * steps[s]);
        for (uint64_t i = 0; i < 2000; i++) {
            assert_true(bitset_test(&bits, i * steps[s]));
            assert_int_equal(bitset_test(&bits, i * steps[s] + 1), steps[s] == 1 && i + 1 < 2000);
        }
        assert_false(bitset_test(&bits, UINT64_MAX));
        bitset_free(&bits);
        assert_false(bitset_test(&bits, 0));
    }
}

/* For a contiguous range of millions, the memory is about a bit for each number. */
static void many_take_little(void **state)
{
    (void)state;
    struct bitset bits = {0};
    const uint64_t from = (uint64_t)1 << 33, many = 4u << 20;
    for (uint64_t i = 0; i < many; i += 2)
        bitset_set(&bits, from + i);
    assert_true(bits.pages.count * 512 <= many / 8 + 512);
    bitset_free(&bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_was_put),
        cmocka_unit_test(many_take_little),
    };
    return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
