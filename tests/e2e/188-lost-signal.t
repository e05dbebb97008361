#!/bin/bash
# A lost signal that a later signal compensates: poet confirm reports that the interleaving occurred, which signal
# was lost, and which one woke the waiter.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >healed.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include "asleep.h"
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
    until_others_sleep(); /* the waiter waits, or is held back */
    flag = 1;
    pthread_cond_signal(&ready); /* line 26 */
    while (!done) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&ready); /* line 29 */
        pthread_mutex_unlock(&lock);
        usleep(100);
    }
    return pthread_join(t, 0);
}
C
poetcc -trace -g -I"$root/tests/e2e" healed.c -o healed
POET_OUTPUT=healed.poet ./healed
until_true finished healed.poet
number=$(poet predict --json healed.poet | python3 -c '
import json, sys
print(*[r["number"] for r in (json.loads(l).get("row") for l in sys.stdin) if r and r["kind"] == "lost-wakeup"])')
poet confirm healed.poet ${number%% *} --tries 4 -o new.poet 2>said
is "poet confirm: a lost signal occurred even if a later one woke the waiter" "$?" 0
like "poet confirm: the message names the lost signal and the one that woke the waiter" "$(cat said)" \
    'the interleaving occurred in attempt [1-4] without a hang: the signal of T:main at main \(healed.c:26\) \(event [0-9:]*\) was lost; a later signal of T:main at main \(healed.c:29\) \(event [0-9:]*\) woke T:waits after [0-9.]* ms; trace: new.poet'
check "poet confirm: the trace passes poet check" poet check new.poet
is "poet confirm: the wakeup has one certain cause" "$(poet dump new.poet | grep -c 'UNCERTAIN')" 0
is "poet confirm: no temporary files remain" "$(ls new.*)" new.poet

# ---- poet blocked: a thread that another one keeps waiting is listed before an idle one that waits longer ----
cat >kept.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static atomic_int waiting, has, quit;
static void *idle(void *p)
{
    pthread_mutex_lock(&lock);
    waiting = 1;
    while (!quit)
        pthread_cond_wait(&work, &lock);
    pthread_mutex_unlock(&lock);
    return p;
}
static void *holds(void *p)
{
    pthread_mutex_lock(&held);
    has = 1;
    while (!quit)
        usleep(1000);
    pthread_mutex_unlock(&held);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, idle, 0);
    while (!waiting)
        usleep(100);
    pthread_mutex_lock(&lock); /* the thread is blocked now */
    pthread_mutex_unlock(&lock);
    pthread_create(&t[1], 0, holds, 0);
    while (!has)
        usleep(100);
    return pthread_mutex_lock(&held);
}
C
poetcc -trace -g kept.c -o kept
POET_OUTPUT=kept.poet ./kept 2>/dev/null &
pids="$pids $!"
waits_kept() { poet blocked kept.poet | grep -q '^T:main requests M:held' && poet blocked kept.poet | grep -q '^T:idle'; }
until_true waits_kept
is "poet blocked: the thread that another one keeps waiting is listed first" "$(poet blocked kept.poet | grep -o '^T:[a-z]*' | xargs)" "T:main T:idle"
done_testing
