/* Blocks of a scope (server/timing/scope_blocks.h), on Meira's figure 3.2, A(B(D), C(D)), with
 * work of 1 to 7 ms. */
#include "server/timing/scope_blocks.h"
#include "server/timing/call_profile.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>

#define MS 1000000u

enum { THREAD, A, B, C, D };
/* Contexts: 1 A, 2 B in A, 3 C in A, 4 D in B, 5 D in C. */
static const uint32_t parents[] = {0, 0, 1, 1, 2, 3}, scopes[] = {THREAD, A, B, C, D, D};
static const uint64_t sites[] = {0, 90, 16, 18, 12, 15};
#define COUNT 6u

/* Time of each step: 2 * context before any call in it, 2 * context + 1 after a call of it has
 * ended. */
static const uint64_t took[2 * COUNT] = {
    [2 * 1] = 1 * MS, [2 * 2] = 2 * MS,     [2 * 2 + 1] = 3 * MS,
    [2 * 3] = 4 * MS, [2 * 3 + 1] = 5 * MS, [2 * 4] = 6 * MS,
    [2 * 5] = 7 * MS, [2 * 4 + 1] = 100,    [2 * 5 + 1] = 200};

/* Returns the contexts; their own times are those of their steps, and `more` in addition. */
static struct call_context_thread told(uint64_t more)
{
    struct call_context_thread t = {.count = COUNT};
    t.items = calloc(COUNT, sizeof *t.items);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct snapshot_context *s = &t.items[i].sums;
        *s = (struct snapshot_context){.index = i,
                                       .is = {.parent = parents[i], .lands = i, .site = sites[i]},
                                       .calls = i > 0,
                                       .ended = i > 0,
                                       .own_ns = took[2 * i] + (i ? more : 0)};
    }
    for (uint32_t i = 2; i < COUNT; i++)
        t.items[parents[i]].sums.own_ns += took[2 * i + 1];
    return t;
}

static struct scope_blocks blocks_in(uint32_t scope, bool together, unsigned threads, uint64_t more)
{
    struct call_context_thread t = told(more);
    struct scope_blocks b = {.scope = scope, .together = together};
    struct scope_block_times times = {.ns = (uint64_t *)(uintptr_t)took, .count = 2 * COUNT};
    for (uint32_t i = 0; i < threads; i++)
        scope_blocks_add(&b, &(struct scope_block_thread){&t, i, COUNT, scopes, sites}, &times);
    scope_blocks_sort(&b);
    free(t.items);
    return b;
}

static void is(const struct scope_block *b, uint64_t after, uint64_t until, uint64_t times,
               int64_t ns, uint32_t parent)
{
    assert_int_equal(b->after, after);
    assert_int_equal(b->until, until);
    assert_int_equal(b->times, times);
    assert_int_equal(b->ns, ns);
    assert_int_equal(b->parent, parent);
}

static void seven_steps(void **state)
{
    (void)state;
    struct scope_blocks b = blocks_in(A, false, 1, 0);
    assert_int_equal(b.count, 3);
    is(&b.items[0], 0, 16, 1, 1 * MS, THREAD);
    is(&b.items[1], 16, 18, 1, 3 * MS, THREAD);
    is(&b.items[2], 18, 0, 1, 5 * MS, THREAD);
    assert_int_equal(b.self_ns, 9 * MS);
    assert_int_equal(b.unassigned_ns, 0);
    scope_blocks_free(&b);
    b = blocks_in(B, false, 1, 0);
    assert_int_equal(b.count, 2);
    is(&b.items[0], 0, 12, 1, 2 * MS, A);
    is(&b.items[1], 12, 0, 1, 100, A);
    scope_blocks_free(&b);
    b = blocks_in(C, false, 1, 0);
    is(&b.items[0], 0, 15, 1, 4 * MS, A);
    is(&b.items[1], 15, 0, 1, 200, A);
    scope_blocks_free(&b);
    b = blocks_in(D, false, 1, 0);
    assert_int_equal(b.count, 2);
    is(&b.items[0], 0, 0, 1, 6 * MS, B);
    is(&b.items[1], 0, 0, 1, 7 * MS, C);
    assert_int_equal(b.calls, 2);
    scope_blocks_free(&b);
}

