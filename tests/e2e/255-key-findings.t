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
for name in queue nothing; do
    poetcc -trace -g $name.c -o $name -lpthread
    POET_OUTPUT=$name.poet ./$name
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
is "an event takes their place" "$(grep -c 'Key findings' queue.selected)" 0
is "a run without findings has no list of them" "$(grep -c 'Key findings' nothing.first)" 0
done_testing
