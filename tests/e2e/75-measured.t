#!/bin/bash
# Measuring changes nothing for the measured program: results, errno and messages are those of an untraced run.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
odd=$root/tests/e2e/odd.c
gcc -O1 "$odd" -o plain -pthread 2>/dev/null
./plain >want
wanted=$?
start_server -o h/ -q
for meters in calls=counts calls=real calls=cpu calls=every states usage calls,states,usage,metrics; do
    for how in "-O1" "-O0"; do
        poetcc -profile $how "$odd" -o measured 2>/dev/null
        POET_MEASURE=$meters ./measured >got 2>err
        is "$meters, $how: the exit status is that of an untraced run" $? $wanted
        is "$meters, $how: results and errno of every call are those of an untraced run" "$(cat got)" "$(cat want)"
        is "$meters, $how: nothing on standard error" "$(cat err)" ""
    done
    check "$meters: the trace is sound" sound latest
done
for meters in memory memory,states,usage; do
    poet record -m $meters -- ./plain >got 2>err
    is "recorded with $meters: the exit status is that of an untraced run" $? $wanted
    is "recorded with $meters: results and errno of every call are those of an untraced run" "$(cat got)" "$(cat want)"
    is "recorded with $meters: nothing on standard error" "$(cat err)" ""
    check "recorded with $meters: the trace is sound" sound latest
done

# A thread that ends in a call, and is held up after its end was recorded.
cat >ends.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <time.h>
#define NI __attribute__((no_instrument_function))
static volatile int ending;
NI static void handler(int s) { (void)s; nanosleep(&(struct timespec){0, 3000000}, 0); }
void __attribute__((noinline)) leave(void) { ending = 1; pthread_exit(0); }
void *run(void *p) { leave(); return p; }
NI int main(void)
{
    struct sigaction sa = {.sa_handler = handler};
    sigaction(SIGUSR1, &sa, 0);
    for (int i = 0; i < 400; i++) { /* each time the signal comes a little later */
        pthread_t t;
        ending = 0;
        pthread_create(&t, 0, run, 0);
        while (!ending);
        for (volatile int k = 0; k < i % 200 * 300; k++);
        pthread_kill(t, SIGUSR1);
        pthread_join(t, 0);
    }
    return 0;
}
C
poetcc -profile -O1 ends.c -o ends
POET_MEASURE=calls=cpu ./ends
check "calls that are open when a thread ends take no longer than its lifetime" sound latest

# Installed programs.
seq 1 100000 | shuf --random-source=<(yes) >numbers
head -c 500000 numbers >text
# try METERS COMMAND...
try() {
    meters=$1
    shift
    command -v "$1" >/dev/null || { skip "$1 is not installed"; return; }
    "$@" >want 2>want.err </dev/null
    status=$?
    poet record -l -m "$meters" -- "$@" >got 2>got.err </dev/null
    is "$1 with $meters: the exit status is that of an untraced run" $? $status
    check "$1 with $meters: the output is that of an untraced run" cmp got want
    is "$1 with $meters: the messages are those of an untraced run" "$(cat got.err)" "$(cat want.err)"
    check "$1 with $meters: the trace is sound" sound latest
}
for meters in states,usage memory,states,usage; do
    try $meters sort --parallel=4 -n numbers
    try $meters pigz -n -p 4 -c text
    try $meters xz -T4 -c --block-size=100000 text
    try $meters sqlite3 :memory: 'create table t(x); with recursive c(i) as (select 1 union all select i+1 from c where i<2000)
        insert into t select i*7919%1000 from c; select sum(x), count(distinct x) from t;'
done
stop_server
done_testing
