#!/bin/bash
# poet predict reports a wait for a condition variable that no test precedes, from a run in which its signal came later, by the
# code between the two calls; poet confirm makes the signal come first. Waits with a test, and those that the signal must follow,
# have no finding.
. "$(dirname "$0")/lib.sh"
if [ "$(uname -m)" != x86_64 ]; then
    skip "code is decoded on x86-64 only"
    done_testing
    exit 0
fi
export POET_QUIET=1
cat >wakeup.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t there;
static int ready, parked;
static atomic_bool waiting;
static void let_pass(void)
{
    for (int i = 0; i < 300 && !waiting; i++)
        nanosleep(&(struct timespec){0, 1000000}, 0);
}
static void *sets(void *p)
{
    bool sent = false;
#ifdef HANDSHAKE
    sem_wait(&there);
#else
    let_pass();
#endif
#ifdef TICKS
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&state);
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&state);
    }
    return p;
#elif defined POLL
    for (int i = 0; i < 3 || !sent; i++) {
        pthread_mutex_lock(&state);
        if (parked && i > 1)
            sent = !pthread_cond_signal(&changed);
        pthread_mutex_unlock(&state);
    }
    return p;
#endif
    pthread_mutex_lock(&state);
    ready = 1;
    sent = !pthread_cond_signal(&changed); /* line 43 */
    pthread_mutex_unlock(&state);
    return sent ? p : 0;
}
int main(void)
{
    pthread_t t;
    sem_init(&there, 0, 0);
#ifndef WITHIN
    pthread_create(&t, 0, sets, 0);
#endif
#ifdef OUTSIDE
    if (!ready)
#endif
    pthread_mutex_lock(&state); /* line 57 */
    waiting = true;
    parked++;
#ifdef WITHIN
    pthread_create(&t, 0, sets, 0);
#elif defined HANDSHAKE
    sem_post(&there);
#endif
#ifdef LOOP
    while (!ready)
        pthread_cond_wait(&changed, &state);
#elif defined IF
    if (!ready)
        pthread_cond_wait(&changed, &state);
#elif defined LATE_TEST
    do
        pthread_cond_wait(&changed, &state); /* line 73 */
    while (!ready);
#elif defined TIMED
    pthread_cond_timedwait(&changed, &state, &(struct timespec){time(0) + 60, 0});
#else
    pthread_cond_wait(&changed, &state); /* line 78 */
#endif
    pthread_mutex_unlock(&state);
    return pthread_join(t, 0);
}
C
# record NAME [ARG...]: compiles, and records a run that passes
record() {
    local what=$1
    shift
    rm -f "$what.poet"
    poetcc -trace -g wakeup.c -o "$what" "$@" && POET_OUTPUT=$what.poet timeout 60 "./$what" && until_true finished "$what.poet"
}
text='^1  unchecked-wait: possible lost wake-up; no test under the lock precedes the wait, and the signal can come before it'
for way in PLAIN:-O0:78 PLAIN:-O2:78 OUTSIDE:-O0:78 LATE_TEST:-O1:73; do
    IFS=: read -r macro option at <<<"$way"
    check "$macro $option: a run passes" record "$macro" "$option" "-D$macro"
    poet predict "$macro.poet" >said
    like "$macro: predicted" "$(cat said)" "$text"
    like "$macro: the waiter" "$(cat said)" \
        "^  T:main locked M:state at main \\(wakeup.c:57\\) \\(event [0-9:]+\\), then waited on CV:changed at main \\(wakeup.c:$at\\)"
    like "$macro: the signal" "$(cat said)" '^  T:sets signaled CV:changed at sets \(wakeup.c:43\) \(event [0-9:]+\), the last time in the run$'
done
check "poet confirm makes it happen" poet confirm PLAIN.poet 1 -o new.poet
like "poet confirm says how it hangs" "$output" "confirmed in attempt [0-9]+: the program hangs"
like "the trace shows it" "$(poet blocked new.poet)" "^HANG: no remaining thread can wake the waiters of CV:changed"
for macro in LOOP IF WITHIN HANDSHAKE TIMED TICKS POLL; do
    for option in -O0 -O2; do
        check "$macro $option: a run passes" record "$macro" "$option" "-D$macro"
        is "$macro $option: nothing is predicted" "$(poet predict "$macro.poet" | grep '^[0-9]')" ""
    done
done

# ---- an unmodified program ----
cc -g -O1 -DPLAIN wakeup.c -o unmodified -lpthread
check "poet record: a run passes" poet record -o unmodified.poet -- ./unmodified
like "poet record: predicted" "$(poet predict unmodified.poet)" "$text"
done_testing
