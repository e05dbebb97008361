#!/bin/bash
# Rows: pinned, searched, as high as there is room; deadlocks and signals that woke nobody in pictures.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# ---- a deadlock is drawn red, and said, wherever it is shown ----
cat >crossed.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *work(void *a)
{
    pthread_mutex_t *first = a ? &left : &right, *second = a ? &right : &left;
    pthread_mutex_lock(first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(second);
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, 0, 3);
    pthread_create(&t[0], 0, work, 0);
    pthread_create(&t[1], 0, work, &both);
    pthread_barrier_wait(&both);
    pthread_join(t[0], 0);
}
C
poetcc -trace -g crossed.c -o crossed
POET_OUTPUT=crossed.poet ./crossed &
crossed=$!
pids="$pids $crossed"
until_true sh -c 'poet blocked crossed.poet | grep -q "^cycle"'
kill -KILL $crossed
wait $crossed 2>/dev/null
until_true finished crossed.poet
is "two that wait for each other are said to" "$(poet show crossed.poet | grep -c 'asks for M:[a-z]*, part of a deadlock$')" 2
check "a picture of it" poet export crossed.poet -o crossed.svg
like "the legend says so" "$(cat crossed.svg)" 'part of a deadlock'
is "who waits is tied in red to what it waits for" "$(grep -c 'stroke:rgb(75%,0%,10%).*stroke-dasharray:5,3' crossed.svg)" 2
is "the legend shows its arrows" "$(grep -c 'fill:rgb(35%,35%,35%)' crossed.svg)" 2
poet show crossed.poet --color=always >coloured
like "in a terminal, too" "$(cat coloured)" '38;5;161m'
poet export crossed.poet -o begin.svg --from 1:1 --to 1:2
is "where nothing of it is seen nothing is said" "$(grep -c 'part of a deadlock' begin.svg)" 0
done_testing
