#!/bin/bash
# poet record --repeat, and poet suspect: of programs that fail in some runs, since threads come in another order, the
# order that makes them fail is the first that is listed. In which runs that order occurs is decided by the number of
# the run.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# number.h: turn() is the number of the run, and until() waits until another thread has come so far. Without the file
# that counts the runs, the number is -1, and no thread waits for another one.
cat >number.h <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static atomic_int step;
static int number = -1;
static int turn(void)
{
    FILE *f = fopen("turn", "r+");
    if (!f || fscanf(f, "%d", &number) != 1)
        return -1;
    rewind(f);
    fprintf(f, "%d\n", number + 1);
    fclose(f);
    return number;
}
static void until(int n)
{
    while (number >= 0 && step < n)
        sched_yield();
}
C

cat >lost.c <<'C'
#include "number.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int fails, result;
static void *consumer(void *unused)
{
    struct timespec end;
    if (fails)
        until(1);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += fails ? 0 : 60;
    pthread_mutex_lock(&m);
    step += !fails;
    result = pthread_cond_timedwait(&ready, &m, &end) != 0;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *producer(void *unused)
{
    if (!fails)
        until(1);
    pthread_mutex_lock(&m);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&m);
    step += fails;
    return unused;
}
int main(void)
{
    pthread_t c, p;
    fails = turn() % 5 == 4;
    pthread_create(&c, NULL, consumer, NULL);
    pthread_create(&p, NULL, producer, NULL);
    pthread_join(c, NULL);
    pthread_join(p, NULL);
    return result;
}
C

cat >account.c <<'C'
#include "number.h"
static pthread_mutex_t account = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, fails;
static int read_balance(void)
{
    pthread_mutex_lock(&account);
    int b = balance;
    pthread_mutex_unlock(&account);
    return b;
}
static void take(int sum)
{
    pthread_mutex_lock(&account);
    balance -= sum;
    pthread_mutex_unlock(&account);
}
static void *card(void *unused)
{
    if (read_balance() >= 80) {
        step += fails;
        if (fails)
            until(2);
        take(80);
    }
    step += fails ? 0 : 2;
    return unused;
}
static void *transfer(void *unused)
{
    until(fails ? 1 : 2);
    pthread_mutex_lock(&journal);
    pthread_mutex_unlock(&journal);
    if (read_balance() >= 50)
        take(50);
    step++;
    return unused;
}
int main(void)
{
    pthread_t c, t;
    fails = turn() % 7 == 3;
    pthread_create(&c, NULL, card, NULL);
    pthread_create(&t, NULL, transfer, NULL);
    pthread_join(c, NULL);
    pthread_join(t, NULL);
    if (balance < 0)
        abort();
    return 0;
}
C
for program in lost account; do
    gcc -g -pthread $program.c -o $program || exit 1
done

# ---- recording ----
echo 0 >turn
poet record --repeat=20 -o lost.runs -- ./lost 2>said
is "status if runs failed" $? 1
is "runs that failed" "$(ls lost.runs/failed/*.poet | wc -l)" 4
is "runs that passed" "$(ls lost.runs/passed/*.poet | wc -l)" 16
like "each failed run is printed" "$(cat said)" '^run 0005: failed \(exit status 1\); 5 of 20 done, 1 failed$'
like "the end" "$(cat said)" '^20 runs recorded in lost.runs: 4 failed, 16 passed$'
like "what to do next" "$(cat said)" '^next: poet suspect lost.runs$'
is "each trace is complete" "$(for t in lost.runs/*/*.poet; do complete "$t" && finished "$t" || echo "$t"; done)" ""
is "the output of each run" "$(ls lost.runs/*/*.out | wc -l)" 20
echo 0 >turn
poet record --repeat=50 --until-failure -o first.runs -- ./lost 2>said
is "until a run fails" "$(ls first.runs/*/*.poet | wc -l)" 5
echo 0 >turn
poet record --repeat=2 --perturb -o first.runs -- ./lost 2>said
is "a directory with runs is continued" "$? $(ls first.runs/*/*.poet | wc -l)" "0 7"
poet record --repeat=0 -- ./lost 2>said
is "no number" "$? $(head -n 1 said)" "2 poet record: --repeat 0: not a number from 1 to 4096"

