#!/bin/bash
# Replay of OpenMP critical sections and locks: the order of acquisitions and the results of omp_test_lock are
# those of the recorded run.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4
here=$root/tests/e2e
cat >meet.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
static omp_lock_t plain;
static omp_nest_lock_t nested;
static char seen[4000];
static int n;
static void late(void)
{
    unsigned char x = 0;
    if (getrandom(&x, 1, 0) == 1 && x % 2)
        usleep(x);
}
static void note(char what) /* the caller holds `all` */
{
    seen[n++] = what;
    seen[n++] = (char)('0' + omp_get_thread_num());
}
static void try_plain(void)
{
    if (omp_get_thread_num() && !omp_test_lock(&plain)) {
#pragma omp critical
        note('f');
    }
}
int main(void)
{
    omp_init_lock(&plain);
    omp_init_nest_lock(&nested);
#pragma omp parallel
    {
#pragma omp master
        omp_set_lock(&plain);
#pragma omp barrier
        try_plain(); /* fails on all threads except the owner, which does not try */
#pragma omp barrier
#pragma omp master
        {
            omp_unset_lock(&plain);
            if (omp_test_lock(&plain))
                omp_unset_lock(&plain), note('t');
        }
#pragma omp barrier
    for (int i = 0; i < 10; i++) {
        late();
#pragma omp critical
        note('u'), late();
#pragma omp critical(named)
        {
            late();
#pragma omp critical
            note('n');
        }
        omp_set_lock(&plain);
        late();
#pragma omp critical
        note('l');
        omp_unset_lock(&plain);
        omp_set_nest_lock(&nested);
        omp_set_nest_lock(&nested);
        late();
        if (omp_test_nest_lock(&nested) == 3)
            omp_unset_nest_lock(&nested);
#pragma omp critical
        note('N');
        omp_unset_nest_lock(&nested);
        omp_unset_nest_lock(&nested);
        int got = omp_test_lock(&plain);
        late();
#pragma omp critical
        note(got ? 't' : 'f');
        if (got)
            omp_unset_lock(&plain);
        int deep = omp_test_nest_lock(&nested);
        late();
#pragma omp critical
        note((char)('A' + deep));
        if (deep)
            omp_unset_nest_lock(&nested);
    }
    }
    printf("%.*s\n", n, seen);
    return 0;
}
C

# repeats COMPILER: records the program of this compiler three times and replays each recording twice
repeats() {
    equal=0
    for i in 1 2 3; do
        rm -f meet.poet
        POET_OUTPUT=meet.poet timeout 60 ./meet >first
        until_true finished meet.poet
        for j in 1 2; do
            rm -f again.poet
            timeout 60 poet replay meet.poet -o again.poet >second 2>said &&
                cmp -s first second && equal=$((equal + 1)) || cat said
            until_true finished again.poet
        done
    done
    is "$1: the output of a replay is that of the recorded run, six times of six" "$equal" 6
    is "$1: the trace of a replay passes poet check" "$(poet check again.poet >/dev/null 2>&1; echo $?)" 0
    is "$1: the events of a replay are those of the recorded run" "$(python3 "$here/same.py" meet.poet again.poet | tr -d 0-9 | tr -s ' ')" "the same: events"
    check "$1: some calls of omp_test_lock failed and some succeeded" grep -q 'f.*t\|t.*f' first
}
poetcc -trace -g -fopenmp meet.c -o meet && repeats gcc
if clang_has_openmp; then
    CC=clang poetcc -trace -g -fopenmp meet.c -o meet && repeats clang
else
    skip "clang with OpenMP is not installed"
fi
done_testing
