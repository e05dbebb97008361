#!/bin/bash
# Replay of OpenMP tasks: each thread runs the recorded tasks in the recorded order; after a divergence tasks run
# freely, and none is left unexecuted.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 OMP_MAX_ACTIVE_LEVELS=2
here=$root/tests/e2e
cat >tasks.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
static void late(void)
{
    unsigned char x = 0;
    if (getrandom(&x, 1, 0) == 1 && x % 2)
        usleep(x);
}
static void did(char *thread)
{
    *thread = (char)('0' + omp_get_thread_num());
    late();
}
/* Each of the first four of these tasks ends when all four have begun: four threads run them. */
static void all_four(int i)
{
    static int begun;
    if (i < 4)
        for (__atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST); __atomic_load_n(&begun, __ATOMIC_SEQ_CST) < 4;)
            usleep(100);
}
static char nested[4][9], made[61], grouped[41], earlier[41], depended[41], looped[41], shared_out[41],
    included[13], fibs[65];
static int fib(int n, int id)
{
    int a, b;
    did(&fibs[id]);
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1, 2 * id);
#pragma omp task shared(b)
    b = fib(n - 2, 2 * id + 1);
    late();
#pragma omp taskwait
    return a + b;
}
static void nest(void)
{
    for (int t = 0; t < 4; t++) {
#pragma omp task
        {
#pragma omp parallel num_threads(2)
#pragma omp single
            for (int i = 0; i < 8; i++) {
#pragma omp task
                did(&nested[t][i]);
            }
        }
#ifdef __clang__ /* which threads serve which of two concurrent regions depends on the runtime's timing */
#pragma omp taskwait
#endif
    }
}
static void depend(int *x)
{
    for (int i = 0; i < 40; i++) {
        if (i % 3) {
#pragma omp task depend(in : x[i % 4])
            did(&depended[i]);
        } else {
#pragma omp task depend(inout : x[i % 4])
            did(&depended[i]), x[i % 4]++;
        }
    }
#pragma omp taskwait depend(in : x[0])
    late();
#pragma omp task if (0) depend(in : x[1])
    late();
}
static void loops(void)
{
#pragma omp taskloop grainsize(2)
    for (int i = 0; i < 40; i++)
        did(&looped[i]);
#pragma omp taskloop num_tasks(7) nogroup
    for (unsigned long long i = 0; i < 40; i++)
        did(&shared_out[i]);
}
#ifdef __clang__
#define UNTIED
#else
#define UNTIED untied
#endif
static void include(void)
{
    for (int i = 0; i < 12; i++) {
#pragma omp task if (i % 3) final(i % 4 == 1) mergeable UNTIED
        {
            late();
#pragma omp task
            did(&included[i]);
#pragma omp taskyield
        }
    }
}
int main(void)
{
    int r = 0, x[4] = {0};
#pragma omp parallel num_threads(2)
#pragma omp single
    nest();
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 60; i++) {
#pragma omp task
        did(&made[i]), all_four(i);
        if (i % 7 == 0)
            late();
    }
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        for (int i = 0; i < 20; i++) {
#pragma omp task
            {
#pragma omp task
                did(&grouped[2 * i]);
                did(&grouped[2 * i + 1]);
            }
        }
        r = fib(5, 1);
    }
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 40; i++) {
#pragma omp task
            did(&earlier[i]);
        }
#pragma omp single nowait
        depend(x);
#pragma omp barrier
#pragma omp single
        loops();
