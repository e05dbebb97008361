#!/bin/bash
# When a long run has ended, its server prepares `poet report`: the first one that a user requests computes nothing.
. "$(dirname "$0")/lib.sh"
unset POET_PREPARE_REPORT

cat >long.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m[4];
static int rounds;
static void *work(void *of)
{
    for (int i = 0; i < rounds; i++) { pthread_mutex_lock(&m[i % 4]); pthread_mutex_unlock(&m[i % 4]); }
    return of;
}
int main(int argc, char **argv)
{
    pthread_t t[4];
    rounds = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < 4; i++) pthread_mutex_init(&m[i], NULL);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}
C
poetcc -trace -O1 long.c -o long
all_ended() { [ -z "$(own_processes poet)$(own_processes poet-server)" ]; }
record() { POET_SERVER='' POET_OUTPUT=$1 ./long "$2" 2>/dev/null && order_ends "$1" && until_true all_ended; }

check "a long run is recorded" record long.poet 16000
events=$(figure long.poet events)
[ "$events" -ge 262144 ] && ok "it has $events events" || not_ok "it has 2^18 events" "$events"
check "its results are saved" test -s long.poet-results
cp long.poet-results prepared
got=$(poet report long.poet)
check "poet report computes no other ones" cmp long.poet-results prepared
mkdir alone && cp long.poet alone/
is "it is the report that is computed without them" "$got" "$(cd alone && poet report long.poet)"
like "it has the states of the threads" "$got" "T:work#2 "

check "a short run is recorded" record short.poet 100
check "nothing is prepared for it" test ! -e short.poet-results
export POET_PREPARE_REPORT=0
check "another long run is recorded" record other.poet 16000
check "with POET_PREPARE_REPORT=0 nothing is prepared" test ! -e other.poet-results
unset POET_PREPARE_REPORT
check "a run with a report of its own is recorded" poet record -o own.poet --report=own.txt ./long 16000
check "all servers ended" until_true all_ended
check "the report is there" test -s own.txt
check "and saved its tables" test -s own.poet-results
done_testing
