/* The hash map against a plain array. */
#include "memory/map.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>

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
        uint64_t a = k % 7, b = k * 1000003ull; /* few a's: probes run long */
        if (random >> 30) {
            map_put(&map, a, b, &values[k]);
            count += !there[k];
            there[k] = true;
        } else {
            assert_ptr_equal(map_take(&map, a, b), there[k] ? &values[k] : NULL);
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

/* Growing bit by bit, it has two tables for a while. */
static void it_does_so_while_it_grows(void **state)
{
    (void)state;
    holds_what_was_put_and_not_taken(true);
    struct map map = {.gradual = true};
    for (uint64_t n = 1; n < 20000; n++) {
        map_put(&map, n, n, &map);
        if (n % 3 == 0)
            assert_ptr_equal(map_take(&map, n / 3, n / 3), &map);
        if (n > 100)
            assert_ptr_equal(map_get(&map, n - 50, n - 50), &map);
    }
    assert_int_equal(map.count, 19999 - 19998 / 3);
    map_settle(&map);
    size_t count = 0;
    for (size_t i = 0; i < map.room; i++)
        count += map.entries[i].value != NULL;
    assert_int_equal(count, map.count);
    map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_holds_what_was_put_and_not_taken), cmocka_unit_test(it_does_so_while_it_grows)};
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
