/* What an arena returns stays unchanged until the arena is freed. */
#include "base/arena.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void texts_stay(void **state)
{
    (void)state;
    struct arena arena = {0};
    char *texts[500], long_one[10001];
    memset(long_one, 'x', 10000);
    long_one[10000] = 0;
    for (unsigned i = 0; i < 500; i++) {
        char text[32];
        snprintf(text, sizeof text, "text %u", i);
        texts[i] = arena_text(&arena, i % 100 == 50 ? long_one : text);
    }
    for (unsigned i = 0; i < 500; i++) {
        char text[32];
        snprintf(text, sizeof text, "text %u", i);
        assert_string_equal(texts[i], i % 100 == 50 ? long_one : text);
    }
    arena_free(&arena);
}

static void pieces_are_zero_and_aligned(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t size = 0; size < 300; size++) {
        unsigned char *piece = arena_bytes(&arena, size);
        assert_int_equal((uintptr_t)piece % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(piece[i], 0);
        memset(piece, 0xff, size);
    }
    arena_free(&arena);
    assert_null(arena.newest);
    assert_string_equal(arena_text(&arena, "again"), "again");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_stay),
        cmocka_unit_test(pieces_are_zero_and_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