# ---- the order that makes it fail ----
poet suspect lost.runs >said
is "status" $? 0
is "runs" "$(sed -n '1s/,.*//p' said)" "4 failed and 16 passed runs"
is "a signal that came before the wait" "$(sed -n '3,5p' said)" \
    "  1  T:producer: signal on CV:ready at lost.c:23
     earlier than  T:consumer: timed_wait on CV:ready at lost.c:14
     in 4 of 4 failed and 0 of 16 passed runs; probability by chance: 0.00021"
poet suspect lost.runs --json --limit=1 >first.json
expect first.json <<'X'
kind | .[].kind => before
what came too early | .[].first => T:producer: signal on CV:ready at lost.c:23
what came too late | .[].last => T:consumer: timed_wait on CV:ready at lost.c:14
in failed runs | .[].failed, .[].failed_runs => 4 4
in passed runs | .[].passed, .[].passed_runs => 0 16
X
events=$(jq -r '.events[0] + " " + .events[2]' first.json)
# shellcheck disable=SC2086
is "the two events of the example" "$(poet order "$(jq -r .run first.json)" $events)" before
poet suspect lost.runs --limit=1 --picture=two.txt >/dev/null
is "a failed run above one that passed" "$(grep -c '^failed: 0005.poet\|^passed: 0001.poet' two.txt)" 2

echo 0 >turn
poet record --repeat=35 -o account.runs -- ./account 2>said
like "runs that aborted" "$(cat said)" '^run 0004: failed \(SIGABRT\)'
poet suspect --failed account.runs/failed/*.poet --passed account.runs/passed/*.poet >said
is "a transfer between the check and the withdrawal" "$(sed -n '3,6p' said)" \
    "  1  T:transfer: lock on M:account at account.c:6
     between  T:card: unlock on M:account at account.c:8
     and      T:card: lock on M:account at account.c:13
     in 5 of 5 failed and 0 of 30 passed runs; probability by chance: 3.1e-06"

# ---- making it happen ----
rm turn
poet suspect account.runs --limit=1 --confirm >said 2>errors
is "the order is made to happen, and makes the program fail" "$? $(tail -n 1 said)" \
    "0 1: with this order, 10 of 10 runs failed; of the recorded runs, 5 of 35: confirmed (probability by chance: 9.4e-07)"
poet suspect account.runs --limit=1 --confirm=99 >said 2>errors
is "no such number" "$? $(cat errors)" "1 poet suspect: there is no number 99 in the list; nothing to confirm"

# ---- no order ----
poet suspect --failed lost.runs/passed/0001.poet --passed lost.runs/passed/000[2-4].poet >said
is "runs of one kind" $? 1
like "none is claimed" "$(cat said)" '^none separates the failed runs from the others'
poet suspect --failed lost.runs/failed/0005.poet --passed lost.runs/passed/0001.poet >said
is "too few runs" $? 1
like "they can differ by chance" "$(cat said)" '^and [0-9]+ were compared; record more runs$'
poet suspect lost.runs/failed 2>said
is "no directory of runs" "$? $(cat said)" \
    "2 poet suspect: lost.runs/failed: no directory with failed/ and passed/, as poet record --repeat makes it"
poet suspect --failed lost.runs/failed/*.poet 2>said
is "no run that passed" "$? $(cat said)" "2 poet suspect: 4 failed and 0 passed runs; at least one of each is needed"
echo text >bad.poet
poet suspect --failed bad.poet --passed lost.runs/passed/0001.poet 2>said
is "no trace" $? 2
done_testing
