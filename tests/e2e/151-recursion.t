#!/bin/bash
# Recursive functions (direct, mutual, and through threads that they create): no time is counted twice.
. "$(dirname "$0")/lib.sh"

cat >recursion.c <<'C'
#include <time.h>
#define NOINLINE __attribute__((noinline))
static void pass(long n) { struct timespec t = {0, n * 1000000}; nanosleep(&t, 0); }
NOINLINE int alone(int n) { pass(1); return n < 1 ? 1 : n * alone(n - 1); }
NOINLINE int ping(int n);
NOINLINE int pong(int n) { pass(1); return n < 1 ? 0 : ping(n - 1); }
NOINLINE int ping(int n) { pass(1); return n < 1 ? 1 : pong(n - 1); }
int main(void) { return alone(6) + ping(7) < 0; }
C
poetcc -profile -ignore=pass -g -O1 recursion.c -o recursion || exit 1
POET_MEASURE=calls=every poet record -o recursion.poet -- ./recursion 2>/dev/null
poet calls --cases --json recursion.poet >cases
different() { # prints the cases with different times, and that there are cases
    json '(rows | select(.thread_ns != .elapsed_ns or (.thread_ns // 0) == 0) |
        "\(.class) \(.thread_ns) \(.elapsed_ns)"), ([rows] | if length > 8 then "rows" else "few rows" end)' cases
}
is 'recursion in one thread: wall-clock time equals thread time in each case' "$(different)" rows
# means RUN: for each function whether its mean is between its minimum and maximum; - if it has none
means() {
    poet calls --graph --json "$1" | json '
        . as $table | "alone", "ping", "pong" | . as $name | $table | first(row($name)) |
        if .mean_ns == null then "-"
        elif .min_ns <= .mean_ns and .mean_ns <= .max_ns then "between"
        else "outside" end | "\($name):\(.)"' | paste -sd' '
}
is 'recursion: the mean of a recursive function is that of its outer calls' "$(means recursion.poet)" 'alone:between ping:between pong:-'

# ---- recursion through threads: time in created threads is part of the total, and also a column of its own ----
cat >threads.c <<'C'
#include <pthread.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
static void pass(long n) { struct timespec t = {0, n * 1000000}; nanosleep(&t, 0); }
NOINLINE void step(int n);
NOINLINE void other(void) { pass(2); }
UNSEEN void *begin(void *n) { step((int)(long)n); other(); return 0; }
NOINLINE void step(int n)
{
    pthread_t t;
    pass(2);
    if (n && !pthread_create(&t, 0, begin, (void *)(long)(n - 1))) pthread_join(t, 0);
}
int main(void) { other(); step(2); return 0; }
C
poetcc -profile -trace -ignore=pass -g -O1 threads.c -o threads || exit 1
POET_MEASURE=calls poet record -o threads.poet -- ./threads 2>/dev/null
poet calls --json threads.poet >sums
poet calls --by thread --json threads.poet >apart
json 'row("step") | .total_ns' apart | sort -n >each # the thread that creates the others took longest
sum() { awk '{ sum += $1 } END { printf "%d", sum }'; }
inner=$(head -2 each | sum)
is 'recursion through threads: three threads call the function' \
    "$(json 'row("step") | .calls' sums) $(wc -l <each)" '3 3'
expect sums <<E
recursion through threads: the total is that of all threads | row("step") | .total_ns => $(sum <each)
recursion through threads: time in created threads is in column nested_ns | row("step") | .nested_ns => $inner
concurrent calls in several threads: no time is in column nested_ns | row("other") | .nested_ns => 0
E
like 'recursion through threads: poet calls prints a note' "$(poet calls threads.poet)" 'on threads that the same function created'
done_testing
