/* The hash map, compared with an array. */
#include "base/map.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 512

static void holds_what_was_put_and_not_taken(bool gradual)
{
    static int values[KEYS];
    bool there[KEYS] = {false};
    struct map map = {.gradual = gradual};
    unsigned random = 1;
    size_t count = 0;
    for (int n = 0; n < 200000; n++) {
        random = random * 1664525u + 1013904223u;
        unsigned k = random >> 16 & (KEYS - 1);
        uint64_t a = k % 7, b = k * 1000003ull; /* few different a: long probe sequences */
        if (random >> 30) {
            map_put(&map, a, b, &values[k]);
            count += !there[k];
            there[k] = true;
        } else {
            assert_ptr_equal(map_remove(&map, a, b), there[k] ? &values[k] : NULL);
            count -= there[k];
            there[k] = false;
        }
        assert_int_equal(map.count, count);
        unsigned other = random >> 4 & (KEYS - 1);
        assert_ptr_equal(map_get(&map, other % 7, other * 1000003ull),
                         there[other] ? &values[other] : NULL);
    }
    map_free(&map);
    assert_null(map_get(&map, 1, 1));
}

static void it_holds_what_was_put_and_not_taken(void **state)
{
    (void)state;
    holds_what_was_put_and_not_taken(false);
}

/* While it grows incrementally, the map has two tables. */
static void it_does_so_while_it_grows(void **state)
{
    (void)state;
    holds_what_was_put_and_not_taken(true);
    struct map map = {.gradual = true};
    for (uint64_t n = 1; n < 20000; n++) {
        map_put(&map, n, n, &map);
        if (n % 3 == 0)
            assert_ptr_equal(map_remove(&map, n / 3, n / 3), &map);
        if (n > 100)
            assert_ptr_equal(map_get(&map, n - 50, n - 50), &map);
    }
    assert_int_equal(map.count, 19999 - 19998 / 3);
    map_free(&map);
}

/* Iteration visits each entry once, even while there are two tables. */
static void all_of_it_is_gone_through(void **state)
{
    (void)state;
    static bool seen[KEYS + 1];
    struct map map = {.gradual = true};
    for (struct map_walk walk = {.map = &map}; map_next(&walk);)
        fail();
    bool two_tables = false;
    for (uint64_t n = 1; n <= KEYS; n++) {
        map_put(&map, n, n + 1, &seen[n]);
        two_tables |= map.old != NULL;
        memset(seen, 0, sizeof seen);
        size_t count = 0;
        for (struct map_walk walk = {.map = &map}; map_next(&walk); count++) {
            assert_true(walk.a <= n && walk.b == walk.a + 1 && walk.value == &seen[walk.a]);
            assert_false(seen[walk.a]);
            seen[walk.a] = true;
        }
        assert_int_equal(count, n);
    }
#ifdef GRADUAL_ROOM /* only in the test's build */
    assert_true(two_tables);
#endif
    map_free(&map);
}

static bool is_old(void *end, uint64_t a, uint64_t b, void *value)
{
    (void)b, (void)value;
    return a < *(uint64_t *)end;
}

/* Entries are removed in steps, while others are added. */
static void what_goes_is_taken_out(void **state)
{
    (void)state;
    for (uint64_t most = 1; most <= 1000; most *= 10) {
        struct map map = {.gradual = true};
        struct map_removal weeding = {0};
        uint64_t end = 3000, n = 1;
        for (; n <= 4000; n++)
            map_put(&map, n, 0, &map);
        for (unsigned steps = 1; !map_remove_if(&map, &weeding, most, is_old, &end); steps++)
            if (steps % 16 == 0)
                map_put(&map, n++, 0, &map);
        for (uint64_t k = 1; k < n; k++)
            assert_ptr_equal(map_get(&map, k, 0), k < end ? NULL : &map);
        assert_int_equal(map.count, n - end);
        map_free(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_was_put_and_not_taken),
        cmocka_unit_test(it_does_so_while_it_grows),
        cmocka_unit_test(all_of_it_is_gone_through),
        cmocka_unit_test(what_goes_is_taken_out),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
