/* Calibration of the instrumentation overhead (clients/libpoet/profile/calibration.h), with hooks
 * and a clock of the test. */
#include "clients/libpoet/profile/calibration.h"
#include "clients/libpoet/profile/call_log.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/core/tracer.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <sys/mman.h>

#define CALLS 256u /* calls of a round, as in calibration.c */
#define WITHIN 30u /* ticks that a hook takes within the call, and around it */
#define AROUND 12u

static uint64_t ticks = 1000, calls;
static struct thread_profile *measured;
/* By round: ticks that are lost to a disturbance within its first call, or before it. */
static uint64_t lost_within[32], lost_before[32];
uint64_t tracer_clock_now_in_unit(uint32_t unit) { return ticks; }
uint64_t tracer_clock_now(void) { return 3 * ticks; } /* a tick is 3 ns */
bool call_log_rehearse(struct thread_profile *m) { return true; }
void call_log_leave(struct thread_profile *m) {}

void __cyg_profile_func_enter(void *function, void *site)
{
    unsigned round = (unsigned)(calls / CALLS) % 32;
    assert_non_null(measured);
    if (calls++ % CALLS == 0) {
        ticks += lost_before[round] + lost_within[round];
        sum_add(&contexts_of(measured)[1].real, lost_within[round]);
    }
}

void __cyg_profile_func_exit(void *function, void *site)
{
    sum_add(&contexts_of(measured)[1].real, WITHIN);
    ticks += WITHIN + AROUND;
}

static struct thread_profile *begin(void)
{
    struct thread_profile *m = calloc(1, sizeof *m);
    m->head =
        mmap(NULL, REGION_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return m;
}

/* Four of five rounds are disturbed, the first for longer than the limit: the undisturbed one
 * counts. */
static void one_round_in_peace_decides(void **state)
{
    struct queue_head queue = {0};
    struct traced_thread t = {.queue = &queue};
    measured = begin();
    lost_before[0] = 1000000;
    lost_within[1] = 1;
    lost_within[2] = 500000;
    lost_before[4] = 1;
    calibration_run(&t, measured);
    assert_int_equal(calls, 5 * CALLS);
    calibration_apply(measured);
    assert_int_equal(measured->head->enter_256, WITHIN * 256);
    assert_int_equal(measured->head->exit_256, AROUND * 256);
    assert_in_range(measured->gap, GAP_NS / 3 - 1, GAP_NS / 3);
    assert_null(t.profile);
    assert_int_equal(sum_of(&contexts_of(measured)[1].real), 0);
    assert_int_equal(call_stack_depth(measured), 0);
    calibration_run(&t, measured); /* calibration runs once in a process */
    assert_int_equal(calls, 5 * CALLS);
    munmap(measured->head, REGION_MAP_BYTES);
    free(measured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_round_in_peace_decides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
