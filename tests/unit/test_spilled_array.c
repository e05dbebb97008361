/* Storage that spills to disk: its contents stay the same, wherever they are. */
#include "base/spilled_array.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define RESPONSE_CHUNKS 400u

static uint64_t places[RESPONSE_CHUNKS];

static size_t size_of(unsigned i) { return 1 + i * 37 % 1500; }

static void put_all(struct spilled_array *s)
{
    for (unsigned i = 0; i < RESPONSE_CHUNKS; i++) {
        uint8_t *bytes = spilled_array_append(s, size_of(i), &places[i]);
        assert_non_null(bytes);
        assert_true((uintptr_t)bytes % 8 == 0 && places[i] && bytes[0] == 0);
        memset(bytes, (int)(i % 251 + 1), size_of(i));
    }
}

static void expect_from(const struct spilled_array *s, unsigned first)
{
    for (unsigned i = first; i < RESPONSE_CHUNKS; i++) {
        const uint8_t *bytes = spilled_array_get(s, places[i]);
        assert_non_null(bytes);
        for (size_t k = 0; k < size_of(i); k++)
            assert_int_equal(bytes[k], i % 251 + 1);
    }
}

static void what_is_put_stays(void **state)
{
    (void)state;
    struct spilled_array s = {0};
    put_all(&s);
    expect_from(&s, 0);
    size_t piece = spilled_array_chunk(&s);
    spilled_array_drop_chunk(&s, piece / 2);
    unsigned first = 0;
    while (places[first] / SPILLED_CHUNK_BYTES < piece / 2)
        assert_null(spilled_array_get(&s, places[first++]));
    expect_from(&s, first);
    spilled_array_free(&s);
    assert_null(s.pieces);
}

static void without_a_file_it_is_memory(void **state)
{
    (void)state;
    struct spilled_array s = {0};
    struct rlimit limit = {0, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    put_all(&s);
    expect_from(&s, 0);
    for (size_t i = 0; i < s.count; i++)
        assert_true(s.pieces[i].own);
    spilled_array_free(&s);
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_stays),
        cmocka_unit_test(without_a_file_it_is_memory),
    };
    return cmocka_run_group_tests_name("spill", tests, NULL, NULL);
}
