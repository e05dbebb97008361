#!/bin/bash
# Which calls are profiled: -ignore matches whole names; calls of a signal handler before the first event of its
# thread or process are counted; durations of single calls that are not known are null.
. "$(dirname "$0")/lib.sh"
measured() { # measured TRACE PROGRAM...: its exit status after the trace is finished
    POET_MEASURE=calls POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"
    local status=$?
    until_true finished "$1" && return $status
}
names() { poet calls "$1" --json | json 'rows | "\(.function | first_word):\(.calls)"' | sort | xargs; }

# ---- -ignore ----
cat >turns.c <<'C'
volatile long turns;
__attribute__((noinline)) static void turn(void) { turns++; }
__attribute__((noinline)) void return_(void) { turns++; }
__attribute__((noinline)) void turn_all(void) { return_(); turn(); }
__attribute__((noinline)) void lonely(void) { turns++; }
int main(void) { turn_all(); turn(); lonely(); return 0; }
C
ignoring() { poetcc -profile "-ignore=$1" -O1 turns.c -o turns && measured turns.poet ./turns && names turns.poet; }
is '-ignore: only the named function is left out, not its callees' "$(ignoring turn_all)" \
    'lonely:1 main:1 return_:1 turn:2'
is '-ignore: functions with names that contain the given one are profiled' "$(ignoring turn)" 'lonely:1 main:1 return_:1 turn_all:1'
is '-ignore: several names, with wildcards' "$(ignoring '*turn_*,lonely')" 'main:1 turn:2'
poetcc -profile -ignore=lonely -O1 -c turns.c -o turns.o
is '-ignore of a name that matches exactly: the compiler leaves the function out' "$(readelf -n turns.o | grep -c Poet)" 0
cat >scopes.cpp <<'C'
volatile long n;
namespace in { __attribute__((noinline)) void f() { n++; } }
__attribute__((noinline)) void f() { n++; }
int main() { in::f(); f(); }
C
poetcc++ -profile -ignore=f -O1 scopes.cpp -o scopes
measured scopes.poet ./scopes
is '-ignore in C++: the scope is part of the name' "$(names scopes.poet)" 'in::f:1 main:1'
like '-ignore: a slash in a pattern is an error' \
    "$(poetcc -profile '-ignore=s*/' -c turns.c 2>&1)" 's\*/: invalid; expected a function name'

# ---- a signal before the first event of a thread or process ----
cat >early.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static _Atomic int handled;
__attribute__((noinline)) void counts(void) { handled++; }
static void on(int s) { (void)s; counts(); }
/* (Calls of a handler after the end of its thread are not counted.) */
static void *waits(void *before)
{
    while (handled == (int)(long)before)
        sched_yield();
    return before;
}
int main(void)
{
    signal(SIGUSR1, on);
    for (long i = 0; i < 10; i++) {
        pthread_t t;
        pthread_create(&t, NULL, waits, (void *)i);
        pthread_kill(t, SIGUSR1);
        pthread_join(t, NULL);
    }
    int all = handled;
    for (int i = 0; i < 5; i++) {
        handled = 0;
        pid_t child = fork();
        while (!child && !handled)
            ;
        if (!child)
            _exit(0);
        kill(child, SIGUSR1);
        waitpid(child, NULL, 0);
    }
    printf("%d\n", all + 5);
    return 0;
}
C
poetcc -profile -O1 early.c -o early
is 'early signals: the program with forked children exits with status 0' \
    "$(measured early.poet timeout 60 ./early >told; echo $?)" 0
is 'early signals: each call of a handler is counted' \
    "$(names early.poet | tr ' ' '\n' | sed -n 's/^counts://p')" "$(cat told)"
poet states --tasks --json early.poet >tasks.json
begun=$(sed -n '1s/.*"start_ns":\([0-9]*\).*/\1/p' tasks.json)
created() { # times of day that differ from the start of the run and the time since then; the number of tasks
    local tasks=0 since clock ns at
    while read -r since clock; do
        tasks=$((tasks + 1))
        ns=$((begun + since))
        at=$(date -u -d "@$((ns / 1000000000))" +%H:%M:%S).$(printf %03d $((ns / 1000000 % 1000)))
        [ "$at" = "$clock" ] || printf '%s is not %s ' "$at" "$clock"
    done < <(json 'rows | "\(.created_at_ns) \(.clock)"' tasks.json)
    echo $tasks
}
is 'poet states --tasks: times of day of creation' "$(created)" 16
check 'early signals: the trace passes poet check' sound early.poet

# ---- a coroutine: its call runs in several parts ----
cat >stretches.c <<'C'
#include <ucontext.h>
static ucontext_t body_at, main_at;
static char stack[262144];
static volatile long n;
__attribute__((noinline)) static void body(void)
{
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 100000; k++)
            n++;
        swapcontext(&body_at, &main_at);
    }
}
__attribute__((noinline)) static void drive(void) { swapcontext(&main_at, &body_at); }
int main(void)
{
    getcontext(&body_at);
    body_at.uc_stack.ss_sp = stack;
    body_at.uc_stack.ss_size = sizeof stack;
    body_at.uc_link = &main_at;
    makecontext(&body_at, body, 0);
    for (int i = 0; i < 6; i++)
        drive();
    return 0;
}
C
poetcc -profile -O1 stretches.c -o stretches
measured stretches.poet ./stretches
is 'coroutine: a call that runs in several intervals lasts for all of them' \
    "$(poet calls --json stretches.poet | json 'row("body", "drive") | [(.function | first_word), .calls,
        if .function | startswith("body") then .max_ns == .total_ns and .min_ns == .max_ns and .mean_ns == .max_ns
        else .max_ns < .total_ns and .mean_ns <= .max_ns end] | join(" ")' | sort | xargs)" \
    'body 1 true drive 6 true'
done_testing
