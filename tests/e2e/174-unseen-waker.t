#!/bin/sh
# A thread that was woken by a signal that is not recorded did not wait for a processor: nobody is said to have woken it.
. "$(dirname "$0")/lib.sh"

cat >helper.c <<'C'
#include <pthread.h>
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
#include <unistd.h>
void wake_one(pthread_mutex_t *, pthread_cond_t *, int *);
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
    return a;
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
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, take, 0);
    until(&asleep, 2);
    pthread_mutex_lock(&m);
    tokens++;
    pthread_cond_signal(&token);
    pthread_mutex_unlock(&m);
    until(&over, 1);
    usleep(200000);
    wake_one(&m, &token, &tokens);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
C
gcc -g -shared -fPIC helper.c -o libhelper.so
gcc -g -pthread pair.c -o pair -L. -lhelper -Wl,-rpath,"$work"
poet record -o pair.poet -- ./pair 2>/dev/null
check "the trace is finished" until_true finished pair.poet
is "the wake says that who signalled is not recorded" \
    "$(poet dump pair.poet | grep -c 'signaler not traced')" 1
# By wait: in the longest one of the condition, who ended it is not known, and nothing of it is spent going on.
poet waits --by wait --csv --columns waited_ns,unattributed_ns,resume_ns,runnable_ns,location pair.poet \
    >waits.csv 2>/dev/null
row=$(grep 'take' waits.csv | sort -t, -k1 -n -r | head -n 1)
waited=$(echo "$row" | cut -d, -f1)
is "all of the wait is unexplained" "$(echo "$row" | cut -d, -f2)" "$waited"
is "none of it is spent going on" "$(echo "$row" | cut -d, -f3,4)" "0,0"
is "no thread is said to wait for a processor" \
    "$(poet report pair.poet | sed -n '/^Key findings/,/^$/p' | grep -c -E 'CPU contention|wake-up latency')" 0
done_testing
