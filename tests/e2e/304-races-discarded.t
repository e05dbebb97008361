#!/bin/bash
# Data races where the order is not known whole: after events were discarded (--keep) nothing is claimed, and that is said; a run
# that has not ended; too many conflicts.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >hand.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static sem_t there, back;
static long value, racy;
static long rounds;
static void *take(void *p)
{
    for (long i = 0; i < rounds; i++) {
        sem_wait(&there);
        value++;
        sem_post(&back);
    }
    racy = 1; /* RACY */
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    rounds = atol(argv[1]);
    pthread_create(&t, NULL, take, NULL);
    for (long i = 0; i < rounds; i++) {
        value++;
        sem_post(&there);
        sem_wait(&back);
    }
    if (argc > 2) {
        racy = 2;
        puts("waiting");
        fflush(stdout);
        getchar();
    }
    pthread_join(t, NULL);
    return value == 2 * rounds ? 0 : 1;
}
C
check "compiled" poetcc -trace=races -g hand.c -o hand

# ---- handed over: no race, however often ----
POET_OUTPUT=whole.poet ./hand 2000
is "handed over: status" $? 0
order_ends whole.poet
is "handed over: no race" "$(poet races whole.poet | tail -n +2)" "note: no data races found"

# ---- events are discarded ----
POET_KEEP=1M POET_OUTPUT=kept.poet ./hand 20000
is "discarded: status" $? 0
order_ends kept.poet
poet races kept.poet >races
is "discarded: no race is claimed" "$(grep -c 'data race:' races)" 0
like "discarded: what was not compared is said" "$(cat races)" \
    '^note: there may be more data races; not compared, [0-9]+ times: an event was discarded$'

# ---- a live run ----
mkfifo begin
POET_OUTPUT=live.poet ./hand 10 race <begin >out &
program=$!
exec 4>begin
until_true grep -q waiting out
raced() { [ "$(poet races live.poet 2>/dev/null | grep -c '^[0-9]*  data race: write of 8 bytes at racy (global)')" = 1 ]; }
check "live: the race is found before the end" until_true raced
is "live: it is the only one" "$(poet races live.poet 2>/dev/null | grep -c 'data race:')" 1
echo >&4
exec 4>&-
wait $program
is "live: status" $? 0
order_ends live.poet
is "ended: the same race" "$(poet races live.poet | grep -c '^[0-9]*  data race: write of 8 bytes at racy (global)')" 1
done_testing
