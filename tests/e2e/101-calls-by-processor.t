#!/bin/bash
# poet calls --by processor, cluster and cpu: a task that migrates between two worker threads calls a different
# function on each, so the expected rows are known; where the placement was not recorded, an error explains it.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >moves.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
POET_RUNTIME("ucpp");
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static poet_line_t task;
static int turn;
static volatile double sink;
__attribute__((noinline)) void spin(void) { for (int i = 0; i < 500; i++) sink += i; }
__attribute__((noinline)) void on_first(void) { spin(); }
__attribute__((noinline)) void on_second(void) { spin(); spin(); }
__attribute__((no_instrument_function)) static void *carry(void *p)
{
    long me = (char *)p - (char *)0;
    poet_worker_thread(me ? "second" : "first", me ? "right" : "left");
    for (int k = 0; k < 30; k++) {
        pthread_mutex_lock(&lock);
        while (turn != me) pthread_cond_wait(&passed, &lock);
        pthread_mutex_unlock(&lock);
        poet_task_switch(task);
        if (k == 0 && !me) poet_event(task, poet_type("start", 0), 0, 0);
        me ? on_second() : on_first();
        poet_event(0, poet_type("note", 0), 0, 0);
        if (k == 29 && me) {
            poet_event(0, poet_type("end", 0), 0, 0);
            poet_event(task, poet_type("delete", 0), 0, POET_CLOSES);
            poet_task_release(task);
        }
        poet_task_switch(0);
        pthread_mutex_lock(&lock);
        turn = !me;
        pthread_cond_broadcast(&passed);
        pthread_mutex_unlock(&lock);
    }
    return p;
}
__attribute__((no_instrument_function)) int main(void)
{
    pthread_t t[2];
    task = poet_task("task", "mover", 0);
    poet_task_switch(task);
    poet_event(task, poet_type("create", 0), 0, 0);
    poet_task_switch(0);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, carry, (char *)0 + i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -profile -g -O1 moves.c -o moves || exit 1
POET_MEASURE=calls=every POET_OUTPUT=moves.poet ./moves
until_true finished moves.poet
# calls_by FILE BY: prints processor, function and number of calls of each row
calls_by() {
    poet calls "$1" --by "$2" --json | json 'inner_rows | select(.function | test("^(spin|on_)"))
        | cells(.processor, (.function | first_word), .calls_n)' | sort
}
is 'calls --by processor: calls of each function on each processor' "$(calls_by moves.poet processor)" "first on_first 30
first spin 30
second on_second 30
second spin 60"
is 'calls --by cluster: calls of each function in each cluster' "$(calls_by moves.poet cluster)" "left on_first 30
left spin 30
right on_second 30
right spin 60"
poet calls moves.poet --by processor --json >by.json
is 'calls --by processor: self times of functions add up to those of their processor' "$(json '. as $lines | outer_rows
    | .processor as $processor | ($lines | sum(inner_rows | select(.processor == $processor).self_ns)) as $sum
    | select(.self_ns != $sum) | "\($processor) \($sum) \(.self_ns)"' by.json 2>&1)" ''
# The self time of a function is never more than the time between its entries and exits.
poet calls moves.poet --every --json >flow.json
json 'rows | select(.kind == "exit") | cells((.function | first_word), .duration_ns)' flow.json >took
json 'inner_rows | cells((.function | first_word), .self_ns)' by.json >self
is 'calls --by processor: the self time of a function does not exceed its entry-to-exit times' "$(awk '
    FILENAME == "took" { took[$1] += $2; next }
    { self[$1] += $2 }
    END {
        for (f in self)
            if (f ~ /^spin/ && self[f] != took[f] || f ~ /^on_/ && self[f] > took[f]) print f, self[f], took[f]
    }' took self)" ''
check 'calls --by processor: self times are not all 0' grep -q '"self_ns":[1-9]' by.json
is 'calls --by processor with a range: only calls inside the range are listed' "$(poet calls moves.poet --by processor --from 0s --to 1ns --json | grep -c '"spin')" 0

# ---- placement that was not recorded ----
POET_OUTPUT=sums.poet ./moves
until_true finished sums.poet
is 'calls --by processor of a trace with call sums only: the error names POET_MEASURE=calls=every' "$(poet calls sums.poet --by processor 2>&1 | grep -c 'without times.*POET_MEASURE=calls=every')" 1
POET_PERF=off POET_MEASURE=calls=every POET_OUTPUT=off.poet ./moves
until_true finished off.poet
is 'calls --by cpu without perf: the error says that CPUs were not recorded' "$(poet calls off.poet --by cpu 2>&1 | grep -c 'the CPU on which a thread ran was not recorded')" 1
is 'calls --by with --graph: the two options exclude each other' "$(poet calls moves.poet --by processor --graph 2>&1 | grep -c 'not supported with these options')" 1
# ---- calls before the first and after the last event of a task ----
poetcc -trace -profile -g -O1 -I"$root/examples/ucpp" "$root/examples/ucpp/fibonacci.c" "$root/examples/ucpp/ucpp.c" -o fibonacci || exit 1
POET_OUTPUT=fibonacci.poet ./fibonacci >/dev/null
until_true finished fibonacci.poet
is "calls: self times plus unaccounted time are equal to the lifetime" "$(poet calls fibonacci.poet --json | json '
    sum(outer_rows.self_ns) as $sum | total
    | .unaccounted_ns >= 0 and $sum == .self_ns and $sum + .unaccounted_ns == .lifetime_ns
    | if . then "whole" else "not" end')" whole
like "calls: time outside the events of threads is reported" "$(poet calls fibonacci.poet)" "are before the first or after the last events of threads"

done_testing
