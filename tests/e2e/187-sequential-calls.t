#!/bin/bash
# Threads that sleep in untraced calls do not count as running: calls made meanwhile are sequential, if the kernel
# reports context switches.
. "$(dirname "$0")/lib.sh"
cat >asleep.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "asleep.h"
static _Atomic int tid, stop;
static volatile long n;
__attribute__((noinline)) void beside(void) { n++; }
__attribute__((noinline)) void alone(void) { n++; }
static void on(int s) { (void)s; }
static void *sleeps(void *p)
{
    tid = (int)syscall(SYS_gettid);
    while (!stop)
        n++;
    stop = 2;
    pause();
    return p;
}
int main(void)
{
    pthread_t t;
    signal(SIGUSR1, on);
    pthread_create(&t, NULL, sleeps, NULL);
    while (!tid || access("go", F_OK) != 0)
        ;
    for (int i = 0; i < 10; i++)
        beside();
    stop = 1;
    while (stop != 2)
        ;
    until_others_sleep();
    for (int i = 0; i < 10; i++)
        alone();
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    return 0;
}
C
poetcc -profile -g -O1 -I"$root/tests/e2e" asleep.c -o asleep
# It continues once the kernel reports the context switches of both threads, which begin while it spins.
switched() { [ "$(poet states asleep.poet --json | json '[rows | select(.source == "context-switch records")] | length')" = 2 ]; }
POET_MEASURE=calls=every POET_QUIET=1 POET_OUTPUT=asleep.poet ./asleep &
pids="$pids $!"
until_true switched || touch none
touch go
wait "${pids##* }"
until_true finished asleep.poet
if [ -e none ]; then
    skip 'the kernel does not report context switches'
    done_testing
    exit
fi
cases() { json 'row("'"$1"'") | select(.class == "S" or .class == "C") | "\(.calls):\(.class)"' table; }
poet calls --cases --json asleep.poet >table
is 'poet calls --cases: calls beside a running thread have class C' "$(cases beside)" 10:C
is 'poet calls --cases: calls beside a sleeping thread have class S' "$(cases alone)" 10:S
poet calls --json asleep.poet >table
expect table <<'E'
poet calls: calls beside a running thread are concurrent | row("beside").concurrent => 10
poet calls: calls beside a sleeping thread are not concurrent | row("alone").concurrent => 0
E
check 'poet calls --json: the column concurrent is exact' sh -c 'tr "{" "\n" <table | grep "\"concurrent\"" | grep -q "\"exact\":true"'
like 'poet calls: no note about an upper bound' "$(grep -c 'an upper bound' table)" '^0$'
POET_QUIET=1 POET_OUTPUT=sums.poet ./asleep
until_true finished sums.poet
poet calls --json sums.poet >table
is 'call sums: calls beside a running thread are concurrent' "$(json 'row("beside").concurrent' table)" 10
like 'call sums: a note says that concurrent is an upper bound' "$(cat table)" 'concurrent is an upper bound'
done_testing
