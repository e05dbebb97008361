#!/bin/bash
# poetcc -profile=loops, poet calls --loops: entries and iterations of loops of all kinds are exactly those that the program
# made, with gcc and clang, optimized or not; by thread, in recursive functions, signal handlers, children and libraries.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >kinds.c <<'C'
#include <stdlib.h>
volatile int sink, limit = 9;
#define FUNCTION __attribute__((noinline))
FUNCTION void nested(int a, int b, int c)
{
    for (int i = 0; i < a; i++) {
        sink++;
        for (int k = 0; k < b; k++) {
            sink++;
            for (int m = 0; m < c; m++)
                sink++;
            sink++;
        }
        sink++;
    }
}
FUNCTION void tight(int a, int b, int c)
{
    for (int i = 0; i < a; i++)
        for (int k = 0; k < b; k++)
            for (int m = 0; m < c; m++)
                sink++;
}
FUNCTION int whiles(int n)
{
    int found = 0;
    while (n) {
        n--;
        if (n % 3 == 0)
            continue;
        sink++;
        if (n == 1)
            break;
        found++;
    }
    return found;
}
FUNCTION void dos(int n)
{
    do {
        if (n & 1)
            sink++;
        sink++;
    } while (--n);
}
FUNCTION void gotos(int n)
{
again:
    sink++;
    if (n-- > 0)
        goto again;
}
FUNCTION void both(int n)
{
    int i = 0;
    while (i < n && sink >= 0) {
        i++;
        sink++;
    }
}
FUNCTION void switches(int n)
{
    for (int i = 0; i < n; i++)
        switch (i % 7) {
        case 0: sink++; break;
        case 1: sink += 2; break;
        case 2: sink += 3; /* falls through */
        case 3: sink += 4; break;
        case 4: continue;
        case 5: sink -= 3; break;
        default: sink--;
        }
}
FUNCTION void endless(void)
{
    int i = 0;
    for (;;) {
        sink++;
        if (++i == limit)
            return;
        sink++;
    }
}
FUNCTION int recursive(int n)
{
    int sum = 1;
    for (int i = 0; i < n; i++) {
        sink++;
        sum += recursive(n - 1 - i);
    }
    return sum;
}
FUNCTION void never(int n)
{
    for (int i = 0; i < n; i++)
        sink++;
}
int main(void)
{
    nested(3, 5, 7);
    nested(2, 4, 6);
    tight(3, 5, 7);
    tight(2, 4, 6);
    whiles(100);
    dos(10);
    gotos(20);
    both(30);
    switches(70);
    endless();
    sink += recursive(5);
    never(0);
    return 0;
}
C
# sums FILE FUNCTION: "entries iterations" of its loops, the outer ones first
sums() { json "[rows | select(.function == \"$2\")] | sort_by(.depth)[] | \"\\(.entries) \\(.iterations)\"" "$1" | tr -d '"' | paste -sd,; }
counted() { # counted COMPILER FLAGS WHILES ENDLESS
    # shellcheck disable=SC2086
    CC=$1 poetcc -profile=loops -g $2 kinds.c -o kinds || { not_ok "$1 $2 compiles"; return; }
    timeout 60 poet record -o kinds.poet -- ./kinds
    order_ends kinds.poet
    poet calls --loops --json kinds.poet >kinds.json
    is "$1 $2: three nested loops" "$(sums kinds.json nested)" "2 5,5 23,23 153"
    is "$1 $2: three nested loops with nothing between them" "$(sums kinds.json tight)" "2 5,5 23,23 153"
    is "$1 $2: while with break and continue" "$(sums kinds.json whiles)" "$3"
    is "$1 $2: do" "$(sums kinds.json dos)" "1 10"
    is "$1 $2: goto" "$(sums kinds.json gotos)" "1 21"
    is "$1 $2: a condition of two parts" "$(sums kinds.json both)" "1 30"
    is "$1 $2: a loop around a switch" "$(sums kinds.json switches)" "1 70"
    is "$1 $2: an endless loop that returns" "$(sums kinds.json endless)" "$4"
    is "$1 $2: a loop that is never entered" "$(sums kinds.json never)" ""
    is "$1 $2: no count is uncertain" "$(json '[rows | .unknown] | add' kinds.json)" 0
    is "$1 $2: the trace is consistent" "$(poet check kinds.poet | sed 's/.*: //')" OK
}
compilers=gcc
command -v clang >/dev/null && compilers="gcc clang"
for compiler in $compilers; do
    counted "$compiler" -O0 "1 99" "1 9"
    is "$compiler -O0: recursion" "$(sums kinds.json recursive)" "32 31"
    # (the first part of the endless loop is before the compiled one; clang makes two loops of one with continue)
    two="1 99"
    [ "$compiler" = gcc ] || two="1 66,66 99"
    counted "$compiler" "-O2 -fno-unroll-loops" "$two" "1 8"
