#!/bin/bash
# Idle threads of an OpenMP pool do not count as running: calls made meanwhile are not concurrent.
. "$(dirname "$0")/lib.sh"

cat >idle.c <<'X'
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include "asleep.h"

static volatile long count;

__attribute__((noinline)) void before(void) { count++; }
__attribute__((noinline)) void between(void) { count++; }
__attribute__((noinline)) void after(void) { count++; }

__attribute__((noinline)) void within(void) { count++; }

__attribute__((noinline)) static void await(atomic_int *arrived, int all)
{
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < all)
        sched_yield();
}

__attribute__((noinline)) static void region(void)
{
    static atomic_int come, done;
    static int all;
    all += 3;
#pragma omp parallel num_threads(3)
    { /* no thread is idle while one of them calls */
        await(&come, all);
        within();
        await(&done, all);
    }
}

int main(void)
{
    for (int i = 0; i < 10; i++)
        before();
    region();
    until_others_sleep(); /* the pool is idle from here on */
    for (int i = 0; i < 10; i++)
        between();
    region();
    until_others_sleep();
    for (int i = 0; i < 10; i++)
        after();
    return 0;
}
X

# concurrent FILE FUNCTION: the number of its calls that were concurrent
concurrent() { json "row(\"$2\") | select(.calls == 10 or .calls == 6) | .concurrent" "$1"; }
# cases FILE FUNCTION: the classes of its calls
cases() { json "row(\"$2\") | .class | select(. == \"S\" or . == \"C\")" "$1"; }

compilers=gcc
clang_has_openmp && compilers="gcc clang"
for cc in $compilers; do
    CC=$cc poetcc -profile -g -fopenmp -I"$root/tests/e2e" idle.c -o idle || exit 1
    (POET_OUTPUT=$cc.poet POET_MEASURE=calls=every ./idle) 2>/dev/null
    until_true finished $cc.poet
    check "$cc: the trace passes poet check" poet check $cc.poet
    poet calls --json $cc.poet >sums
    poet calls --json --cases $cc.poet >cases
    for f in before between after; do
        is "$cc: no call of $f outside the regions is concurrent" "$(concurrent sums $f)" 0
        is "$cc: calls of $f outside the regions have class S" "$(cases cases $f)" S
    done
    is "$cc: calls inside the regions are concurrent" "$(concurrent sums within)" 6
    is "$cc: calls inside the regions have class C" "$(cases cases within)" C
done
done_testing
