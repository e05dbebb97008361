#!/bin/bash
# poet waits --stacks: wait time by the call stack of the waiters, and of the calls that ended the waits, as a table and in the
# formats of flame graphs and KCachegrind; the sums are those of poet waits.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >queue.c <<'C'
#include <pthread.h>
#define FUNCTION __attribute__((noinline, noclone)) static
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t meeting;
static int items, rounds;
static volatile int sink; // (no call is the last one of its function)
FUNCTION void wait_filled(void)
{
    pthread_cond_wait(&filled, &mutex); // line 10
    sink++;
}
FUNCTION void queue_take(void)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&meeting); // the other thread puts only then
    while (!items)
        wait_filled(); // line 18
    items--;
    pthread_mutex_unlock(&mutex);
    sink++;
}
FUNCTION void announce(void)
{
    pthread_cond_signal(&filled); // line 25
    sink++;
}
FUNCTION void queue_put(void)
{
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&mutex);
    items++;
    announce(); // line 33
    pthread_mutex_unlock(&mutex);
    sink++;
}
static void *consumer(void *p)
{
    for (int i = 0; i < rounds; i++)
        queue_take(); // line 40
    sink++;
    return p;
}
static void *producer(void *p)
{
    for (int i = 0; i < rounds; i++)
        queue_put(); // line 47
    sink++;
    return p;
}
int main(int argc, char **argv)
{
    pthread_t threads[2];
    rounds = 4 + argc + !argv; // not known to the compiler, which would repeat the calls
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_create(&threads[0], NULL, consumer, NULL);
    pthread_create(&threads[1], NULL, producer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
C
gcc -g -O2 -pthread queue.c -o queue
poet record -o queue.poet -- ./queue 2>/dev/null

poet waits --stacks --columns function,calls queue.poet >table
like "a tree of calls, the outermost first" "$(tr -s ' ' <table | tr '\n' '|')" \
    '\|consumer \(queue.c:40\) 0\|.* queue_take \(queue.c:18\) 0\| wait_filled \(queue.c:10\) 5\|'
total() { python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readlines()[-1])["total"][sys.argv[2]])' "$@"; }
poet waits --json queue.poet >waits.json
poet waits --stacks --json queue.poet >stacks.json
poet waits --stacks=waker --json queue.poet >wakers.json
is "the time of all waits" "$(total stacks.json total_ns)" "$(total waits.json waited_ns)"
is "the time of all waits, by what ended them" "$(total wakers.json total_ns)" "$(total waits.json waited_ns)"

sum() { awk '{ sum += $NF } END { printf "%d\n", sum }' "$1"; }
poet waits --stacks -f folded queue.poet >folded
like "folded stacks" "$(cat folded)" '^consumer;queue_take;wait_filled [0-9]+$'
is "their sum" "$(sum folded)" "$(total waits.json waited_ns)"
poet waits --stacks=waker -f folded -o wakers.folded queue.poet
like "folded stacks of calls that ended waits, into a file" "$(cat wakers.folded)" '^producer;queue_put;announce [0-9]+$'
is "their sum, too" "$(sum wakers.folded)" "$(total waits.json waited_ns)"

poet waits --stacks -f callgrind queue.poet >callgrind.out
is "callgrind: what a function waited in the one that it called" \
    "$(awk '/^fn=queue_take$/ { on = 1 } on && /^cfn=wait_filled$/ { getline; print $1, $2; exit }' callgrind.out)" "calls=5 10"
poet waits --stacks -o stacks.svg queue.poet
like "an icicle graph" "$(cat stacks.svg)" '>(main|consumer|queue_take|wait_filled) '
poet waits -f folded queue.poet 2>said
is "a format needs stacks" "$? $(head -n 1 said)" "2 poet waits: -f folded: needs --stacks"
poet waits --stacks -f gprof queue.poet 2>said
is "an unknown format" "$? $(head -n 1 said)" "2 poet waits: -f gprof: callgrind, folded or pprof"
poet waits --stacks=someone queue.poet >said 2>&1
is "an unknown grouping" $? 2
done_testing
