/* Lock orders of several runs: cycles of two locks against brute force, gates, threads, and
 * intended orders. */
#include "clients/schedule/lock_orders.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 4, THREADS = 3, RUNS = 3, ORDERS = 8, ROUNDS = 2000 };

static const char *const lock_names[LOCKS] = {"M:a", "M:b", "M:c", "M:d"};
static const char *const thread_names[THREADS] = {"T:x", "T:y", "T:pool"};

static struct acquisition_order made[ORDERS];

static struct lock_orders *make_orders(unsigned seed)
{
    struct lock_orders *orders = lock_orders_new();
    srand(seed);
    for (uint32_t i = 0; i < LOCKS; i++)
        assert_int_equal(lock_orders_lock(orders, lock_names[i]), i);
    for (unsigned i = 0; i < ORDERS; i++) {
        unsigned thread = (unsigned)rand() % THREADS, held = (unsigned)rand() % 2;
        made[i] = (struct acquisition_order){.held = held,
                                             .requested = 1 - held,
                                             .run = (uint32_t)rand() % RUNS,
                                             .thread = thread_names[thread],
                                             .single = thread != 2,
                                             .text = "",
                                             .outer = {2 + (uint32_t)rand() % 2},
                                             .outer_count = (unsigned)rand() % 2};
        lock_orders_add(orders, &made[i]);
    }
    return orders;
}

static bool may_deadlock(const struct acquisition_order *a, const struct acquisition_order *b)
{
    bool gate = a->outer_count && b->outer_count && a->outer[0] == b->outer[0];
    bool other = strcmp(a->thread, b->thread) != 0 || !a->single;
    return a->held != b->held && !gate && other;
}

static void cycles_of_two_locks_are_those_of_brute_force(void **state)
{
    unsigned found = 0;
    (void)state;
    for (unsigned seed = 1; seed <= ROUNDS; seed++) {
        struct lock_orders *orders = make_orders(seed);
        bool one_run = false, several = false;
        uint32_t count;
        for (unsigned i = 0; i < ORDERS; i++)
            for (unsigned k = 0; k < ORDERS; k++) {
                one_run |= may_deadlock(&made[i], &made[k]) && made[i].run == made[k].run;
                several |= may_deadlock(&made[i], &made[k]) && made[i].run != made[k].run;
            }
        struct lock_cycle *cycles = lock_orders_cycles(orders, &count);
        assert_int_equal(count, several && !one_run);
        found += count;
        if (count) {
            assert_int_equal(cycles[0].count, 2);
            assert_true(may_deadlock(cycles[0].orders[0], cycles[0].orders[1]));
        }
        free(cycles);
        lock_orders_free(orders);
    }
    assert_true(found > 10 && found < ROUNDS);
}

static void add(struct lock_orders *orders, const char *thread, const char *held,
                const char *requested, uint32_t run)
{
    struct acquisition_order order = {.held = lock_orders_lock(orders, held),
                                      .requested = lock_orders_lock(orders, requested),
                                      .run = run,
                                      .thread = thread,
                                      .single = true,
                                      .text = thread};
    lock_orders_add(orders, &order);
}

static void a_cycle_of_three_locks_is_found_once(void **state)
{
    struct lock_orders *orders = lock_orders_new();
    uint32_t count;
    (void)state;
    add(orders, "T:x", "M:b", "M:c", 0);
    add(orders, "T:y", "M:c", "M:a", 1);
    add(orders, "T:z", "M:a", "M:b", 2);
    add(orders, "T:z", "M:a", "M:b", 1);
    struct lock_cycle *cycles = lock_orders_cycles(orders, &count);
    assert_int_equal(count, 1);
    assert_int_equal(cycles[0].count, 3);
    free(cycles);
    lock_orders_free(orders);
}

static void intended_orders_are_transitive(void **state)
{
    struct lock_orders *orders = lock_orders_new();
    unsigned line;
    uint32_t count;
    (void)state;
    assert_true(lock_orders_read(orders, "M:a M:b # comment\n\nM:b\tM:c\n", &line));
    add(orders, "T:x", "M:c", "M:a", 0);
    add(orders, "T:y", "M:c", "M:a", 1);
    add(orders, "T:x", "M:a", "M:c", 0);
    add(orders, "T:x", "M:c", "M:d", 0);
    const struct acquisition_order **found = lock_orders_violations(orders, &count);
    assert_int_equal(count, 1);
    assert_string_equal(lock_orders_name(orders, found[0]->held), "M:c");
    free(found);
    assert_false(lock_orders_read(orders, "M:d M:e\nM:c M:a\n", &line));
    assert_int_equal(line, 2);
    assert_false(lock_orders_read(orders, "M:x\n", &line));
    assert_int_equal(line, 1);
    lock_orders_free(orders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_of_two_locks_are_those_of_brute_force),
        cmocka_unit_test(a_cycle_of_three_locks_is_found_once),
        cmocka_unit_test(intended_orders_are_transitive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
