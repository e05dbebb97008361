#!/bin/bash
# A parallel region in a child of fork: its runtime takes the parent's threads for its own; poet blocked lists the
# child, and says which threads are missing. A child that is the first to begin a region has its own threads.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >child.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
static int work(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 100; i++) /* line 7 */
        sum += i;
    return sum;
}
int main(void)
{
#ifndef FIXED
    work();
#endif
    pid_t child = fork();
    if (!child)
        _exit(work() != 4950);
    int status;
    waitpid(child, &status, 0); /* line 20 */
    return status;
}
C
gcc -g -fopenmp child.c -o child
gcc -g -fopenmp -DFIXED child.c -o child-fixed
finished() { poet stat --json "$1" | grep -q '"finished":true'; }
hangs() { poet blocked child.poet >said 2>/dev/null; grep -q '^HANG: no remaining thread can wake the waiters of P:work' said; }
poet record -o child.poet -- ./child 2>/dev/null &
pids="$pids $!"
check "the child's parallel region hangs" until_true hangs
end_own_processes child
until_true finished child.poet
poet blocked child.poet >said
like "the child waits in its region" "$(cat said)" 'T:main\[[0-9]+\] reaches a barrier of P:work.* at child.c:[67]$'
like "it waits for threads of its parent" "$(cat said)" \
    '^    for threads that were created before the fork, such as T:thread 1, which are not in the child, idle in the parent since child.c:[67] \(event [0-9:]+\)$'
like "the parent waits for the child, which will never resume" "$(tr '\n' ' ' <said)" \
    'T:main waits for the end of a child process at child.c:20 .* T:main\[[0-9]+\] is itself blocked on P:work[^ ]* and will never resume'
is "scripts have it, too" "$(poet blocked --json child.poet | jq -r '[.blocked[].held_by[].how] | sort | join(" ")')" "child team"
poet record -o fixed.poet -- ./child-fixed >/dev/null 2>&1
is "the corrected program ends" "$?" 0
until_true finished fixed.poet
is "the corrected program has no diagnosis" "$(poet blocked fixed.poet | grep -Ec 'HANG|DEADLOCK|never|fork')" 0
done_testing
