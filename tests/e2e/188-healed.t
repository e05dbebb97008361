#!/bin/bash
# A signal that is lost and made good by a later one has happened: `poet provoke` says which was lost, and which woke the
# waiter.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >healed.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_int looked, flag, done;
static void *waits(void *p)
{
    pthread_mutex_lock(&lock);
    while (!flag) {
        looked = 1;
        pthread_cond_wait(&ready, &lock);
    }
    pthread_mutex_unlock(&lock);
    done = 1;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    while (!looked)
        usleep(100);
    flag = 1;
    pthread_cond_signal(&ready); /* line 25 */
    while (!done) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&ready); /* line 28 */
        pthread_mutex_unlock(&lock);
        usleep(100);
    }
    return pthread_join(t, 0);
}
C
poetcc -trace -g healed.c -o healed
POET_OUTPUT=healed.poet ./healed
until_true finished healed.poet
number=$(poet maybe --json healed.poet | python3 -c '
import json, sys
print(*[r["number"] for r in (json.loads(l).get("row") for l in sys.stdin) if r and r["kind"] == "lost"])')
poet provoke healed.poet ${number%% *} --tries 4 -o new.poet 2>said
is "a lost signal has happened, though a later one woke its waiter" "$?" 0
like "and it is said which it was, and which woke it" "$(cat said)" \
    'it happened in try [1-4], .*signal of T:main at main \(healed.c:25\) \([0-9:]*\) was lost, and a later one of T:main at main \(healed.c:28\) \([0-9:]*\) woke T:waits after [0-9.]* ms; the trace is new.poet'
check "whose trace is a trace" poet check new.poet
is "and the wake has one cause, which is certain" "$(poet dump new.poet | grep -c 'DOUBTFUL')" 0
is "nothing else is left" "$(ls new.*)" new.poet
done_testing
