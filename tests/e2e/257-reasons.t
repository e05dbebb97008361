#!/bin/bash
# What the first screen says of a hang beyond the threads: how many have arrived at a barrier, which thread took a
# signal that was meant for another one, which child process is waited for.  And no finding promises more time than
# it took.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >barrier.c <<'C'
#include <pthread.h>
static pthread_barrier_t gate;
static void *work(void *skips)
{
    if (!skips)
        pthread_barrier_wait(&gate);
    return 0;
}
int main(void)
{
    static int skips;
    pthread_t t[4];
    pthread_barrier_init(&gate, 0, 2); /* a whole round, and another size afterwards */
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    pthread_barrier_destroy(&gate);
    pthread_barrier_init(&gate, 0, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, i == 2 ? &skips : 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
}
C
cat >stolen.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, full, empty;
static void *puts_items(void *p)
{
    pthread_mutex_lock(&m);
    for (waiting++; !empty;)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    return p;
}
static void *takes_items(void *p)
{
    pthread_mutex_lock(&m);
    for (waiting++; !full;)
        pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, puts_items, 0);
#ifdef ALIKE
    pthread_create(&t[1], 0, puts_items, 0);
#else
    pthread_create(&t[1], 0, takes_items, 0);
#endif
    for (int both = 0; !both;) {
        pthread_mutex_lock(&m);
        if ((both = waiting == 2))
            pthread_cond_signal(&changed);
        pthread_mutex_unlock(&m);
    }
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
}
C
cat >child.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    pthread_mutex_lock(&m);
    if (fork() == 0)
        pthread_mutex_lock(&m);
    wait(0);
}
C
cat >running.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    pthread_mutex_lock(&m);
    if (fork() == 0)
        pause();
    wait(0);
}
C
cat >wrapped.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static __attribute__((noinline)) int my_lock(pthread_mutex_t *m)
{
    return pthread_mutex_lock(m) + 1;
}
static __attribute__((noinline)) int debit(void) { return my_lock(&b) + 1; } /* line 8 */
static void *transfer(void *p)
{
    my_lock(&a);
    pthread_barrier_wait(&both);
    return debit() ? p : 0; /* line 13 */
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t, 0, transfer, 0);
    my_lock(&b);
    pthread_barrier_wait(&both);
    return my_lock(&a); /* line 22 */
}
C
cat >brief.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void pause_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, 0); }
static void *work(void *p)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&m);
        pause_ms(20);
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    pause_ms(900);
}
C

shows() { poet blocked "$1.poet" 2>/dev/null | grep -Eq "$2"; }
hangs() { # hangs NAME PATTERN: records until poet blocked prints the pattern, then kills its processes
    poet record -o "$1.poet" -- "./$1" &
    recorder=$!
    pids="$pids $recorder"
    until_true shows "$1" "$2"
    end_own_processes "$1"
    wait $recorder 2>/dev/null
    until_true finished "$1.poet"
    poet report "$1.poet" >"$1.txt"
}

gcc -g -w barrier.c -o barrier
hangs barrier '^ *arrived: 3 of 4 threads$'
like "a barrier that one thread skips is a hang" "$(cat barrier.txt)" 'HANG: no remaining thread can wake the waiters of B:gate'
like "the report counts the threads that have arrived, of the barrier's last size" "$(cat barrier.txt)" \
    '^ *arrived: 3 of 4 threads$'
is "the JSON has both numbers" "$(poet blocked --json barrier.poet | json '.[0].diagnoses[] | select(.participants) | [.arrived, .participants]')" "[3,4]"

# A program that is killed while a complete round returns from the barrier does not hang there.
start_server -o rounds/ -q
for size in 2 3; do
    python3 "$root/tests/e2e/rounds.py" "$root/examples/python/events.py" of-$size $size
    run=$(ls rounds/of-$size-*.poet)
    until_true finished "$run"
    poet blocked "$run" >of-$size.txt
done
stop_server
is "a barrier at which all threads have arrived is not a hang" "$(grep -E 'HANG|arrived' of-2.txt)" ""
like "with one thread less, it is one" "$(tr -s ' \n' ' ' <of-3.txt)" 'HANG: no remaining thread can wake the waiters of B:gate arrived: 2 of 3 threads '

for way in APART ALIKE; do
    gcc -g -w -D$way stolen.c -o stolen
    hangs stolen ' resumed after it and waits again'
    said=$(tr -s ' \n' ' ' <stolen.txt)
    [ $way = APART ] && more='; others wait at another call: a signal wakes any one waiter; ' || more=' thread time:'
    like "$way: the report names the thread that took the signal" "$said" \
        "last signal of CV:changed: event [0-9:]*; it happened after the wait began \(event [0-9:]*\) T:[a-z_#2]* resumed after it and waits again$more"
done

gcc -g -w child.c -o child
hangs child 'and will never resume'
like "the report names the child process that is waited for" "$(tr -s ' \n' ' ' <child.txt)" \
    ' T:main waits for T:main\[[0-9]*\] at main \(child.c:10\) '

like "the report says that one thread waits for itself" "$(cat child.txt)" '^ *DEADLOCK: 1 thread in self-deadlock$'
gcc -g -w -O1 wrapped.c -o wrapped
hangs wrapped '^DEADLOCK: 2 threads'
said=$(tr -s ' \n' ' ' <wrapped.txt)
like "the report names the callers of a wrapper around a lock" "$said" \
    'T:transfer waits for M:b at my_lock \(wrapped.c:6\), called by debit \(wrapped.c:8\), transfer \(wrapped.c:13\), held by T:main,'
like "a deadlock of two threads is none of one with itself" "$said" 'DEADLOCK: 2 threads wait for each other T:'

gcc -g -w running.c -o running
poet record -o running.poet -- ./running &
recorder=$!
pids="$pids $recorder"
until_true shows running '^T:main waits for the end of a child process'
is "a thread that holds a lock while it waits for a child process is in no deadlock" \
    "$(poet blocked running.poet | grep -E 'DEADLOCK|HANG|held by')" ""
end_own_processes running
wait $recorder 2>/dev/null

gcc -g -w brief.c -o brief
poet record -o brief.poet -- ./brief
until_true finished brief.poet
poet report --json brief.poet | json '[.[].row | select(.gain_ns? and .duration_ns)]' >gains
check "there are findings with estimated gains" test "$(json '.[0] | length' gains)" -gt 0
is "no estimated gain exceeds the time of its finding" "$(json '[.[0][] | select(.gain_ns > .duration_ns)]' gains)" "[]"

done_testing
