#!/bin/bash
# Which calls are measured: names that are left out are whole names; what a handler calls before its
# thread or process has begun is counted where it is called; what is not known of single calls is not said.
. "$(dirname "$0")/lib.sh"
measured() { # measured TRACE PROGRAM...: its exit status, once the trace is finished
    POET_MEASURE=calls POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"
    local status=$?
    until_true finished "$1" && return $status
}
names() { poet calls "$1" --json | perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next;
    my $s = $r->{function}; $s =~ s/ .*//; print "$s:$r->{calls}\n"' | sort | xargs; }

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
is 'a function is left out by its whole name, and what it calls is not' "$(ignoring turn_all)" \
    'lonely:1 main:1 return_:1 turn:2'
is 'not others that have it in theirs' "$(ignoring turn)" 'lonely:1 main:1 return_:1 turn_all:1'
is 'several, where * stands for letters' "$(ignoring '*turn_*,lonely')" 'main:1 turn:2'
poetcc -profile -ignore=lonely -O1 -c turns.c -o turns.o
is 'what no other name has in it the compiler leaves out' "$(readelf -n turns.o | grep -c Poet)" 0
cat >scopes.cpp <<'C'
volatile long n;
namespace in { __attribute__((noinline)) void f() { n++; } }
__attribute__((noinline)) void f() { n++; }
int main() { in::f(); f(); }
C
poetcc++ -profile -ignore=f -O1 scopes.cpp -o scopes
measured scopes.poet ./scopes
is 'in C++ the scope belongs to the name' "$(names scopes.poet)" 'in::f:1 main:1'
like 'what is neither a function nor a part of a file is refused' \
    "$(poetcc -profile '-ignore=s*/' -c turns.c 2>&1)" 's\*/: one name of a function'

# ---- a signal that comes before a thread's or a process' first event ----
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
/* (What a handler calls once its thread has ended is not counted.) */
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
is 'a child of fork that a signal comes to at once ends as ever' \
    "$(measured early.poet timeout 60 ./early >told; echo $?)" 0
is 'and each call of a handler is counted, by the first event or after it' \
    "$(names early.poet | tr ' ' '\n' | sed -n 's/^counts://p')" "$(cat told)"
is 'tasks are listed with the time of day at which each was created' \
    "$(poet states --tasks --json early.poet | perl -MJSON::PP -MPOSIX -ne 'my $o = decode_json($_); $begun = $o->{start_ns} // $begun;
    use integer; my $r = $o->{row} or next; my $ns = $begun + $r->{created_at_ns}; $n++;
    my $at = sprintf "%s.%03d", strftime("%H:%M:%S", gmtime($ns / 1000000000)), $ns / 1000000 % 1000; print "$at is not $r->{clock} " if $at ne $r->{clock};
    END { print $n }')" 16
check 'no process wrote in the name of another' sound early.poet

# ---- a call that goes on in stretches ----
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
is 'what one stretch took is not said to be what a call took' \
    "$(poet calls --json stretches.poet | perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next; $r->{function} =~ /^(body|drive)/ or next;
    print "$1 $r->{calls} ", defined $r->{max_ns} ? "most" : "-", " ", defined $r->{mean_ns} ? "mean" : "-", "\n"' | sort | xargs)" \
    'body 1 - mean drive 6 most mean'
done_testing