#pragma omp master
        include();
    }
    for (int i = 1; i < 64; i++)
        fibs[i] = fibs[i] ? fibs[i] : '.';
    printf("%d %d\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n", r, x[0] + x[1] + x[2] + x[3], made, grouped,
           earlier, depended, looped, shared_out, included, fibs + 1);
    for (int t = 0; t < 4; t++)
        puts(nested[t]);
    return 0;
}
C
cat >many.c <<'C' # more tasks than the runtime defers
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
static int n, x;
static void deep(int d)
{
#pragma omp critical
    n++;
    if (d == 0)
        return;
#pragma omp task
    deep(d - 1);
#pragma omp taskgroup
    {
#pragma omp task
        deep(d - 1);
    }
#pragma omp taskwait
}
int main(int argc, char **argv)
{
    int more = argc > 1 ? atoi(argv[1]) : 0;
    static char ran_on[2001];
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp master
        for (int i = 0; i < 2000; i++) {
#pragma omp task
            ran_on[i] = (char)('0' + omp_get_thread_num());
#pragma omp task depend(inout : x)
            x++;
            if (i == 1000 && argc > 2)
                raise(SIGKILL);
        }
        if (more && omp_get_thread_num() == 2)
            deep(1);
#pragma omp barrier
#pragma omp master
        deep(5 + more);
    }
    if (!more)
        puts(ran_on);
    printf("%d %d\n", n, x);
    return 0;
}
C
cat >reduces.c <<'C' # task reductions, that the runtime has to schedule itself
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int s = 0, r = 0, l = 0, x = 0, y = 0;
#pragma omp parallel reduction(task, + : r)
    {
#pragma omp single
        {
#pragma omp taskgroup task_reduction(+ : s)
            for (int i = 0; i < 50; i++) {
#pragma omp task in_reduction(+ : s)
                s += i;
            }
#pragma omp taskloop reduction(+ : l)
            for (int i = 0; i < 50; i++)
                l += i;
        }
#pragma omp task in_reduction(+ : r)
        r += 5;
    }
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(inout : x) detach(event)
        x++;
#pragma omp task depend(in : x)
        y = x;
#pragma omp task
        usleep(2000), omp_fulfill_event(event);
    }
    printf("%d %d %d %d\n", s, l, r, y);
    return 0;
}
C

again() { # again TRACE PROGRAM [ARG...]: what it prints
    rm -f again.poet
    trace=$1
    shift
    timeout 60 poet replay "$trace" -o again.poet -- "$@" 2>said
}
# repeats COMPILER PROGRAM: records three times and replays each recording twice
repeats() {
    equal=0
    for i in 1 2 3; do
        rm -f first.poet
        POET_OUTPUT=first.poet timeout 60 "./$2" >first
        until_true finished first.poet
        for j in 1 2; do
            again first.poet "./$2" >second && cmp -s first second && until_true finished again.poet &&
                python3 "$here/same.py" first.poet again.poet >same && equal=$((equal + 1)) || cat said same
        done
    done
    is "$1: $2: replay gives each thread the recorded tasks and events, six times of six" "$equal" 6
    check "$1: $2: the trace of a replay passes poet check" sound again.poet
}
every() {
    CC=$1 poetcc -trace -g -fopenmp tasks.c -o tasks && repeats $1 tasks
    like "$1: tasks: all four threads run tasks" "$(sed -n 2p first | fold -w 1 | sort -u | tr -d '\n')" 0123
    $1 -g -fopenmp tasks.c -o plain
    rm -f plain.poet
    timeout 60 poet record -o plain.poet -- ./plain >first
    until_true finished plain.poet
    is "$1: tasks without -trace: the output of a replay is that of the recorded run" "$(again plain.poet ./plain)" "$(cat first)"
    like "$1: tasks without -trace: replay reports no divergence" "$(cat said)" '^poet replay: no divergence in [0-9]* events$'
    is "$1: tasks without -trace: each spawn event has a call site in the program" "$(poet dump plain.poet | grep -c ' spawn .* at lib')" 0
    CC=$1 poetcc -trace -g -fopenmp many.c -o many && repeats $1 many
    is "$1: many: after a divergence all tasks are executed" "$(again first.poet ./many 1)" "130 2000"
    like "$1: many: replay reports the divergence" "$(cat said)" '^poet replay: divergence: '
    rm -f killed.poet
    { POET_OUTPUT=killed.poet timeout 60 ./many 0 die; } 2>/dev/null
    until_true finished killed.poet
    is "$1: many: a replay of a truncated trace continues after its end" "$(again killed.poet ./many | tail -n 1)" "63 2000"
    like "$1: many: a replay of a truncated trace reports no divergence" "$(cat said)" '^poet replay: no divergence in '
    CC=$1 poetcc -trace -g -fopenmp reduces.c -o reduces
    POET_OUTPUT=reduces.poet ./reduces >first
    until_true finished reduces.poet
    is "$1: reduces: the output of a replay with task reductions is that of the recorded run" "$(again reduces.poet ./reduces)" "$(cat first)"
}
every gcc
if clang_has_openmp; then
    every clang
else
    skip "clang with OpenMP is not installed"
fi
done_testing
