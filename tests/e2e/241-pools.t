#!/bin/bash
# Pools: tasks that wait for tasks of the same pool, and an event loop with a handler that waits for a message that only the
# loop could deliver. poet blocked says which signal no thread is left to take; corrected programs end.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >pool.c <<'C'
#include <pthread.h>
#define WORKERS 2
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int queue[64], put_at, take_at, idle, ended, stop;
static void submit(int kind)
{
    pthread_mutex_lock(&m);
    queue[put_at++] = kind;
    pthread_cond_signal(&more); /* line 10 */
    pthread_mutex_unlock(&m);
}
static void inner(void)
{
    pthread_mutex_lock(&m);
    ended++;
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&m);
}
static void outer(void)
{
    submit(1);
#ifndef FIXED
    pthread_mutex_lock(&m);
    while (ended < WORKERS)
        pthread_cond_wait(&finished, &m); /* line 26 */
    pthread_mutex_unlock(&m);
#endif
}
static void *worker(void *p)
{
    pthread_mutex_lock(&m);
    for (;;) {
        for (idle++; take_at == put_at && !stop;)
            pthread_cond_wait(&more, &m);
        idle--;
        if (take_at == put_at)
            break;
        int kind = queue[take_at++];
        pthread_mutex_unlock(&m);
        if (kind == 1)
            inner();
        else
            outer();
        pthread_mutex_lock(&m);
    }
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int all = 0; !all;) {
        pthread_mutex_lock(&m);
        all = idle == WORKERS;
        pthread_mutex_unlock(&m);
    }
    for (int i = 0; i < WORKERS; i++)
        submit(0);
#ifdef FIXED
    pthread_mutex_lock(&m);
    while (ended < WORKERS)
        pthread_cond_wait(&finished, &m);
    stop = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&m);
#endif
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
cat >loop.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static int messages[64], put_at, take_at, waits, answer;
static void post(int message)
{
    messages[put_at++] = message;
    pthread_cond_signal(&posted);
}
static void ask(void)
{
    post(2);
#ifndef FIXED
    while (!answer)
        pthread_cond_wait(&answered, &m); /* line 15 */
#endif
}
static void *event_loop(void *p)
{
    pthread_mutex_lock(&m);
    for (int message = 0; message != 2;) {
        for (waits = 1; take_at == put_at;)
            pthread_cond_wait(&posted, &m);
        message = messages[take_at++];
        if (message == 1)
            ask();
        else
            answer = 1, pthread_cond_signal(&answered);
    }
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, event_loop, 0);
    for (int begun = 0; !begun;) {
        pthread_mutex_lock(&m);
        begun = waits;
        if (begun)
            post(1);
        pthread_mutex_unlock(&m);
    }
    pthread_join(t, 0);
    return 0;
}
C
finished() { poet stat --json "$1" | grep -q '"finished":true'; }
hangs() { poet blocked $1.poet >said 2>/dev/null; grep -q "^HANG: no remaining thread can wake the waiters of CV:$2" said; }
for what in pool loop; do
    poetcc -trace -g $what.c -o $what
    poetcc -trace -g -DFIXED $what.c -o $what-fixed
    POET_OUTPUT=$what.poet ./$what &
    pids="$pids $!"
done
end_own_process() { end_own_processes "$1"; until_true finished "$1.poet"; poet blocked "$1.poet" >said; }
check "a pool of tasks that wait for tasks of the same pool hangs" until_true hangs pool finished
end_own_process pool
like "pool: which signal is for its threads, and that all of them are blocked" "$(cat said)" \
    '^POSSIBLE STARVATION: CV:more was last signaled at event [0-9:]+, but all 2 threads that ever waited there are blocked elsewhere: T:worker(#2)?, T:worker(#2)?$'
is "pool: the signal of a task is not attributed to a waiter" "$(grep -c STARVATION said)" 1
is "pool: one hang for CI" "$(poet blocked --format json pool.poet 2>/dev/null | jq -r '[.findings[].kind] | join(" ")')" hang
check "an event loop with a handler that waits for a message of the loop hangs" until_true hangs loop answered
end_own_process loop
like "loop: the message that the loop does not take" "$(cat said)" \
    '^POSSIBLE STARVATION: CV:posted was last signaled at event [0-9:]+, but the only thread that ever waited there is blocked elsewhere: T:event_loop$'
like "the viewer's and scripts' form" "$(poet blocked --json loop.poet | jq -c '[.diagnoses[].pool]')" 'true'
for what in pool loop; do
    POET_OUTPUT=$what-fixed.poet ./$what-fixed
    is "$what: the corrected program ends" "$?" 0
    until_true finished $what-fixed.poet
    is "$what: the corrected program has no diagnosis" "$(poet blocked $what-fixed.poet)" "no thread is blocked"
done
done_testing
