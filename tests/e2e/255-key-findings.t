#!/bin/bash
# The first view of a run: while no event is selected, the panel Event lists the key findings, those with the largest
# estimated gain first, as poet report does; a selected event takes their place.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

cat >queue.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t narrow = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&narrow);
        nanosleep(&(struct timespec){0, 10000000}, 0);
        pthread_mutex_unlock(&narrow);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
}
C
cat >nothing.c <<'C'
int main(void) { return 0; }
C
# What keeps the two from a deadlock here, an atomic variable, is not traced.
cat >inversion.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;
static void *other(void *p)
{
    while (!done)
        sched_yield();
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return p ? p : malloc(100);
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    done = 1;
    pthread_join(t, 0);
}
C
cat >slow.c <<'C'
#include <pthread.h>
#include <time.h>
static void *stage(void *p)
{
    nanosleep(p, 0);
    return p;
}
int main(void)
{
    pthread_t t[2];
    struct timespec times[2] = {{0, 90000000}, {0, 1000000}};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, stage, &times[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
C
for name in queue nothing inversion slow; do
    poetcc -trace -g $name.c -o $name -lpthread
    poet record -m memory -o $name.poet ./$name 2>recorded
    until_true finished $name.poet
    printf '%s\n' 'state panel first' 'action go 1:1' 'state panel selected' quit >script
    rm -f first selected
    poet view --script script $name.poet >said 2>&1
    mv first $name.first
    mv selected $name.selected
done
like "the panel has the key findings" "$(cat queue.first)" '^Key findings \(estimated gain\)$'
like "lock contention is one of them, with its object and place" "$(tr -s ' \n' ' ' <queue.first)" \
    ' (ms|s) lock contention \([23] threads\) T:work[#23]*, M:narrow at work \(queue.c:7\)'
gains() { poet report --json queue.poet | json '[.[].row | select(.gain_ns? and .gain_ns > 0) | .gain_ns] | sort | reverse | .[:5] | length'; }
is "it lists as many as the report, at most five" "$(grep -Ec '^[0-9.]+ (ns|µs|ms|s)  ' queue.first)" "$(gains)"
like "a thread on the critical path, with the largest what-if gain" "$(tr -s ' \n' ' ' <slow.first)" \
    ' [0-9.]+ ms dominates the critical path T:stage(#2)? at stage \(slow.c:[0-9]+\)'
like "a potential bug" "$(tr -s ' \n' ' ' <inversion.first)" ' Potential bug lock-order-inversion: '
like "memory that was not freed" "$(tr -s ' \n' ' ' <inversion.first)" \
    ' Memory not freed 1 block, 100 bytes largest leak: other \(inversion.c:15\)'
is "an event takes their place" "$(grep -c 'Key findings' queue.selected)" 0
is "a run without findings has no list of them" "$(grep -c 'Key findings' nothing.first)" 0
done_testing
