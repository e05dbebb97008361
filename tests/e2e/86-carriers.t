#!/bin/bash
# Tasks of a runtime on its worker threads: how long each task ran on which of them, to the nanosecond,
# against an independent reader of the trace file (carriers.py); and threads on CPUs.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
# rows FILE BY: line, place and time of each thread at each place, from the JSON of `poet states --by`
rows() {
    poet states "$1" --by "$2" --json |
        json '.[] | select(.depth > 0 and .row.running_ns > 0) |
            "\(.lines[0]) \(.row.processor // "") \(.row.running_ns)"' | sort -k1n -k2
}
# sums FILE BY: the running time of each thread, over all places; from the states
sums() { rows "$1" "$2" | awk '{ n[$1] += $NF } END { for (i in n) print i, n[i] }' | sort -n; }
running() {
    poet states "$1" --json | json '.[] | select(.row.running_ns > 0) | "\(.lines[0]) \(.row.running_ns)"' | sort -n
}
# migrations: from the intervals of states, how often a task runs on another worker than before
migrations() {
    json '[.[] | select(.row.state == "running")] | group_by(.lines[0]) |
        [.[] | [.[].row.worker] as $workers | range(1; $workers | length) |
            select($workers[. - 1] != null and $workers[. - 1] != $workers[.])] | length'
}
# agrees NAME FILE BY
agrees() {
    poet states "$2" --list --source order --json >order.json
    poet waits "$2" --by wait --json >waits.json
    python3 "$root/tests/e2e/carriers.py" "$2" "$3" order.json waits.json | sort -k1n -k2 >want 2>&1
    rows "$2" "$3" >got
    check "$1: states --by $3 agrees with the file" cmp got want
    is "$1: states --by $3 adds up to each task's running time" "$(sums "$2" "$3")" "$(running "$2")"
}
finished() { poet check "$1" >/dev/null 2>&1; }

# ---- the runtime of examples/ucpp, on several worker threads ----
for program in semaphores accepting fibonacci waiting; do
    poetcc -trace -g -I"$root/examples/ucpp" "$root/examples/ucpp/$program.c" "$root/examples/ucpp/ucpp.c" -o $program || exit 1
    UCPP_PROCESSORS=2 UCPP_CLUSTERS=2 UCPP_SEED=7 UCPP_SCHEDULE=random POET_OUTPUT=$program.poet timeout 60 ./$program
    is "$program: exits with 0" $? 0
    until_true finished $program.poet
    check "$program: the trace is sound" poet check $program.poet
    agrees $program $program.poet processor
    agrees $program $program.poet cluster
done
is 'states --by processor has the clusters' "$(poet states fibonacci.poet --by processor --json | grep -o '"processor":"P[01]","thread":[^,]*,"cluster":"c[01]"' |
    sed 's/"thread":[^,]*,//' | sort -u | xargs)" 'processor:P0,cluster:c0 processor:P1,cluster:c1'
is 'states --list: a migration is one row after another' "$(poet states fibonacci.poet --list --json | migrations)" \
    "$(poet states fibonacci.poet --by processor --json | tail -n 1 | sed 's/.*"migrations":\([0-9]*\).*/\1/')"
like 'states --list has the worker thread and its cluster' "$(poet states fibonacci.poet --list --threads 1 | head -n 4)" 'P[01] of cluster c[01]'

# ---- requests that are granted at once ----
cat >alone.c <<'C'
#include "ucpp.h"
static struct object box;
static void work(void *p)
{
    (void)p;
    for (int i = 0; i < 20; i++)
        leave(&box, enter(&box, 1));
}
void uc_main(void)
{
    struct object tasks[2];
    monitor_make(&box, "box");
    for (int i = 0; i < 2; i++)
        task_make(&tasks[i], "worker", work, 0);
    for (int i = 0; i < 2; i++)
        object_delete(&tasks[i]);
    object_delete(&box);
}
C
poetcc -trace -g -I"$root/examples/ucpp" alone.c "$root/examples/ucpp/ucpp.c" -o alone
POET_OUTPUT=alone.poet ./alone
until_true finished alone.poet
is "tasks that find a monitor free are not blocked: each runs once" \
    "$(poet states alone.poet --by state --json | json '[rows | select(.thread | startswith("T:worker")) | "\(.state) \(.count)"] | join(", ")')" \
    "created 1, running 1, exited 1, created 1, running 1, exited 1"
is "nor are they by the order alone: their requests were granted at once" \
    "$(poet states alone.poet --source order --by state --json | json '[rows | select(.thread | startswith("T:worker")) | "\(.state) \(.count)"] | join(", ")')" \
    "created 1, running 1, exited 1, created 1, running 1, exited 1"

