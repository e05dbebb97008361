#!/bin/bash
# Functions that the compiler inlined get their share of the samples, as callers and callees, in tables, trees, flame graphs
# and the viewer; without debug information they count for their callers, and that is said.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >inlined.c <<'C'
#define _GNU_SOURCE
#include <time.h>
#define INLINED static inline __attribute__((always_inline)) void
static volatile unsigned long sink;
static __attribute__((noinline)) double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
INLINED small(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}
INLINED large(int n)
{
    for (int i = 0; i < n; i++)
        sink ^= i;
}
static __attribute__((noinline)) void called(double ms)
{
    for (double end = cpu_ms() + ms; cpu_ms() < end;)
        small(200000);
}
INLINED middle(void)
{
    called(300);
    sink++;
}
static __attribute__((noinline)) void outer(void)
{
    for (double end = cpu_ms() + 200; cpu_ms() < end;)
        small(200000);
    for (double end = cpu_ms() + 600; cpu_ms() < end;)
        large(200000);
    middle();
    sink++;
}
int main(void)
{
    outer();
    nanosleep(&(struct timespec){0, 200000000}, 0);
    return 0;
}
C
gcc -O2 -g inlined.c -o inlined
check "the program ends" timeout 120 poet record -m samples=997 -o inlined.poet -- ./inlined
order_ends inlined.poet
poet calls --json inlined.poet >flat.json
# near FUNCTION COLUMN MS: that time, within three times the error
near() { json "row(\"$1\") | ((.$2 - $3e6) | fabs) < 3 * .error_ns + 10e6" flat.json; }
is "large has its CPU time" "$(near large self_ns 600)" true
is "small has that of both of its callers" "$(near small self_ns 500)" true
is "middle has that of what it called" "$(near middle total_ns 300)" true
is "outer, into which they were inlined, has little of its own" "$(json 'row("outer").self_ns < 30e6' flat.json)" true
is "and all of it in total" "$(near outer total_ns 1100)" true
is "they are marked" "$(json 'rows | select(.flags == "inlined").function' flat.json | sort | paste -sd' ')" "large middle small"
is "samples add up" "$(json 'sum(rows.samples // 0) == total.samples' flat.json)" true

poet calls --tree --json inlined.poet >tree.json
is "callers and callees" "$(json '[.[] | select(.row) | {depth, function: (.row.function | first_word)}] |
    [.[range(0; 6)] | "\(.depth):\(.function)"] | join(" ")' tree.json)" "0:main 1:outer 2:large 2:middle 3:called 4:small"
is "self times of the tree add up to the totals of its roots" \
    "$(json '(sum(rows.self_ns) - ([.[] | select(.row and .depth == 0) | .row.total_ns] | add)) | fabs < 1000' tree.json)" true
check "a flame graph" poet calls --wall --width-of cpu inlined.poet -o flame.svg
like "it has boxes of them" "$(grep -o '>[a-z]*  [0-9.]* ms<' flame.svg | paste -sd' ')" '>large  [0-9.]* ms<'
like "folded stacks" "$(poet calls -f folded inlined.poet)" '^main[^;]*;outer[^;]*;middle;called[^;]*;small [0-9]+$'
is "--top and --sort" "$(poet calls --top 1 --sort total_ns --csv inlined.poet | tail -n +2 | cut -d, -f1 | tr -d '"' | cut -d' ' -f1 | paste -sd' ')" "main"

strip -g inlined -o stripped
timeout 120 poet record -m samples=997 -o stripped.poet -- ./stripped
order_ends stripped.poet
poet calls --json stripped.poet >flat.json
is "without debug information the caller has their time" "$(near outer self_ns 800)" true
like "and that is said" "$(poet calls stripped.poet)" 'note: .* (9[0-9]|100)\.[0-9] % of the CPU time is in code without it'

# ---- in the viewer ----
. "$root/tests/e2e/display.sh"
cat >script <<S
action show-calls
action calls-shape flat
state table flat.tab
action calls-shape wall
state table wall.tab
quit
S
check "the viewer shows them" timeout 100 poet view inlined.poet --script script
like "flat" "$(cat flat.tab)" '^.*large.*inlined'
like "wall clock: boxes of each thread" "$(cat wall.tab)" 'T:main > main.* > outer.* > middle > called'
like "time off the CPU has a box" "$(cat wall.tab)" 'T:main > .off CPU, no traced wait'
done_testing
