#!/bin/bash
# OpenMP: a barrier that one thread of the team never reaches. The others are blocked in the program's barrier, at
# its source line, and the missing thread is named, wherever it is.
# Runs in make check-all only.
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
    all(4, 0); /* the last thread has no part in the hang */
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

# hangs NAME {COUNT PATTERN}...: records until COUNT lines of poet blocked match each PATTERN, then kills the program
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
        skip "clang with OpenMP is not installed"
        continue
    fi
    for name in less stuck even; do
        $compiler -g -w -fopenmp $name.c -o $name
    done
    rm -f ./*.poet
    first=$(line_of FIRST less.c)
    hangs less 2 "^T:.* reaches a barrier of P:" 1 "^T:.* waits, having passed fewer barriers .*P:"
    is "$compiler: two threads are blocked in the first barrier" \
        "$(printf '%s\n' "$said" | grep -Ec "^T:(main|thread 1) reaches a barrier of P:.* at less.c:($first|$((first + 1)))\$")" 2
    like "$compiler: a thread that passed fewer barriers is blocked at the end of the region" "$said" \
        '^T:thread 2 waits, having passed fewer barriers than other threads, at the end of P:'
    like "$compiler: a barrier that a thread skipped is a hang" "$said" '^HANG: no remaining thread can wake the waiters of '
    is "$compiler: a barrier lists the thread that has not arrived" "$(printf '%s\n' "$said" | sed -n 's/^ *has not arrived: //p' | sort -u)" \
        "T:thread 2 (blocked)"
    hangs stuck 2 "^T:(main|thread 2) reaches a barrier of P:" \
        1 "^T:thread 1 requests L:" 1 "^ *has not arrived: T:thread 1 \(blocked\)\$"
    is "$compiler: a thread that never reached a barrier is listed, one of an earlier team is not" \
        "$(printf '%s\n' "$said" | sed -n 's/^ *has not arrived: //p')" "T:thread 1 (blocked)"
    is "$compiler: an idle thread leads to no verdict" \
        "$(printf '%s\n' "$said" | grep -E '^[A-Z ]*HANG: ')" "$(printf '%s\n' "$said" | grep '^HANG: ')"
    poet record -o even.poet -- ./even
    is "$compiler: a program with matching barriers exits with status 0" "$?" 0
    check "$compiler: matching barriers: the trace passes poet check" sound even.poet
    is "$compiler: matching barriers: no event is marked as uneven" "$(poet dump even.poet | grep -c ' uneven ')" 0
    is "$compiler: matching barriers: poet blocked gives no verdict" "$(poet blocked even.poet | grep -c verdict)" 0
done
done_testing