done

cat >parts.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sink, handled;
#define FUNCTION __attribute__((noinline))
static inline __attribute__((always_inline)) void fill(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}
FUNCTION void *work(void *n)
{
    for (long i = 0; i < *(long *)n; i++)
        sink++;
    return NULL;
}
static void handler(int number)
{
    for (volatile int i = 0; i < 3; i++)
        handled += number;
}
FUNCTION void interrupted(void)
{
    for (int i = 0; i < 50; i++)
        raise(SIGUSR1);
}
FUNCTION void child(int n)
{
    for (int i = 0; i < n; i++)
        sink++;
}
FUNCTION void inlining(int n) { fill(n); }
int main(int argc, char **argv)
{
    long n[2] = {1000, 234};
    pthread_t a, b;
    pthread_create(&a, NULL, work, &n[0]);
    pthread_join(a, NULL);
    pthread_create(&b, NULL, work, &n[1]);
    pthread_join(b, NULL);
    signal(SIGUSR1, handler);
    interrupted();
    inlining(40);
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        void (*in_library)(int) = (void (*)(int))dlsym(library, "in_library");
        in_library(12);
        in_library(13);
        dlclose(library);
    }
    for (int i = 0; i < 2; i++)
        if (!fork()) {
            child(17);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
C
cat >library.c <<'C'
volatile int sink;
void in_library(int n)
{
    for (int i = 0; i < n; i++)
        sink++;
}
C
parts() { # parts COMPILER FLAGS
    # shellcheck disable=SC2086
    CC=$1 poetcc -profile=loops -g $2 -fPIC -shared library.c -o library.so &&
        CC=$1 poetcc -profile=loops -g $2 parts.c -o parts || { not_ok "$1 $2 compiles"; return; }
    timeout 60 poet record -o parts.poet -- ./parts ./library.so
    order_ends parts.poet
    poet calls --loops --json parts.poet >parts.json
    is "$1 $2: two threads" "$(sums parts.json work)" "2 1234"
    is "$1 $2: a signal handler" "$(sums parts.json handler)" "50 150"
    is "$1 $2: the loop that it interrupts" "$(sums parts.json interrupted)" "1 50"
    is "$1 $2: two children" "$(sums parts.json child)" "2 34"
    is "$1 $2: a library that is gone" "$(sums parts.json in_library)" "2 25"
    is "$1 $2: no count is uncertain" "$(json '[rows | .unknown] | add' parts.json)" 0
    is "$1 $2: by thread" "$(poet calls --loops --by thread --json parts.poet |
        json '[rows | select(.function == "work") | .iterations] | sort | join(" ")')" "234 1000"
}
for compiler in $compilers; do
    parts "$compiler" -O0
    parts "$compiler" "-O2 -fno-unroll-loops"
    is "$compiler: inlined" "$(sums parts.json "fill, inlined in inlining")" "1 40"
done

