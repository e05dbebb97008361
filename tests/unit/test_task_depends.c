/* Dependences among sibling tasks (OpenMP's depend), compared with all pairs of conflicting
 * accesses. */
#include "clients/libpoet/openmp/task_depends.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define TASKS 40u
#define PLACES 5u
#define ACCESSES 3u

static const char places[PLACES];

/* The key of a task: never 0. */
static uint64_t key_of(unsigned task) { return 1000 + task; }

struct depending {
    struct task_dependences *depends;
    uint64_t *before;
    uint32_t count;
};

static struct depending begin(void)
{
    struct depending d = {.depends = task_depends_new()};
    assert_non_null(d.depends);
    return d;
}

static void end(struct depending *d)
{
    free(d->before);
    task_depends_free(d->depends);
}

/* Adds a task with one access, and expects the keys, which end with 0. */
static void adds(struct depending *d, unsigned place, enum dependence how, unsigned task,
                 const unsigned *wanted)
{
    uint32_t n = 0;
    d->count = 0;
    assert_true(task_depends_add(d->depends, &places[place], how, task ? key_of(task) : 0,
                                 &d->before, &d->count));
    for (; wanted[n]; n++)
        assert_true(n < d->count && d->before[n] == key_of(wanted[n]));
    assert_int_equal(d->count, n);
    if (n)
        d->before[n] = 0; /* there is room for one more */
}

#define AFTER(...)                                                                                 \
    (const unsigned[]) { __VA_ARGS__ __VA_OPT__(, ) 0 }

static void readers_come_after_the_writer_and_before_the_next(void **state)
{
    struct depending d = begin();
    (void)state;
    adds(&d, 0, DEPEND_READS, 1, AFTER());
    adds(&d, 0, DEPEND_WRITES, 2, AFTER(1));
    adds(&d, 0, DEPEND_READS, 3, AFTER(2));
    adds(&d, 0, DEPEND_READS, 4, AFTER(2));
    adds(&d, 1, DEPEND_WRITES, 5, AFTER());
    adds(&d, 0, DEPEND_WRITES, 6, AFTER(3, 4));
    adds(&d, 0, DEPEND_WRITES, 7, AFTER(6));
    end(&d);
}

static void members_of_a_set_are_not_ordered(void **state)
{
    struct depending d = begin();
    (void)state;
    adds(&d, 0, DEPEND_READS, 1, AFTER());
    adds(&d, 0, DEPEND_IN_SET, 2, AFTER(1));
    adds(&d, 0, DEPEND_IN_SET, 3, AFTER(1));
    adds(&d, 0, DEPEND_READS, 4, AFTER(2, 3));
    adds(&d, 0, DEPEND_IN_SET, 5, AFTER(4));
    end(&d);
}

static void a_query_adds_nothing(void **state)
{
    struct depending d = begin();
    (void)state;
    adds(&d, 0, DEPEND_READS, 0, AFTER());
    adds(&d, 0, DEPEND_WRITES, 1, AFTER());
    adds(&d, 0, DEPEND_WRITES, 0, AFTER(1));
    adds(&d, 0, DEPEND_READS, 2, AFTER(1));
    adds(&d, 0, DEPEND_READS, 0, AFTER(1));
    adds(&d, 0, DEPEND_WRITES, 0, AFTER(2));
    end(&d);
}

static void tasks_that_were_awaited_are_forgotten(void **state)
{
    struct depending d = begin();
    (void)state;
    adds(&d, 0, DEPEND_WRITES, 1, AFTER());
    task_depends_forget(d.depends);
    adds(&d, 0, DEPEND_WRITES, 2, AFTER());
    end(&d);
    task_depends_forget(NULL);
    task_depends_free(NULL);
}

static void without_memory_any_task_may_be_before(void **state)
{
    uint64_t *before = NULL;
    uint32_t count = 0;
    (void)state;
    assert_false(task_depends_add(NULL, places, DEPEND_READS, 1, &before, &count));
    assert_null(before);
}

/* As many as are kept, and one more. */
static void too_many_are_reported(void **state)
{
    struct depending d = begin();
    (void)state;
    for (unsigned task = 1; task <= 4000; task++)
        adds(&d, 0, DEPEND_READS, task, AFTER());
    assert_true(task_depends_add(d.depends, places, DEPEND_WRITES, 0, &d.before, &d.count));
    assert_int_equal(d.count, 4000);
    adds(&d, 0, DEPEND_READS, 4001, AFTER());
    d.count = 0;
    assert_false(task_depends_add(d.depends, places, DEPEND_WRITES, 0, &d.before, &d.count));
    assert_int_equal(d.count, 4000);
    d.before[d.count] = 0;
    end(&d);
}

/* ---- random tasks ---- */

struct task_access {
    unsigned place;
    enum dependence how;
};

static bool conflict(struct task_access a, struct task_access b)
{
    return a.place == b.place && (a.how != b.how || a.how == DEPEND_WRITES);
}

static void close_transitively(bool order[TASKS][TASKS])
{
    for (unsigned k = 0; k < TASKS; k++)
        for (unsigned i = 0; i < TASKS; i++)
            for (unsigned j = 0; j < TASKS; j++)
                order[i][j] |= order[i][k] && order[k][j];
}

/* Each task accesses a few places, maybe one of them in several ways. */
static void the_order_is_that_of_all_conflicts(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 400; seed++) {
        struct depending d = begin();
        struct task_access all[TASKS][ACCESSES];
        static bool is[TASKS][TASKS], wanted[TASKS][TASKS];
        unsigned random = seed;
        memset(is, 0, sizeof is);
        memset(wanted, 0, sizeof wanted);
        for (unsigned task = 0; task < TASKS; task++) {
            d.count = 0;
            for (unsigned i = 0; i < ACCESSES; i++) {
                all[task][i] = (struct task_access){execution_random(&random, PLACES),
                                                    (enum dependence)execution_random(&random, 3)};
                assert_true(task_depends_add(d.depends, &places[all[task][i].place],
                                             all[task][i].how, key_of(task), &d.before, &d.count));
            }
            for (uint32_t i = 0; i < d.count; i++) {
                assert_true(d.before[i] >= key_of(0) && d.before[i] < key_of(task));
                is[d.before[i] - key_of(0)][task] = true;
            }
            for (unsigned other = 0; other < task; other++)
                for (unsigned i = 0; i < ACCESSES * ACCESSES; i++)
                    wanted[other][task] |=
                        conflict(all[other][i / ACCESSES], all[task][i % ACCESSES]);
        }
        close_transitively(is);
        close_transitively(wanted);
        assert_memory_equal(is, wanted, sizeof is);
        end(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_come_after_the_writer_and_before_the_next),
        cmocka_unit_test(members_of_a_set_are_not_ordered),
        cmocka_unit_test(a_query_adds_nothing),
        cmocka_unit_test(tasks_that_were_awaited_are_forgotten),
        cmocka_unit_test(without_memory_any_task_may_be_before),
        cmocka_unit_test(too_many_are_reported),
        cmocka_unit_test(the_order_is_that_of_all_conflicts),
    };
    return cmocka_run_group_tests_name("depends", tests, NULL, NULL);
}
