#!/bin/bash
# Replay of OpenMP worksharing: each thread gets the recorded iterations of dynamic loops, sections and single
# blocks.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4
here=$root/tests/e2e
cat >given.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
static char ran_on[9][64];
static void late(void)
{
    unsigned char x = 0;
    if (getrandom(&x, 1, 0) == 1 && x % 2)
        usleep(x);
}
static void did(int what, int i)
{
    ran_on[what][i] = (char)('0' + omp_get_thread_num());
    late();
}
int main(void)
{
    omp_set_schedule(omp_sched_dynamic, 3);
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 40; i++) {
            did(0, i);
            if (i % 3 == 0) {
#pragma omp critical
                late();
            }
        }
#pragma omp for schedule(guided) nowait
        for (unsigned long i = 0; i < 40; i++)
            did(1, (int)i);
#pragma omp for schedule(runtime) nowait
        for (long i = 40; i > 0; i--)
            did(2, (int)i - 1);
        for (int k = 0; k < 5; k++) {
#pragma omp single nowait
            did(3, k);
        }
#pragma omp sections
        {
#pragma omp section
            did(4, 0);
#pragma omp section
            did(4, 1);
#pragma omp section
            did(4, 2);
#pragma omp section
            did(4, 3);
        }
#pragma omp single
        did(5, 0);
        for (int k = 1; k < 5; k++) {
            int by = 0;
#pragma omp single copyprivate(by)
            by = omp_get_thread_num();
            if (by == omp_get_thread_num())
                did(5, k);
        }
    }
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < 20; i++)
        did(6, i);
#pragma omp parallel for schedule(dynamic, 2) ordered
    for (int i = 0; i < 20; i++) {
        late();
#pragma omp ordered
        did(7, i);
    }
#pragma omp parallel for schedule(guided) ordered
    for (int i = 0; i < 20; i++) {
        late();
        if (i % 3) {
#pragma omp ordered
            did(8, i);
        } else {
            did(8, i);
        }
    }
    for (int i = 0; i < 9; i++)
        printf("%s\n", ran_on[i]);
    return 0;
}
C
# The program calls only those functions of the runtime that libpoet-omp intercepts.
cat >bare.c <<'C'
int main(void)
{
    int n = 0;
#pragma omp parallel for schedule(dynamic) num_threads(3)
    for (int i = 0; i < 30; i++) {
#pragma omp critical
        n++;
    }
    return n != 30;
}
C

# One thread comes to the loop late if LATE is set, as during recording, and early if not: its iterations must not
# depend on that. (A pause makes it likely that it is early; the comparison holds in any case.)
cat >late.c <<'C'
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char had[41];
static atomic_int done, came;
int main(void)
{
    int late = getenv("LATE") != NULL;
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        while (me && late && atomic_load(&done) < 25)
            sched_yield();
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 40; i++) {
            if (i == 19)
                usleep(50000);
            had[i] = (char)('0' + me);
            if (me)
                atomic_store(&came, 1);
            while (atomic_fetch_add(&done, 1) >= 25 && !atomic_load(&came))
                sched_yield();
        }
    }
    puts(had);
    return 0;
}
C
cat >ordered.c <<'C'
int main(void)
{
    int n = 0;
#pragma omp parallel for schedule(dynamic, 2) ordered num_threads(3)
    for (int i = 0; i < 30; i++) {
#pragma omp ordered
        n++;
    }
    return n != 30;
}
C

# repeats COMPILER: records the program of this compiler three times and replays each recording twice
repeats() {
    CC=$1 poetcc -trace -g -fopenmp given.c -o given || return
    equal=0
    for i in 1 2 3; do
        rm -f given.poet
        POET_OUTPUT=given.poet timeout 60 ./given >first
        until_true finished given.poet
        for j in 1 2; do
            rm -f again.poet
            timeout 60 poet replay given.poet -o again.poet >second 2>said &&
                cmp -s first second && equal=$((equal + 1)) || cat said
            until_true finished again.poet
        done
    done
    is "$1: the output of a replay is that of the recorded run, six times of six" "$equal" 6
    is "$1: the events of a replay are those of the recorded run" "$(python3 "$here/same.py" given.poet again.poet | tr -d 0-9 | tr -s ' ')" "the same: events"
    check "$1: the trace of a replay passes poet check" sound again.poet
    is "$1: each single block has one chosen event and three not_chosen events" "$(poet dump given.poet | grep -c ' chosen ') $(poet dump given.poet | grep -c ' not_chosen ')" "10 30"
    CC=$1 poetcc -trace -g -fopenmp bare.c -o bare
    POET_OUTPUT=bare.poet timeout 60 ./bare
    is "$1: a program that calls no other function of the OpenMP runtime exits with status 0" $? 0
    until_true finished bare.poet
    is "$1: the trace has an event for each of the 30 chunks" "$(poet dump bare.poet | grep -c ' chunk ')" 30
    POET_OMP_CHUNKS=0 POET_OUTPUT=none.poet timeout 60 ./bare
    until_true finished none.poet
    is "$1: POET_OMP_CHUNKS=0: the trace has no chunk events" "$(poet dump none.poet | grep -c ' chunk \| nothing ')" 0
    CC=$1 poetcc -trace -g -fopenmp late.c -o late
    LATE=1 POET_OUTPUT=late.poet timeout 60 ./late >first
    until_true finished late.poet
    timeout 60 poet replay late.poet -o late-again.poet >second 2>said || cat said
    is "$1: replay gives threads the recorded iterations even if a thread comes at another time" "$(cat second)" "$(cat first)"
    CC=$1 poetcc -trace -g -fopenmp ordered.c -o ordered
    POET_OUTPUT=ordered.poet timeout 60 ./ordered
    is "$1: a program with an ordered loop exits with status 0" $? 0
    until_true finished ordered.poet
    asks=$(poet dump ordered.poet | grep -c ' asks ')
    [ "$1" = gcc ] && given=$asks || given=$(poet dump ordered.poet | grep -c ' chunk ')
    is "$1: threads get iterations of the ordered loop 15 times" "$given" 15
    rm -f late.poet late-again.poet ordered.poet
}
repeats gcc
if clang_has_openmp; then
    repeats clang
else
    skip "clang with OpenMP is not installed"
fi
done_testing
