/* CPU time of a thread with a CPU clock that is read after gaps only
 * (clients/libpoet/profile/call_stack.h), with clocks of the test: a task that migrates, and loses
 * its CPU while its clock is read; readings that signal handlers interrupt. */
#include "clients/libpoet/profile/call_log.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/core/tracer.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GAP 4000u
#define READING 300u /* how long a reading of the CPU clock takes */
#define LOST 7000000u

static uint64_t ticks = 1000000; /* 1 ns each */
static uint64_t cpu_ns;
static unsigned lost_at; /* the readings after which the thread loses its CPU, as bits */
static void (*handler)(void); /* of a signal that interrupts the next reading */
uint64_t tracer_clock_now_in_unit(uint32_t unit) { return ticks; }
uint64_t tracer_clock_now(void) { return ticks; }
void call_log_begin(struct thread_profile *m, const struct profile_region_frame *frame,
                    uint32_t context, uint64_t now)
{
}
void call_log_end(struct thread_profile *m, const struct profile_region_frame *frame,
                  uint32_t context, uint64_t now)
{
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_THREAD_CPUTIME_ID) /* of others */
        return (int)syscall(SYS_clock_gettime, clock, now);
    ticks += READING;
    cpu_ns += READING;
    now->tv_sec = (time_t)(cpu_ns / 1000000000);
    now->tv_nsec = (long)(cpu_ns % 1000000000);
    ticks += lost_at & 1 ? LOST : 0;
    lost_at >>= 1;
    void (*delivered)(void) = handler;
    handler = NULL;
    if (delivered)
        delivered();
    return 0;
}

static void run(uint64_t ns)
{
    ticks += ns;
    cpu_ns += ns;
}

static struct thread_profile *begin(void)
{
    struct thread_profile *m = calloc(1, sizeof *m);
    m->head =
        mmap(NULL, REGION_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m->gap = GAP;
    m->process = getpid();
    m->last = ticks;
    atomic_store(&m->head->contexts, 1);
    atomic_store(&m->head->depth, 1);
    frames_of(m)[0] =
        (struct profile_region_frame){.stack = OUTERMOST, .began = ticks, .ran = ticks};
    return m;
}

/* The task leaves a thread of the system, and returns on another one, with another clock. */
static void migrate(struct thread_profile *m, uint64_t away)
{
    uint64_t from = ticks;
    cpu_gap_leave(m, from);
    from = m->last > from ? m->last : from;
    ticks += away;
    cpu_ns = 5 * cpu_ns + 12345;
    uint64_t since = cpu_gap_return(m, ticks);
    m->off += since - from;
    m->anchor.off += since - from;
    m->last = since;
}

/* The CPU time of the task until now is what it has run, but for the readings of its clock. */
static void assert_ran(struct thread_profile *m, uint64_t begun, uint64_t ran)
{
    cpu_gap_check(m, call_stack_top(m));
    uint64_t cpu = ticks - begun - m->off;
    assert_in_range(cpu, ran, ran + 20 * READING);
    munmap(m->head, REGION_MAP_BYTES);
    free(m);
}

static void lost_cpu_between_readings_is_off_cpu_time(void **state)
{
    uint64_t begun = ticks;
    struct thread_profile *m = begin();
    cpu_gap_check(m, call_stack_top(m));
    run(100000);
    ticks += LOST;
    run(100000);
    assert_ran(m, begun, 200000);
}

static void task_that_migrates_has_run_on_both_threads(void **state)
{
    uint64_t begun = ticks;
    struct thread_profile *m = begin();
    cpu_gap_check(m, call_stack_top(m));
    run(100000);
    migrate(m, 50000);
    run(100000);
    assert_ran(m, begun, 200000);
}

static void task_that_loses_its_cpu_when_it_returns_has_not_run(void **state)
{
    static const unsigned at[] = {1, 2, 3, 4, 8, 7, 63};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        uint64_t begun = ticks;
        struct thread_profile *m = begin();
        cpu_gap_check(m, call_stack_top(m));
        run(100000);
        lost_at = at[i] << 2; /* it is read twice when the task leaves */
        migrate(m, 50000);
        run(100000);
        assert_ran(m, begun, 200000);
    }
}

static struct thread_profile *interrupted;

/* A handler that begins a call after the thread had no CPU. */
static void handle_signal(void)
{
    ticks += LOST;
    assert_true(cpu_gap_check(interrupted, call_stack_top(interrupted)));
}

static void cpu_lost_before_a_handler_in_a_reading_is_off_cpu_time(void **state)
{
    uint64_t begun = ticks;
    struct thread_profile *m = interrupted = begin();
    cpu_gap_check(m, call_stack_top(m));
    run(100000);
    handler = handle_signal;
    assert_true(cpu_gap_check(m, call_stack_top(m)));
    assert_false(m->reading_stack || m->updating);
    run(100000);
    assert_ran(m, begun, 200000);
}

/* After a handler in the begin or end of a call, the clock is read again. */
static void cpu_lost_behind_a_handler_is_off_cpu_time(void **state)
{
    uint64_t begun = ticks;
    struct thread_profile *m = begin();
    cpu_gap_check(m, call_stack_top(m));
    run(100000);
    cpu_gap_check(m, call_stack_top(m)); /* of the handler's last call */
    ticks += LOST;
    assert_true(cpu_gap_now(m) == m->last);
    assert_true(m->off > LOST - READING);
    run(100000);
    assert_ran(m, begun, 200000);
}

int main(void)
{
    tracer.threads.running = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_cpu_between_readings_is_off_cpu_time),
        cmocka_unit_test(task_that_migrates_has_run_on_both_threads),
        cmocka_unit_test(task_that_loses_its_cpu_when_it_returns_has_not_run),
        cmocka_unit_test(cpu_lost_before_a_handler_in_a_reading_is_off_cpu_time),
        cmocka_unit_test(cpu_lost_behind_a_handler_is_off_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
