#!/bin/bash
# A wait that ends by an untraced signal: the waker is unknown, and the wait is not attributed to a delay by the
# scheduler.
. "$(dirname "$0")/lib.sh"

cat >helper.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t over;
void rest(void) { sem_wait(&over); }
void rests_end(void) { sem_post(&over), sem_post(&over); }
void wake_one(pthread_mutex_t *m, pthread_cond_t *c, int *tokens)
{
    pthread_mutex_lock(m);
    ++*tokens;
    pthread_cond_signal(c);
    pthread_mutex_unlock(m);
}
C
cat >pair.c <<'C'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
void rest(void), rests_end(void), wake_one(pthread_mutex_t *, pthread_cond_t *, int *);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t token = PTHREAD_COND_INITIALIZER;
static int tokens, asleep, over;
static void *take(void *a)
{
    pthread_mutex_lock(&m);
    asleep++;
    while (!tokens) pthread_cond_wait(&token, &m);
    tokens--;
    over++;
    pthread_mutex_unlock(&m);
    rest();
    return a;
}
static long now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
static void until(int *what, int wanted)
{
    for (int is = 0; is < wanted; usleep(1000)) {
        pthread_mutex_lock(&m);
        is = *what;
        pthread_mutex_unlock(&m);
    }
}
int main(void)
{
    pthread_t t[2];
    long begun = now_us(), late;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, take, 0);
    until(&asleep, 2);
    pthread_mutex_lock(&m);
    tokens++;
    pthread_cond_signal(&token);
    pthread_mutex_unlock(&m);
    until(&over, 1);
    /* long enough that delays on a loaded machine are small in comparison */
    late = 20 * (now_us() - begun);
    usleep(late < 200000 ? 200000 : (useconds_t)late);
    wake_one(&m, &token, &tokens);
    until(&over, 2);
    rests_end();
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
C
gcc -g -shared -fPIC helper.c -o libhelper.so
gcc -g -pthread pair.c -o pair -L. -lhelper -Wl,-rpath,"$work"
poet record -o pair.poet -- ./pair 2>/dev/null
check "the trace is finished" until_true finished pair.poet
is "the wakeup event says that the signaler is not traced" \
    "$(poet dump pair.poet | grep -c 'signaler not traced')" 1
# The row of the wait that this wakeup ended: its waker is unknown, and no part of it counts as wakeup latency.
wake=$(poet dump pair.poet | awk '/signaler not traced/ { print $1 }')
poet waits --by wait --csv --columns waited_ns,unattributed_ns,resume_ns,runnable_ns,location,end_event \
    pair.poet >waits.csv 2>/dev/null
row=$(tr -d '\r' <waits.csv | grep "take.*,\"\{0,1\}$wake\"\{0,1\}$")
like "poet waits: the wait is listed" "$row" '^[0-9]{9,},'
waited=$(echo "$row" | cut -d, -f1)
is "poet waits: all of the wait is unattributed" "$(echo "$row" | cut -d, -f2)" "$waited"
is "poet waits: the wait has no wakeup latency" "$(echo "$row" | cut -d, -f3,4)" "0,0"
is "poet report: no CPU contention or wakeup latency is found" \
    "$(poet report --all pair.poet | sed -n '/^Key findings/,/^$/p' | grep -c -E 'CPU contention|wake-up latency')" 0
done_testing
