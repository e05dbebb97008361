#!/bin/bash
# A barrier of OpenMP that one thread of the team never comes to: the threads wait in the program's barrier, at its source line,
# and the one that has not come is named, wherever it is.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 OMP_WAIT_POLICY=passive

cat >less.c <<'C'
#include <omp.h>
int main(void)
{
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() != 2) {
#pragma omp barrier /* FIRST */
#pragma omp barrier
        }
    }
    return 0;
}
C
cat >stuck.c <<'C'
#include <omp.h>
static void all(int threads, omp_lock_t *lock)
{
#pragma omp parallel num_threads(threads)
    {
        if (lock && omp_get_thread_num() == 1)
            omp_set_lock(lock);
#pragma omp barrier /* STUCK */
    }
}
int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    all(4, 0); /* the last thread has nothing to do with what hangs */
    all(3, &lock);
    return 0;
}
C
cat >even.c <<'C'
#include <omp.h>
int main(void)
{
    static int given;
    int n = 0;
    for (int round = 0; round < 50; round++) {
#pragma omp parallel num_threads(3) firstprivate(n)
        {
            if (omp_get_thread_num() == round % 3) {
#pragma omp barrier
            } else {
#pragma omp barrier
            }
#pragma omp single copyprivate(n)
            n = round + 1;
            if (omp_get_thread_num() == 0)
                given = n;
#pragma omp barrier
            if (round % 5 == 0 && omp_get_thread_num() == 0) {
#pragma omp task
                given = n;
            }
        }
    }
    return given == 50 ? 0 : 1;
}
C
line_of() { grep -n "$1" "$2" | cut -d: -f1; }

# hangs NAME {COUNT PATTERN}...: recorded until so many lines are as the patterns say, then killed
said=
waiting() {
    said=$(poet blocked "$1.poet" 2>/dev/null)
    while shift && [ $# -gt 0 ]; do
        [ "$(printf '%s\n' "$said" | grep -Ec "$2")" = "$1" ] || return
        shift
    done
}
hangs() {
    poet record -o "$1.poet" -- "./$1" &
    recorder=$!
    pids="$pids $recorder"
    until_true waiting "$@"
    kill -KILL "$(figure "$1.poet" pid 2>/dev/null)"
    wait $recorder 2>/dev/null
    until_true finished "$1.poet"
    said=$(poet blocked "$1.poet")
}

for compiler in gcc clang; do
    if [ $compiler = clang ] && ! clang_has_openmp; then
        skip "there is no clang with OpenMP"
        continue
    fi
    for name in less stuck even; do
        $compiler -g -w -fopenmp $name.c -o $name
    done
    rm -f ./*.poet
    first=$(line_of FIRST less.c)
    hangs less 2 "^T:.* reaches a barrier of P:" 1 "^T:.* waits, having passed fewer barriers .*P:"
    is "$compiler: two threads wait in the first barrier" \
        "$(printf '%s\n' "$said" | grep -Ec "^T:(main|thread 1) reaches a barrier of P:.* at less.c:($first|$((first + 1)))\$")" 2
    like "$compiler:   the third at the end of the region" "$said" \
        '^T:thread 2 waits, having passed fewer barriers than other threads, at the end of P:'
    like "$compiler:   it is a hang" "$said" '^HANG: no remaining thread can wake the waiters of '
    is "$compiler:   and that one has not come" "$(printf '%s\n' "$said" | sed -n 's/^ *has not arrived: //p' | sort -u)" \
        "T:thread 2 (blocked)"
    hangs stuck 2 "^T:(main|thread 2) reaches a barrier of P:" \
        1 "^T:thread 1 requests L:" 1 "^ *has not arrived: T:thread 1 \(blocked\)\$"
    is "$compiler: one that came to no barrier is named, one of an earlier team is not" \
        "$(printf '%s\n' "$said" | sed -n 's/^ *has not arrived: //p')" "T:thread 1 (blocked)"
    is "$compiler:   nothing is concluded from a thread without work" \
        "$(printf '%s\n' "$said" | grep -E '^[A-Z ]*HANG: ')" "$(printf '%s\n' "$said" | grep '^HANG: ')"
    poet record -o even.poet -- ./even
    is "$compiler: a program whose threads pass as many barriers ends" "$?" 0
    check "$compiler:   its trace is sound" sound even.poet
    is "$compiler:   none of its events is uneven" "$(poet dump even.poet | grep -c ' uneven ')" 0
    is "$compiler:   no verdict" "$(poet blocked even.poet | grep -c verdict)" 0
done
done_testing
