#!/bin/bash
# Rows of locks in the overview: held, with the holder, held by a blocked thread, or free; a mutex is free while the threads that
# are in it wait for a condition variable.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
cat >locks.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
                       queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int ready;
static void sleep_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, 0); }
static void *hold(void *p)
{
    pthread_mutex_lock(&first);
    sleep_ms(300);
    pthread_mutex_unlock(&first);
    return p;
}
static void *wait_for_both(void *p)
{
    sleep_ms(20);
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return p;
}
static void *take(void *p)
{
    pthread_mutex_lock(&queue);
    while (!ready) pthread_cond_wait(&filled, &queue);
    pthread_mutex_unlock(&queue);
    return p;
}
int main(void)
{
    void *(*const of[])(void *) = {hold, wait_for_both, take};
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, of[i], 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    pthread_mutex_lock(&queue);
    ready = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&queue);
    pthread_join(t[2], 0);
}
C
poetcc -trace -g locks.c -o locks
POET_OUTPUT=locks.poet ./locks
until_true finished locks.poet
printf '%s\n' 'action time 4; action fit' 'state overview-bands bands' quit >script
timeout 100 poet view locks.poet --script script >said 2>&1
grep -E '^(row .*M:|holder)' bands | sed 's/^/# /'
# share NUMBER LINE: of the states running, held, held by a blocked thread, exited
share() { awk -v state="$1" -v line="$2" '/^row/ && $7 == line { print $(2 + state) }' bands; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }
check "a mutex of a sleeping holder is held most of the time" at_least "$(share 2 M:first)" 0.5
is "not by a blocked thread" "$(share 3 M:first)" 0.000
check "a mutex of a holder that requests another one is held by a blocked thread" at_least "$(share 3 M:second)" 0.5
is "the holders are named" "$(grep -E '^holder M:(first|second) ' bands | sort)" \
    'holder M:first T:hold
holder M:second T:wait_for_both'
is "a mutex is free while its thread waits for a condition variable" "$(share 3 M:queue)" 0.000
check "it is held for a short time only" at_least 0.5 "$(share 2 M:queue)"
done_testing
