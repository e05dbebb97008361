#!/bin/bash
# Call profiles with vfork and signal handlers: a child of vfork runs in its parent's memory, and its calls count
# as calls of the parent, which is off-CPU meanwhile; a handler may run at the entry or exit of any call and leave
# by longjmp. No time is counted twice.
. "$(dirname "$0")/lib.sh"
measured() { python3 "$root/tests/e2e/regions.py" "$@" 2>program.err >out; } # measured PROGRAM ARGUMENT...
# of PATH COLUMN: 3 calls, 4 ended, 6 real, 7 own, 8 off
of() { awk -v path="$1" -v column="$2" '$2 == path { sum += $column } END { printf "%.0f\n", sum }' out; }
# balanced PATH: whether own + off of all calls below it are its real time (up to a millionth), counted once
balanced() { awk -v path="$1" 'index($2 "/", path "/") == 1 { sum += $7 + $8 } $2 == path { real = $6 }
    END { d = (sum - real) / real; print (d < 1e-6 && d > -1e-6 ? "yes" : sum " of " real) }' out; }

cat >vforks.c <<'C'
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define NI __attribute__((noinline))
__attribute__((no_instrument_function)) static inline double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
NI void turns(double ms) { for (double end = cpu_ms() + ms; cpu_ms() < end;); }
NI void rests(void) { struct timespec t = {0, 10000000}; nanosleep(&t, 0); }
NI void child(char **v) { turns(30); rests(); execv(v[0], v); _exit(1); }
NI int launch(char **v) { pid_t p = vfork(); if (!p) child(v); return p; }
NI void later(void) { rests(); }
int main(void)
{
    char *v[] = {"/bin/true", 0};
    turns(20); /* the parent's clock is ahead of the child's, then behind */
    for (int i = 0; i < 3; i++) { waitpid(launch(v), 0, 0); later(); }
    return 0;
}
C
poetcc -profile -no-pie -O1 vforks.c -o vforks
POET_MEASURE=calls=cpu measured ./vforks
is 'vfork: calls of the child are counted' "$(of /main/launch/child/turns 3) $(of /main/launch/child/rests 3)" '3 3'
is 'vfork: self times of all calls within main add up to its time' "$(balanced /main)" yes
is 'vfork: self times of all calls within the launching function add up to its time' "$(balanced /main/launch)" yes
is 'vfork: the parent is off-CPU while the child runs' \
    "$(awk '$2 ~ /launch/ { own += $7; off += $8 } END { print (off > 3 * own ? "yes" : "ran " own ", did not " off) }' out)" yes
is 'vfork: no mismatched entries and exits' "$(awk '$2 == "numbers" && $3 + $4 + $5 + $6 != 0' out)" ''
poetcc -profile -g vforks.c -o shown
poet record -o shown.poet -- ./shown 2>record.err
until_true finished shown.poet
poet calls shown.poet >calls.out
like 'poet calls: the row of launch has 3 calls' "$(cat calls.out)" '^launch .* 3 '
is 'poet calls: no time lies outside the events of threads' "$(grep -c 'before the first events of threads' calls.out)" 0
# ---- longjmp out of handlers, wherever they interrupted ----
cat >jumps.c <<'C'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#define NI __attribute__((noinline))
static sigjmp_buf out;
static volatile long sink, jumps;
static void handler(int s) { (void)s; jumps++; siglongjmp(out, 1); }
NI void c(void) { sink++; }
NI void b(void) { c(); c(); }
NI void a(void) { b(); b(); }
NI void busy(void)
{
    struct itimerval soon = {{0, 0}, {0, 200}};
    setitimer(ITIMER_REAL, &soon, 0);
    for (;;) a();
}
NI void again(void) { if (!sigsetjmp(out, 1)) busy(); }
__attribute__((no_instrument_function)) static double ms_by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
int main(void)
{
    double ran = -ms_by(CLOCK_THREAD_CPUTIME_ID), passed = -ms_by(CLOCK_MONOTONIC);
    signal(SIGALRM, handler);
    while (jumps < 500) again();
    printf("main ran %.9f\n", (ran + ms_by(CLOCK_THREAD_CPUTIME_ID)) / (passed + ms_by(CLOCK_MONOTONIC)));
    return 0;
}
C
poetcc -profile -no-pie -O1 jumps.c -o jumps
for i in 1 2 3; do
    POET_MEASURE=calls=cpu measured ./jumps
    is "run $i: the number of calls" "$(of /main/again 3) $(of /main/again/handler 3)" "$(of /main/again 4) 0"
    # Times never exceed the elapsed time, and only time of calls that were entered partly is missing: CPU time,
    # as the thread may have been preempted in each of them.
    is "run $i: self times within main add up to its time" "$(awk 'index($2 "/", "/main/") == 1 { sum += $7 + $8; own += $7 }
        $2 == "/main" { real = $6 } $1 == "main" && $2 == "ran" { ran = $3 }
        END { print (sum <= real && ran > 0 && own > real * ran / 2 ? "yes" : own " and " sum - own " of " real ", ran " ran) }' out)" yes
    is "run $i: total times decrease from caller to callee" \
        "$(awk '$2 ~ /busy\/a$/ { a = $6 } $2 ~ /busy\/a\/b$/ { b = $6 } $2 ~ /busy$/ { busy = $6 } $2 == "/main" { main = $6 }
            END { print (b > 0 && b <= a && a <= busy && busy <= main ? "yes" : b " " a " " busy " " main) }' out)" yes
    is "run $i: no call that was left is counted as open" "$(awk 'NF > 10 && $2 != "/" && $11 != 0' out)" ''
    is "run $i: each call has one entry and one exit" "$(awk '$2 ~ /^.main/ && $3 != $4' out)" ''
    is "run $i: no self time exceeds the total time of its function" "$(awk '$2 ~ /^.main/ && $7 + $8 > $6' out)" ''
done
done_testing
