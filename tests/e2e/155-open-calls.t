#!/bin/bash
# Calls and threads that have not ended when the program is killed or exits: unknown figures are null, not 0.
. "$(dirname "$0")/lib.sh"

cat >open.c <<'X'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int spins;

__attribute__((no_instrument_function)) static long long used_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Runs for 200 ms of the processor clock of its thread, and leaves the processor then. */
static __attribute__((noinline)) void spin(void)
{
    long long from = used_ns();
    while (used_ns() - from < 200000000)
        ;
    syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
}

static __attribute__((noinline)) void leave(const char *how)
{
    spin();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    _exit(0);
}

static __attribute__((noinline)) void for_ever(void)
{
    spin();
    for (;;)
        spins = 1; /* spin has returned, and its exit is recorded */
}

static void *other(void *unused)
{
    for_ever();
    return unused;
}

__attribute__((noinline, no_instrument_function)) static void wait_for_spin(void)
{
    while (!spins)
        usleep(1000);
}

int main(int argc, char **argv)
{
    pthread_t t;
    (void)argc;
    if (strcmp(argv[1], "main") != 0)
        leave(argv[1]);
    pthread_create(&t, NULL, other, NULL);
    wait_for_spin();
    return 0;
}
X
poetcc -profile -g open.c -o open -pthread || exit 1

# of FILE ROW COLUMN: a cell of the row with a first column that begins with ROW
of() {
    python3 - "$@" <<'P'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line).get("row")
    if row and str(next(iter(row.values()))).startswith(sys.argv[2]):
        print(json.dumps(row[sys.argv[3]]))
P
}
at_least() { [ "$1" -ge "$2" ]; }

for how in kill _exit main; do
    (POET_OUTPUT=$how.poet ./open $how) 2>/dev/null
    until_true finished $how.poet
    poet calls --json $how.poet >calls
    poet states --json $how.poet >states
    case $how in
    main) open=for_ever thread=T:other ;;
    *) open=leave thread=T:main ;;
    esac
    is "$how: a call that returned has its CPU time" "$(($(of calls spin cpu_ns) >= 150000000))" 1
    is "$how: the open call $open has its self time" "$(of calls $open self_ns | grep -c '^[1-9]')" 1
    [ $how = main ] &&
        is "$how: the CPU time of the open call $open is null" "$(of calls $open cpu_ns)" null
    check "$how: the trace passes poet check" poet check $how.poet
    if grep -q '"context-switch records' states; then
        check "$how: the lifetime of the thread extends to the last records of the kernel" \
            at_least "$(of states $thread lifetime_ns)" 150000000
    else
        skip "context switch records are not available"
    fi
done
done_testing
