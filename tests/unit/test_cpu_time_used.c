/* How much of the elapsed time a thread could have used. */
#define _GNU_SOURCE
#include "clients/libpoet/replay/cpu_time_used.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#define MUCH UINT64_C(1000000000000) /* more time than the test takes */

static _Atomic uint32_t id;
static atomic_bool done;
static sem_t there, over;

static void *runs(void *a)
{
    atomic_store(&id, (uint32_t)gettid());
    sem_post(&there);
    while (!atomic_load(&done))
        ;
    return a;
}

static void *sleeps(void *a)
{
    atomic_store(&id, (uint32_t)gettid());
    sem_post(&there);
    sem_wait(&over);
    return a;
}

static void who_runs_used_what_it_ran(void **state)
{
    (void)state;
    struct cpu_time_sample slow = {0};
    pthread_t t;
    sem_init(&there, 0, 0);
    assert_int_equal(pthread_create(&t, NULL, runs, NULL), 0);
    sem_wait(&there);
    uint32_t me = (uint32_t)getpid();
    errno = EDOM;
    assert_true(cpu_time_used(&slow, me, id, 5) == 5); /* first measurement */
    if (slow.id) { /* the system provides the data */
        uint64_t ran = slow.ran_ns, used = cpu_time_used(&slow, me, id, MUCH);
        assert_true(used < MUCH && used == slow.ran_ns - ran);
    }
    assert_int_equal(errno, EDOM);
    atomic_store(&done, true);
    pthread_join(t, NULL);
}

static void who_sleeps_could_have_used_all(void **state)
{
    (void)state;
    struct cpu_time_sample slow = {0};
    pthread_t t;
    sem_init(&there, 0, 0);
    sem_init(&over, 0, 0);
    assert_int_equal(pthread_create(&t, NULL, sleeps, NULL), 0);
    sem_wait(&there);
    uint32_t me = (uint32_t)getpid();
    for (int i = 0; i < 1000; i++) /* lets the thread fall asleep */
        sched_yield();
    cpu_time_used(&slow, me, id, 0);
    uint64_t queued = slow.queued_ns, used = cpu_time_used(&slow, me, id, MUCH);
    assert_true(used == MUCH - (slow.queued_ns - queued) || used < MUCH / 1000);
    sem_post(&over);
    pthread_join(t, NULL);
}

static void of_whom_nothing_is_known_all_is(void **state)
{
    (void)state;
    struct cpu_time_sample slow = {0};
    assert_true(cpu_time_used(&slow, (uint32_t)getpid(), 1, MUCH) == MUCH);
    assert_true(cpu_time_used(&slow, (uint32_t)getpid(), 1, MUCH) == MUCH);
    assert_int_equal(slow.id, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_runs_used_what_it_ran),
        cmocka_unit_test(who_sleeps_could_have_used_all),
        cmocka_unit_test(of_whom_nothing_is_known_all_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
