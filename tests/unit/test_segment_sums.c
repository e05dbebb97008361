/* Persistent maps with snapshots, compared with arrays; pools of lists. */
#include "server/analysis/segment_sums.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 700
#define KEPT 200

static unsigned chance = 1;

static unsigned below(unsigned n)
{
    chance = chance * 1664525u + 1013904223u;
    return (chance >> 8) % n;
}

struct difference {
    const int64_t *a, *b;
    int64_t next; /* all keys below it were compared */
};

static void told(void *context, uint32_t key, int64_t amount)
{
    struct difference *d = context;
    for (; d->next < key; d->next++)
        assert_int_equal(d->a[d->next], d->b[d->next]);
    assert_int_equal(amount, d->a[key] - d->b[key]);
    assert_int_not_equal(amount, 0);
    d->next = (int64_t)key + 1;
}

static void kept_states_differ_as_they_did(void **state)
{
    (void)state;
    static int64_t plain[KEPT][KEYS];
    int64_t now[KEYS] = {0};
    struct persistent_map sums = {0};
    struct persistent_map_root head = {0}, kept[KEPT];
    for (int n = 0; n < KEPT; n++) {
        unsigned most = n < 10 ? 3 : n < 60 ? 100 : KEYS; /* the tree becomes higher */
        for (unsigned i = below(20); i--;) {
            unsigned key = below(most);
            int64_t amount = (int64_t)below(100) - 50;
            now[key] += amount;
            persistent_map_add(&sums, &head, key, amount);
        }
        memcpy(plain[n], now, sizeof now);
        kept[n] = head;
        persistent_map_snapshot(&sums, &head);
    }
    for (int n = 0; n < 5000; n++) {
        unsigned a = below(KEPT), b = below(KEPT), key = below(KEYS);
        struct difference d = {plain[a], plain[b], 0};
        assert_int_equal(persistent_map_get(&kept[a], key), plain[a][key]);
        persistent_map_difference(&kept[a], &kept[b], told, &d);
        for (; d.next < KEYS; d.next++)
            assert_int_equal(plain[a][d.next], plain[b][d.next]);
    }
    persistent_map_free(&sums);
}

static void keys_may_be_high(void **state)
{
    (void)state;
    struct persistent_map sums = {0};
    struct persistent_map_root head = {0};
    persistent_map_add(&sums, &head, 0, 1);
    persistent_map_add(&sums, &head, UINT32_MAX, 2);
    assert_int_equal(persistent_map_get(&head, UINT32_MAX), 2);
    assert_int_equal(persistent_map_get(&head, 0), 1);
    assert_int_equal(persistent_map_get(&head, 77), 0);
    persistent_map_free(&sums);
}

static struct path_share some_share(void)
{
    return (struct path_share){.pair = below(4) ? below(200) : UINT32_MAX,
                               .too = below(2),
                               .ns = below(8)   ? (int64_t)below(1000000) - 500000
                                     : below(2) ? INT64_MIN
                                                : INT64_MAX};
}

static void lists_are_read_as_they_were_put(void **state)
{
    (void)state;
    static struct path_share shares[LIST_POOL_LIST_MAX], lists[300][40];
    size_t counts[300];
    uint64_t names[300];
    struct list_pool bag = {0};
    assert_int_equal(list_pool_append(&bag, NULL, 0), 0);
    for (int n = 0; n < 300; n++) {
        counts[n] = 1 + below(40);
        for (size_t i = 0; i < counts[n]; i++)
            lists[n][i] = some_share();
        names[n] = list_pool_append(&bag, lists[n], counts[n]);
        if (n % 100 == 50) { /* a list that fills a chunk */
            for (size_t i = 0; i < LIST_POOL_LIST_MAX; i++)
                shares[i] = (struct path_share){.pair = UINT32_MAX, .ns = INT64_MIN};
            list_pool_append(&bag, shares, LIST_POOL_LIST_MAX);
        }
    }
    for (int n = 0; n < 300; n++) {
        struct list_pool_reader reader = list_pool_open(&bag, names[n]);
        struct path_share share;
        for (size_t i = 0; i < counts[n]; i++) {
            assert_true(list_pool_next(&reader, &share));
            assert_int_equal(share.pair, lists[n][i].pair);
            assert_int_equal(share.too, lists[n][i].too);
            assert_int_equal(share.ns, lists[n][i].ns);
        }
        assert_false(list_pool_next(&reader, &share));
    }
    struct list_pool_reader none = list_pool_open(&bag, 0);
    assert_false(list_pool_next(&none, shares));
    list_pool_free(&bag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_states_differ_as_they_did),
        cmocka_unit_test(keys_may_be_high),
        cmocka_unit_test(lists_are_read_as_they_were_put),
    };
    return cmocka_run_group_tests_name("sums", tests, NULL, NULL);
}
