#!/bin/bash
# The library of patterns of POSIX threads (poet find -p): each pattern finds its matches in a program of known order, and
# --list lists all.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

check "the descriptions are valid" poet check "$root/config/pthread.conf"

# The signal of the first thread is without the mutex: nothing orders it and the wait. The waiter is woken by the second
# signal, if the first one came before, else by either.
cat >signals.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int ready;
static void *bare(void *p)
{
    pthread_cond_signal(&c); /* line 9 */
    sem_post(&s);
    return p;
}
static void *proper(void *p)
{
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&m); /* line 16: nested */
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&other);
    sem_post(&s);
    return p;
}
static void *waiter(void *p)
{
    pthread_mutex_lock(&m);
    if (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t[3];
    sem_init(&s, 0, 0);
    pthread_create(&t[0], 0, bare, 0);
    pthread_create(&t[1], 0, proper, 0);
    pthread_create(&t[2], 0, waiter, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
check "compiled" poetcc -trace -g signals.c -o signals
POET_OUTPUT=signals.poet ./signals
check "the trace is finished" order_ends signals.poet

is "--list" "$(poet find --list signals.poet | sed 's/ .*//' | paste -sd' ')" \
    "signal-or-wait signal-without-mutex nested-locks handover posts-at-once timeouts"
poet find signals.poet -p signal-without-mutex --json >found.json
expect found.json <<'JQ'
a signal without a mutex | rows | .name, .location => s bare (signals.c:9)
JQ
poet find signals.poet -p nested-locks --json >found.json
expect found.json <<'JQ'
nested locks | rows | .object => M:other M:m M:other
nested locks: place | rows | select(.name == "b").location => proper (signals.c:16)
JQ
is "posts at once: both ways" "$(poet find signals.poet -p posts-at-once --count)" 2
is "each handover is from one thread to another" \
    "$(poet find signals.poet -p handover --count)" \
    "$(poet find signals.poet 'r: released(object=M:m); a: acquired; r next a; r.thread != a.thread' --count)"
is "timeouts: none" "$(poet find signals.poet -p timeouts --count)" 0
# The wait may not begin at all; if it does, the signal without the mutex is concurrent with it, unless it woke it.
is "signal-or-wait: as the pattern says" "$(poet find signals.poet -p signal-or-wait --count)" \
    "$(poet find signals.poet 's: signal; w: wait|timed_wait; s || w; s.object = w.object' --count)"
poet find signals.poet -p nosuch 2>said
is "unknown name: exit status" $? 2
like "unknown name" "$(cat said)" 'no such pattern'

done_testing
