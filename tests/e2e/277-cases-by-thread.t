#!/bin/bash
# poet calls --cases: S-S, S-C, C-S and C-C by number and time, of each thread and each CPU; of threads that a barrier releases
# together each counts, and calls that begin while another thread runs in the same function are counted.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
# The threads begin without a function of their own. None leaves `inside` before all are in it, so that the first one
# that a barrier releases has none beside it but those that it was released with.
cat >cases.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#define NOINLINE __attribute__((noinline))
#define UNSEEN __attribute__((noinline, no_instrument_function))
static volatile long n;
static atomic_int in;
static pthread_barrier_t barrier;
NOINLINE void leaf(void) { n++; }
NOINLINE void inside(void)
{
    in++;
    while (in < 4)
        sched_yield();
    leaf();
}
static UNSEEN void *body(void *p)
{
    pthread_barrier_wait(&barrier);
    inside();
    return p;
}
NOINLINE void before(void) { n++; }
NOINLINE void outer(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 10; i++)
        before();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, body, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    before();
}
int main(void)
{
    pthread_barrier_init(&barrier, 0, 4);
    outer();
    return 0;
}
C
check "cases.c compiles" poetcc -profile -g -O1 cases.c -o cases
POET_MEASURE=calls=every POET_OUTPUT=cases.poet ./cases
until_true finished cases.poet
poet calls --cases --json cases.poet >cases.json
# states FUNCTION: its calls in state S, and C; arcs CALLER: its callees, with class and calls
states() { json '[outer_rows | select(.function | first_word == "'"$1"'") | "\(.class)\(.calls)"] | sort | join(" ")' cases.json; }
arcs() {
    json 'foreach .[] as $l (""; if $l.depth == 0 then $l.row.function | first_word else . end;
        if . == "'"$1"'" and $l.depth == 2 then "\($l.row.function | first_word) \($l.row.class) \($l.row.calls)" else empty end)' cases.json | sort
}
is "before the threads, and after them, calls are sequential" "$(states before)" S11
is "each call after the barrier is concurrent" "$(states inside)" C4
is "S-S: what the sequential caller called itself; S-C: what it divided among threads" "$(arcs outer)" "before S-S 11
inside S-C 4"
is "C-S: what the concurrent callers called themselves" "$(arcs inside)" "leaf C-S 4"
expect cases.json <<'E'
three calls began while another thread ran in the same function | outer_rows | select(.function | first_word == "inside") | .same_function => 3
a sequential call has none beside it | outer_rows | select(.function | first_word == "before") | .same_function => 0
the time of the threads is at least the elapsed time | [outer_rows | .thread_ns >= .elapsed_ns] | all => true
the parallelism is the ratio of both | [outer_rows | select(.elapsed_ns > 0) | (.parallelism * .elapsed_ns - .thread_ns | fabs) < 1] | all => true
E

# ---- by thread, and by CPU: the numbers and the times of threads add up ----
# sums FILE: each function and class with its calls and the time of its threads, over all threads or CPUs
sums() {
    json '[.[] | select(.depth == 1).row] | group_by([(.function | first_word), .class])[] |
        cells((.[0].function | first_word), .[0].class, ([.[].calls] | add), ([.[].thread_ns] | add))' "$1"
}
json '[outer_rows] | sort_by([(.function | first_word), .class])[] | cells((.function | first_word), .class, .calls, .thread_ns)' cases.json >all.txt
poet calls --cases --by thread --json cases.poet >thread.json
is "--by thread: a row for each thread with calls" "$(json '[outer_rows] | length' thread.json)" 5
is "--by thread: of each of the four a call" \
    "$(json '[.[] | select(.depth == 1).row | select(.function | first_word == "inside") | "\(.class)\(.calls)"] | join(" ")' thread.json)" "C1 C1 C1 C1"
is "--by thread: the threads add up to the whole" "$(sums thread.json)" "$(cat all.txt)"
is "--by function is the default" "$(poet calls --cases --by function --json cases.poet)" "$(cat cases.json)"
if poet calls --cases --by cpu --json cases.poet >cpu.json 2>cpu.log; then
    is "--by cpu: the CPUs have all calls" "$(sums cpu.json | cut -d' ' -f 1-3)" "$(cut -d' ' -f 1-3 all.txt)"
    like "--by cpu: a note says where a call counts" "$(tail -n 1 cpu.json)" "calls are in the cpu where they began"
else
    like "--by cpu: without context-switch records the reason is given" "$(cat cpu.log)" "^poet calls: .*(switch|placement|CPU)"
fi
like "--by with another word is refused" "$(poet calls --cases --by color cases.poet 2>&1)" 'no table by "color"; use function, thread'
done_testing