/* A scope that is reached on several paths, and in several threads. */
static void together(void **state)
{
    (void)state;
    struct scope_blocks b = blocks_in(D, true, 1, 0);
    assert_int_equal(b.count, 1);
    is(&b.items[0], 0, 0, 2, 13 * MS, 0);
    scope_blocks_free(&b);
    b = blocks_in(A, false, 3, 0);
    assert_int_equal(b.count, 3);
    is(&b.items[1], 16, 18, 3, 9 * MS, THREAD);
    assert_int_equal(b.self_ns, 27 * MS);
    scope_blocks_free(&b);
}

/* Time that no step contains is unassigned. */
static void not_told(void **state)
{
    (void)state;
    struct scope_blocks b = blocks_in(A, false, 1, 77);
    is(&b.items[0], 0, 16, 1, 1 * MS, THREAD);
    assert_int_equal(b.self_ns, 9 * MS + 77);
    assert_int_equal(b.unassigned_ns, 77);
    scope_blocks_free(&b);
}

/* If call sites are unknown, all calls together end one block, which comes last. */
static void no_places(void **state)
{
    (void)state;
    static const uint64_t none[COUNT];
    struct call_context_thread t = told(0);
    struct scope_blocks b = {.scope = A};
    struct scope_block_times times = {.ns = (uint64_t *)(uintptr_t)took, .count = 2 * COUNT};
    scope_blocks_add(&b, &(struct scope_block_thread){&t, 0, COUNT, scopes, none}, &times);
    scope_blocks_sort(&b);
    assert_int_equal(b.count, 2);
    is(&b.items[0], 0, BLOCKS_ANY, 1, 1 * MS, THREAD);
    is(&b.items[1], BLOCKS_NO_SITE, BLOCKS_ANY, 2, 8 * MS, THREAD);
    scope_blocks_free(&b);
    free(t.items);
}

/* The same from call records; after lost records nothing is counted until the next call of the
 * scope begins. */
