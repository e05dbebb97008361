/* The symbol cache: source locations are found again, up to a maximum number. */
#include "clients/symbols/symbol_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct symbol_cache_key key(uint32_t process, uint64_t address, uint8_t which)
{
    return (struct symbol_cache_key){process, which, address};
}

static void put(struct symbol_cache *r, struct symbol_cache_key k, const char *function, int line)
{
    char place[32];
    snprintf(place, sizeof place, "a.c:%d", line);
    struct symbol_location site = {function, place, "/src/a.c", line},
                           kept = symbol_cache_put(r, k, &site);
    assert_string_equal(kept.function, function);
    assert_ptr_not_equal(kept.place, place); /* the caller's text is overwritten by the next call */
    assert_string_equal(kept.place, place);
}

static void known_again(void **state)
{
    struct symbol_cache *r = symbol_cache_new();
    struct symbol_location site;
    (void)state;
    assert_false(symbol_cache_get(r, key(0, 0x1000, 0), &site));
    put(r, key(0, 0x1000, 0), "f", 1);
    put(r, key(0, 0x1000, 1), "f", 2);
    put(r, key(1, 0x1000, 0), "g", 3);
    assert_true(symbol_cache_get(r, key(0, 0x1000, 0), &site));
    assert_string_equal(site.place, "a.c:1");
    assert_string_equal(site.path, "/src/a.c");
    assert_true(symbol_cache_get(r, key(0, 0x1000, 1), &site));
    assert_int_equal(site.line, 2);
    assert_true(symbol_cache_get(r, key(1, 0x1000, 0), &site));
    assert_string_equal(site.function, "g");
    put(r, key(0, 0x1000, 0), "h", 4); /* replaces the previous one */
    assert_true(symbol_cache_get(r, key(0, 0x1000, 0), &site));
    assert_string_equal(site.function, "h");
    symbol_cache_clear(r);
    assert_false(symbol_cache_get(r, key(0, 0x1000, 0), &site));
    symbol_cache_free(r);
}

/* Of too many locations some are evicted; none is mistaken for another. */
static void bounded(void **state)
{
    enum { MANY = 100000 };
    struct symbol_cache *r = symbol_cache_new();
    struct symbol_location site;
    unsigned known = 0;
    (void)state;
    for (int i = 0; i < MANY; i++)
        put(r, key(0, 0x400000 + 7 * (uint64_t)i, 0), "f", i);
    for (int i = 0; i < MANY; i++)
        if (symbol_cache_get(r, key(0, 0x400000 + 7 * (uint64_t)i, 0), &site)) {
            assert_int_equal(site.line, i);
            known++;
        }
    assert_in_range(known, 1000, 10000);
    symbol_cache_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_again), cmocka_unit_test(bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