# ---- tasks that are on two threads at once ----
cat >pool.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
POET_RUNTIME("ucpp");
#define TASKS 6
#define CARRIERS 3
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static poet_line_t tasks[TASKS];
static int queue[TASKS], count, slices[TASKS], ended, most;
static volatile double sink;
static int next(int done) /* -1: none is left */
{
    int got = -1;
    pthread_mutex_lock(&lock);
    if (done >= 0 && ++slices[done] < most)
        queue[count++] = done;
    else if (done >= 0)
        ended++;
    if (count) {
        got = queue[0];
        count--;
        for (int i = 0; i < count; i++) queue[i] = queue[i + 1];
    }
    pthread_mutex_unlock(&lock);
    return got;
}
static void *carry(void *p)
{
    char name[16];
    snprintf(name, sizeof name, "C%d", (int)((char *)p - (char *)0));
    poet_worker_thread(name, "pool");
    int k = next(-1); /* each thread has one */
    pthread_barrier_wait(&all);
    for (;; k = next(k)) {
        if (k < 0) {
            if (ended == TASKS) return p;
            usleep(100);
            continue;
        }
        poet_task_switch(tasks[k]);
        if (slices[k] % 10 == 0)
            poet_event(0, poet_type("signal", 0), 0, 0);
        for (int i = 0; i < 200; i++) sink += i;
        poet_task_switch(0); /* before another thread may have it */
    }
}
int main(int argc, char **argv)
{
    pthread_t t[CARRIERS];
    most = atoi(argv[1]);
    for (int i = 0; i < TASKS; i++) {
        tasks[i] = poet_task("task", "t", 0);
        poet_task_switch(tasks[i]);
        poet_event(tasks[i], poet_type("create", 0), 0, 0);
        poet_event(tasks[i], poet_type("start", 0), 0, 0);
        poet_task_switch(tasks[0]); /* which creates the others, so that lines are numbered in its order */
        queue[count++] = i;
    }
    poet_task_switch(0);
    pthread_barrier_init(&all, 0, CARRIERS);
    for (long i = 0; i < CARRIERS; i++) pthread_create(&t[i], 0, carry, (char *)0 + i + 1);
    for (int i = 0; i < CARRIERS; i++) pthread_join(t[i], 0);
    if (argc > 2) { /* while a task is on it */
        poet_task_switch(tasks[0]);
        poet_event(0, poet_type("signal", 0), 0, 0);
        for (int i = 0; i < 100000; i++) sink += i;
        poet_event(0, poet_type("signal", 0), 0, 0);
        raise(SIGKILL);
    }
    for (int i = 0; i < TASKS; i++) {
        poet_task_switch(tasks[i]);
        poet_event(0, poet_type("end", 0), 0, 0);
        poet_event(tasks[i], poet_type("delete", 0), 0, POET_CLOSES);
        poet_task_release(tasks[i]);
    }
    return 0;
}
C
poetcc -trace -O1 pool.c -o pool || exit 1
POET_OUTPUT=pool.poet ./pool 1000
until_true finished pool.poet
check 'pool: poet check finds one task per thread and one thread per task' poet check pool.poet
agrees pool pool.poet cluster
poet states pool.poet --by processor --json | grep -q '"C3"'
is 'pool: all worker threads had tasks, by their names' "$(poet states pool.poet --by processor --json | grep -o '"C[0-9]"' | sort -u | xargs)" 'C1 C2 C3'
POET_OUTPUT=killed.poet ./pool 50 killed 2>/dev/null
until_true finished killed.poet
agrees killed killed.poet cluster
is 'killed: the last placement of a task is known' "$(poet states killed.poet --list --json --threads 1 | tail -n 2 | grep -o '"worker":[^,}]*')" \
    '"worker":"worker 1"'
# Through a saved state of the file, and read again from it.
start_server -o again/ -q
./pool 200
until_true sh -c 'poet check again/*.poet'
kill "$server"
wait "$server" 2>/dev/null
file=$(ls again/*.poet)
check 'recorded by a server: poet check accepts the trace' poet check "$file"
agrees 'recorded by a server' "$file" cluster

# Read again from what is stored beside the journal.
UCPP_RUNS=100 UCPP_PROCESSORS=2 UCPP_SEED=3 POET_OUTPUT=many.poet ./accepting
until_true finished many.poet
check 'many runs of a program in one trace: poet check accepts it' poet check many.poet
is 'many runs of a program in one trace: placements add up' "$(sums many.poet processor)" "$(running many.poet)"
is 'many runs of a program in one trace: no placement is unknown' "$(rows many.poet processor | grep -c unknown)" 0

# ---- programs without worker threads ----
cat >threads.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile double sink;
static void *body(void *p)
{
    for (int k = 0; k < 20; k++) {
        pthread_mutex_lock(&m);
        for (int i = 0; i < 20000; i++) sink += i;
        pthread_mutex_unlock(&m);
        usleep(200);
    }
    return p;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, body, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g threads.c -o threads
POET_PERF=off POET_OUTPUT=off.poet ./threads
until_true finished off.poet
is 'states --by processor without a runtime gives a note' "$(poet states off.poet --by processor 2>&1 | grep -c 'no task placement data')" 1
is 'states --by cpu without switch records gives the reason' "$(poet states off.poet --by cpu 2>&1 | grep -c 'the CPU on which a thread ran was not recorded.*POET_PERF=off')" 1
POET_OUTPUT=on.poet ./threads
until_true finished on.poet
if poet states on.poet 2>/dev/null | grep -q 'exact, from kernel context-switch'; then
    is 'states --by cpu adds up to the running time' "$(sums on.poet cpu)" "$(running on.poet)"
    is 'states --by cpu has existing CPUs only' "$(rows on.poet cpu | awk '$2 != "cpu" && $2 != "unknown" || ($2 == "cpu" && $3 >= '"$(nproc --all)"')')" ''
    check 'states --by cpu: poet check accepts the trace' poet check on.poet
else
    skip 'the kernel provides no context-switch records here'
fi
is 'states --by: an unknown grouping is refused' "$(poet states off.poet --by socket 2>&1 | grep -c socket)" 1
done_testing
