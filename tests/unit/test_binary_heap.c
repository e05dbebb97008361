/* The binary heap, compared with sorting. */
#include "base/binary_heap.h"
#include "tests/unit/unit.h"

#define ITEMS 1000

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void the_least_comes_out_first(void **state)
{
    (void)state;
    uint64_t keys[ITEMS];
    struct binary_heap heap = {0};
    unsigned random = 1;
    for (uint32_t i = 0; i < ITEMS; i++) {
        random = random * 1664525u + 1013904223u;
        keys[i] = random >> 22; /* many keys are equal */
        binary_heap_push(&heap, keys[i], (uint32_t)keys[i] + 7);
    }
    qsort(keys, ITEMS, sizeof *keys, by_key);
    for (size_t i = 0; i < ITEMS; i++) {
        assert_int_equal(heap.count, ITEMS - i);
        assert_int_equal(heap.items->key, keys[i]);
        struct binary_heap_item item = binary_heap_pop(&heap);
        assert_int_equal(item.key, keys[i]);
        assert_int_equal(item.value, keys[i] + 7);
    }
    assert_int_equal(heap.count, 0);
    binary_heap_free(&heap);
    assert_null(heap.items);
}

/* Alternating insertions and removals, in an array of the caller. */
static void what_is_put_between_two_finds_its_place(void **state)
{
    (void)state;
    struct binary_heap_item items[ITEMS];
    size_t count = 0, there[64] = {0};
    unsigned random = 1;
    for (unsigned n = 0; n < 20000; n++) {
        random = random * 1664525u + 1013904223u;
        uint64_t key = random >> 26;
        if (count < ITEMS && random >> 8 & 1) {
            binary_heap_sift_up(items, count++, (struct binary_heap_item){key, 0});
            there[key]++;
        } else if (count) {
            uint64_t least = 0;
            while (!there[least])
                least++;
            assert_int_equal(binary_heap_remove_top(items, count--).key, least);
            there[least]--;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_comes_out_first),
        cmocka_unit_test(what_is_put_between_two_finds_its_place),
    };
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