static void by_entries(void **state)
{
    (void)state;
    uint64_t ns[2 * COUNT] = {0};
    struct scope_block_times t = {.ns = ns, .count = 2 * COUNT, .step = UINT32_MAX};
    static const struct call_record all[] = {
        {CALL_RECORD_BEGINS, 1, 1000, 0}, {CALL_RECORD_BEGINS, 2, 1010, 0},
        {CALL_RECORD_BEGINS, 4, 1030, 0}, {CALL_RECORD_ENDED, 4, 1090, 0},
        {CALL_RECORD_ENDED, 2, 1095, 0},  {CALL_RECORD_LOST, 0, 1125, 9},
        {CALL_RECORD_ENDED, 1, 2000, 0},  {CALL_RECORD_BEGINS, 99, 2001, 0},
        {CALL_RECORD_ENDED, 99, 2002, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        scope_block_times_entry(&t, &all[i]);
    assert_int_equal(ns[2], 10);
    assert_int_equal(ns[4], 20);
    assert_int_equal(ns[8], 60);
    assert_int_equal(ns[9], 5);
    assert_int_equal(ns[5], 30);
    assert_int_equal(ns[3], 1);
    uint64_t sum = 0;
    for (size_t i = 0; i < 2 * COUNT; i++)
        sum += ns[i];
    assert_int_equal(sum, 126);
}

/* A calls B or C, and then C again: A(B, C) and A(C, C), from call records. */
static void branches(void **state)
{
    (void)state;
    static const uint32_t in[] = {0, 0, 1, 1, 1}, are[] = {THREAD, A, B, C, C};
    static const uint64_t at[] = {0, 90, 16, 18, 25};
    struct call_context_thread t = {.count = 5, .items = calloc(5, sizeof *t.items)};
    for (uint32_t i = 1; i < 5; i++)
        t.items[i].sums =
            (struct snapshot_context){.index = i,
                                      .is = {.parent = in[i], .lands = i, .site = at[i]},
                                      .calls = i == 1 || i == 4 ? 2 : 1,
                                      .ended = i == 1 || i == 4 ? 2 : 1};
    struct scope_block_thread thread = {&t, 0, 5, are, at};
    struct scope_block_times times = {.ns = calloc(10, sizeof(uint64_t)),
                                      .count = 10,
                                      .step = UINT32_MAX,
                                      .thread = &thread,
                                      .scope = A};
    static const struct call_record all[] = {
        {CALL_RECORD_BEGINS, 1, 1000, 0}, {CALL_RECORD_BEGINS, 2, 1001, 0},
        {CALL_RECORD_ENDED, 2, 1002, 0},  {CALL_RECORD_BEGINS, 4, 1012, 0},
        {CALL_RECORD_ENDED, 4, 1013, 0},  {CALL_RECORD_ENDED, 1, 1014, 0},
        {CALL_RECORD_BEGINS, 1, 2000, 0}, {CALL_RECORD_BEGINS, 3, 2003, 0},
        {CALL_RECORD_ENDED, 3, 2004, 0},  {CALL_RECORD_BEGINS, 4, 2034, 0},
        {CALL_RECORD_ENDED, 4, 2035, 0},  {CALL_RECORD_ENDED, 1, 2036, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        scope_block_times_entry(&times, &all[i]);
    struct scope_blocks b = {.scope = A};
    scope_blocks_add(&b, &thread, &times);
    scope_blocks_sort(&b);
    assert_int_equal(b.count, 5);
    is(&b.items[0], 0, 16, 1, 1, THREAD);
    is(&b.items[1], 0, 18, 1, 3, THREAD);
    is(&b.items[2], 16, 25, 1, 10, THREAD); /* not until site 18, which is next in the code */
    is(&b.items[3], 18, 25, 1, 30, THREAD);
    is(&b.items[4], 25, 0, 2, 2, THREAD);
    assert_false(b.guessed);
    scope_blocks_free(&b);
    /* Without call records, it is unknown which call ends a block. */
    scope_block_times_free(&times);
    times = (struct scope_block_times){.ns = calloc(10, sizeof(uint64_t)), .count = 10};
    b = (struct scope_blocks){.scope = A};
    scope_blocks_add(&b, &thread, &times);
    scope_blocks_sort(&b);
    assert_int_equal(b.count, 4);
    is(&b.items[0], 0, BLOCKS_ANY, 2, 0, THREAD);
    is(&b.items[1], 16, BLOCKS_ANY, 1, 0, THREAD);
    is(&b.items[2], 18, BLOCKS_ANY, 1, 0, THREAD);
    is(&b.items[3], 25, 0, 2, 0, THREAD);
    assert_true(b.guessed);
    scope_blocks_free(&b);
    scope_block_times_free(&times);
    free(t.items);
}

/* B is only counted: no block of A ends with its call, and its time is in no block. */
static void counted_only(void **state)
{
    (void)state;
    struct call_context_thread t = told(0);
    struct scope_blocks b = {.scope = A};
    struct scope_block_times times = {.ns = (uint64_t *)(uintptr_t)took, .count = 2 * COUNT};
    assert_int_equal(call_profile_counted_only(&t), 0);
    t.items[2].sums.is.scope = SCOPE_COUNTED;
    t.items[2].sums.calls = 7;
    assert_int_equal(call_profile_counted_only(&t), 7);
    scope_blocks_add(&b, &(struct scope_block_thread){&t, 0, COUNT, scopes, sites}, &times);
    scope_blocks_sort(&b);
    assert_int_equal(b.count, 2);
    is(&b.items[0], 0, 18, 1, 1 * MS, THREAD);
    is(&b.items[1], 18, 0, 1, 5 * MS, THREAD);
    scope_blocks_free(&b);
    free(t.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(seven_steps), cmocka_unit_test(together),
                                       cmocka_unit_test(not_told),    cmocka_unit_test(no_places),
                                       cmocka_unit_test(by_entries),  cmocka_unit_test(branches),
                                       cmocka_unit_test(counted_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