# the time in a handler is none of the loop that it interrupts, wherever that is: here mostly in the hook
cat >ticking.c <<'C'
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int handled;
static volatile long steps;
static void handler(int number)
{
    (void)number;
    usleep(1000);
    handled++;
}
static void until(void)
{
    while (handled < 60)
        steps++;
}
int main(void)
{
    struct itimerval tick = {{0, 3000}, {0, 3000}};
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &tick, NULL);
    until();
    return 0;
}
C
poetcc -profile=loops -g -O0 ticking.c -o ticking && timeout 60 poet record -o ticking.poet -- ./ticking
order_ends ticking.poet
function_ns=$(poet calls --json ticking.poet | json 'rows | select(.function | tostring | test("until")) | .total_ns')
is "the time of an interrupted loop is part of that of its function" "$(poet calls --loops --json ticking.poet |
    json "rows | select(.function == \"until\") | .self_ns + .called_ns <= 1.02 * $function_ns and .self_ns > 0")" true
like "no number is impossible" "$(poet calls --json ticking.poet | grep -c 'counters decreased')" '^0$'

# calls that end without returning, and more than the stack of a thread orders
cat >leaving.cc <<'C'
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#define FUNCTION __attribute__((noinline)) static
static volatile int sink, handled;
FUNCTION void thrower(int i)
{
    if (i % 3 == 0)
        throw std::runtime_error("third");
    sink = sink + 1;
}
FUNCTION void catching(int n)
{
    for (int i = 0; i < n; i++) {
        try {
            thrower(i);
        } catch (const std::exception &) {
            sink = sink - 1;
        }
    }
}
static jmp_buf place;
FUNCTION void jumper(int i)
{
    for (int k = 0; k < 2; k++)
        sink = sink + 1;
    if (i % 5 == 0)
        longjmp(place, 1);
}
FUNCTION void jumping(int n)
{
    for (int i = 0; i < n; i++)
        if (!setjmp(place))
            jumper(i);
}
FUNCTION int deep(int n)
{
    for (int i = 0; i < 2; i++)
        sink = sink + 1;
    return n ? deep(n - 1) + 1 : 0;
}
static void handler(int)
{
    for (int i = 0; i < 4; i++)
        handled = handled + 1;
}
FUNCTION void interrupted(int n)
{
    for (int i = 0; i < n; i++)
        raise(SIGUSR1);
}
int main()
{
    catching(100);
    jumping(50);
    deep(20000);
    stack_t stack = {};
    stack.ss_sp = malloc(1 << 16);
    stack.ss_size = 1 << 16;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    interrupted(20);
}
C
for compiler in $compilers; do
    case $compiler in gcc) export CXX=g++ ;; *) export CXX=$compiler++ ;; esac
    poetcc++ -profile=loops -g -O0 leaving.cc -o leaving || { not_ok "$CXX compiles"; continue; }
    timeout 60 poet record -o leaving.poet -- ./leaving
    order_ends leaving.poet
    poet calls --loops --json leaving.poet >leaving.json
    is "$CXX: exceptions" "$(sums leaving.json catching)" "1 100"
    # (gcc has the way back to setjmp as a loop, too)
    is "$CXX: jumps" "$(sums leaving.json jumping | cut -d, -f1) $(sums leaving.json jumper)" "1 50 50 100"
    is "$CXX: deep recursion" "$(sums leaving.json deep)" "20001 40002"
    is "$CXX: a handler on another stack" "$(sums leaving.json handler) $(sums leaving.json interrupted)" "20 80 1 20"
    is "$CXX: no count is uncertain" "$(json '[rows | .unknown] | add' leaving.json)" 0
done
unset CXX
like "as text" "$(poet calls --loops --sort iterations parts.poet | sed -n 3p)" '^work +parts.c:[0-9-]+ +1 +2 +1234 +617.000 '
like "as CSV" "$(poet calls --loops --csv --columns function,iterations parts.poet)" '^work,1234'
is "the functions are measured, too" "$(poet calls --json parts.poet | json 'rows | select(.function | tostring | test("work")) | .calls')" 2
like "a column that is not there" "$(poet calls --loops --sort count parts.poet 2>&1)" 'unknown column'
poetcc -profile -g -O0 kinds.c -o none && poet record -o none.poet -- ./none
order_ends none.poet
like "without -profile=loops" "$(poet calls --loops none.poet)" 'poetcc -profile=loops'
like "an unknown kind" "$(poetcc -profile=loop kinds.c 2>&1)" '-profile=loop: unknown'
done_testing
