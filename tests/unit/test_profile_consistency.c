/* Consistency checks of call profiles (server/timing/profile_consistency.h): each violated rule is
 * reported, and consistent data passes. */
#include "server/timing/profile_consistency.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000

struct told {
    unsigned count;
    enum account account;
    int64_t is, should;
};

static void tell(void *context, enum account account, int64_t is, int64_t should)
{
    struct told *told = context;
    told->count++;
    told->account = account;
    told->is = is;
    told->should = should;
}

static void only(const struct told *told, enum account account, int64_t is, int64_t should)
{
    assert_int_equal(told->count, 1);
    assert_int_equal(told->account, account);
    assert_int_equal(told->is, is);
    assert_int_equal(told->should, should);
    assert_true(*profile_account_name(told->account));
}

/* Returns a thread with contexts: 1 main calls 2 f and 3 g, which calls 4 f. */
static struct call_context_thread thread(void)
{
    static const uint32_t parents[] = {0, 0, 1, 1, 3};
    static const uint64_t calls[] = {0, 1, 10, 2, 30}, own[] = {0, 5, 20, 8, 60};
    struct call_context_thread t = {.count = 5};
    t.items = calloc(5, sizeof *t.items);
    for (uint32_t i = 0; i < 5; i++)
        t.items[i].sums = (struct snapshot_context){.index = i,
                                                    .is = {.parent = parents[i], .lands = i},
                                                    .calls = calls[i],
                                                    .ended = calls[i],
                                                    .least_ns = UINT64_MAX,
                                                    .own_ns = own[i] * MS};
    return t;
}

static struct call_profile summed(const struct call_context_thread *t)
{
    static const uint32_t scopes[] = {0, 1, 2, 3, 2};
    struct call_profile calls = {0};
    call_profile_add(&calls, t, scopes);
    return calls;
}

static struct told look(struct call_context_thread *t, struct call_profile *calls, int64_t life_ns)
{
    struct told told = {0};
    profile_consistency_contexts(&(struct call_contexts){.threads = t, .count = 1}, t, tell, &told);
    profile_consistency_calls(calls, tell, &told);
    profile_consistency_life(calls, life_ns, tell, &told);
    call_profile_free(calls);
    free(t->items);
    return told;
}

static void what_adds_up(void **state)
{
    (void)state;
    struct call_context_thread t = thread();
    struct call_profile calls = summed(&t);
    assert_int_equal(look(&t, &calls, 93 * MS).count, 0);
}

static void more_ends_than_begins(void **state)
{
    (void)state;
    struct call_context_thread t = thread();
    t.items[2].sums.ended = 11;
    struct call_profile calls = summed(&t);
    struct told told = look(&t, &calls, 100 * MS);
    only(&told, PROFILE_ACCOUNT_ENDED, 11, 10);
    assert_true(profile_consistency_check_counts(told.account));
}

/* A call that began in another thread of the process, as on the stack of a coroutine. */
static void ends_of_another_thread(void **state)
{
    (void)state;
    struct call_context_thread threads[] = {thread(), thread()};
    struct call_contexts all = {.threads = threads, .count = 2};
    struct told told = {0};
    threads[0].items[2].sums.ended = 11;
    threads[1].items[2].sums.ended = 9;
    profile_consistency_contexts(&all, &threads[0], tell, &told);
    assert_int_equal(told.count, 0);
    threads[1].process = 1;
    profile_consistency_contexts(&all, &threads[0], tell, &told);
    only(&told, PROFILE_ACCOUNT_ENDED, 11, 10);
    free(threads[0].items);
    free(threads[1].items);
}

static struct call_arc *arc_into(struct call_profile *calls, uint64_t times)
{
    for (size_t i = 0; i < calls->arc_count; i++)
        if (calls->arcs[i].sums.calls == times)
            return &calls->arcs[i];
    fail();
    return NULL;
}

static void arcs(void **state)
{
    (void)state;
    struct call_context_thread t = thread();
    struct call_profile calls = summed(&t);
    arc_into(&calls, 30)->sums.calls = 29;
    struct told told = look(&t, &calls, 100 * MS);
    only(&told, PROFILE_ACCOUNT_ARCS, 39, 40);
    t = thread();
    calls = summed(&t);
    arc_into(&calls, 30)->sums.self_ns += 1;
    told = look(&t, &calls, 100 * MS);
    only(&told, PROFILE_ACCOUNT_SHARES, 80 * MS + 1, 80 * MS);
    assert_false(profile_consistency_check_counts(told.account));
}

static void paths(void **state)
{
    (void)state;
    struct call_context_thread t = thread();
    struct call_profile calls = summed(&t);
    calls.nodes[calls.node_count - 1].sums.self_ns -= 1;
    struct told told = look(&t, &calls, 100 * MS);
    only(&told, PROFILE_ACCOUNT_PATHS, 93 * MS - 1, 93 * MS);
}

static void longer_than_it_lived(void **state)
{
    (void)state;
    struct call_context_thread t = thread();
    struct call_profile calls = summed(&t);
    struct told told = look(&t, &calls, 91 * MS);
    only(&told, PROFILE_ACCOUNT_LIFE, 93 * MS, 91 * MS);
}

static void steps_and_blocks(void **state)
{
    (void)state;
    struct told told = {0};
    profile_consistency_steps(10 * MS, 10 * MS, tell, &told);
    /* clocks are fitted: a small difference is allowed */
    profile_consistency_steps(10 * MS, 10 * MS - 900, tell, &told);
    profile_consistency_live(10, 4, 6, tell, &told);
    profile_consistency_live(0, 0, 0, tell, &told);
    assert_int_equal(told.count, 0);
    profile_consistency_steps(12 * MS, 10 * MS, tell, &told);
    only(&told, PROFILE_ACCOUNT_STEPS, 12 * MS, 10 * MS);
    told = (struct told){0};
    profile_consistency_live(10, 4, 7, tell, &told);
    only(&told, PROFILE_ACCOUNT_LIVE, 6, 7);
    told = (struct told){0};
    profile_consistency_live(4, 5, 0, tell, &told);
    only(&told, PROFILE_ACCOUNT_LIVE, -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_adds_up),
                                       cmocka_unit_test(more_ends_than_begins),
                                       cmocka_unit_test(ends_of_another_thread),
                                       cmocka_unit_test(arcs),
                                       cmocka_unit_test(paths),
                                       cmocka_unit_test(longer_than_it_lived),
                                       cmocka_unit_test(steps_and_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
