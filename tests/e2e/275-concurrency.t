#!/bin/bash
# poet states --concurrency: how many threads were in each state, by state, by number and over time, and the work, span and
# parallelism of a range: of a run of which every nanosecond is known, and of a program.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
export C_INCLUDE_PATH="$root/tests/e2e" POET_QUIET=1 # asleep.h
mkdir conf
cat >conf/three.conf <<'CONF'
name = "three";
version = 1;
line_types = ( { name = "one"; letter = "P"; title = "one"; color = "#1b4f8f"; } );
events = (
    { name = "begin"; line_types = ["one"]; label = "begins"; shape = "square"; allowed_after_on_line = [""]; },
    { name = "tell"; line_types = ["one"]; label = "tells"; shape = "circle"; relation = "send"; },
    { name = "ask"; line_types = ["one"]; label = "asks"; shape = "circle"; thread_state = "blocked"; wait_class = "rendezvous"; },
    { name = "get"; line_types = ["one"]; label = "gets"; shape = "circle"; relation = "receive"; thread_state = "running"; }
);
CONF
export POET_CONFIG="$work/conf"
start_server -o three.poet -q
check "a client sends three threads with fixed times" python3 "$root/tests/e2e/fixed.py"
until_true finished latest
stop_server

# p0 runs 0-80 ms and is blocked until 125; p1 runs 0-20 and 50-90; p2 runs 0-25 and 90-125.
poet states --concurrency three.poet --json >states.json
expect states.json <<'E'
concurrency: running: 200 ms in 125 ms, by one to three threads | metric("running") | .mean, .min, .max, .any_ns, .total_ns => 1.6 1 3 125000000 200000000
concurrency: blocked: 140 ms, by up to two threads | metric("blocked") | .min, .max, .any_ns, .total_ns => 0 2 105000000 140000000
concurrency: all of it in rendezvous | metric("rendezvous") | .max, .total_ns => 2 140000000
concurrency: no contention | metric("contention") | .max, .any_ns => 0 0
concurrency: off-CPU time is unknown, not 0 | metric("off-CPU (other)") | .total_ns => null
concurrency: classes are below blocked | [inner_rows.metric] | join(" ") => contention rendezvous timeout unattributed
concurrency: work, span and parallelism | total | .work_ns, .span_ns, .critical_path_ns, .parallelism => 200000000 125000000 125000000 1.6
E
like "concurrency: the note has them, too" "$(poet states --concurrency three.poet)" \
    "work 200.000 ms .*, span 125.000 ms .*: parallelism 1.60"
is "concurrency --by level: how long how many threads ran, and were blocked" \
    "$(poet states --concurrency --by level three.poet --json | json 'rows | cells(.threads, .running_ns, .blocked_ns)')" \
    "0 0 20000000
1 70000000 70000000
2 35000000 35000000
3 20000000 0"
poet states --concurrency --by time --parts 5 three.poet --json >times.json
is "concurrency --by time: the mean of each part" "$(json 'rows | cells(.from_ns, .duration_ns, .running, .rendezvous)' times.json)" \
    "0 25000000 2.8 0.2
25000000 25000000 1 2
50000000 25000000 2 1
75000000 25000000 1.2 1.4
100000000 25000000 1 1"
is "concurrency --by time: minimum and maximum in each part" "$(json 'rows | cells(.running_min, .running_max)' times.json)" "2 3
1 1
2 2
1 2
1 1"
poet states --concurrency --from 50ms --to 90ms three.poet --json >part.json
expect part.json <<'E'
concurrency of a range: its work, span and parallelism | total | .work_ns, .span_ns, .parallelism => 70000000 40000000 1.75
concurrency of a range: running | metric("running") | .mean, .min, .max => 1.75 1 2
E
poet states --concurrency --threads p1 three.poet --json >one.json
expect one.json <<'E'
concurrency --threads: of that thread alone | metric("running") | .min, .max, .total_ns => 0 1 60000000
concurrency --threads: its work; a span is that of all threads | total | .work_ns, .span_ns => 60000000 null
E

# ---- charts: the same numbers over time ----
poet states --concurrency --chart curves three.poet >curves
like "chart: up to 3 threads ran" "$(cat curves)" "^running, from 0 threads to [34] threads"
like "chart: what was always 0 is named" "$(cat curves)" "always 0: .*contention"
check "chart as PDF" poet states --concurrency --chart curves three.poet -o curves.pdf
like "chart as PDF: a panel for each state" "$(pdftotext -layout curves.pdf - | tr '\n' ' ')" "running .*rendezvous"
is "an invalid number of parts is refused" "$(poet states --concurrency --parts 0 three.poet 2>&1 >&- | head -n 1)" \
    "poet states: --parts 0: must be a number from 1 to 100000"

# ---- a program: three threads are blocked on a mutex, and two at a barrier, at the same time ----
cat >meets.c <<'END'
#include "asleep.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static struct sleeper sleepers[5];
static void *locks(void *sleeper)
{
    about_to_wait(sleeper);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}
static void *meets(void *sleeper)
{
    about_to_wait(sleeper);
    pthread_barrier_wait(&b);
    return 0;
}
int main(void)
{
    pthread_t threads[5];
    pthread_barrier_init(&b, 0, 3);
    pthread_mutex_lock(&m);
    for (int i = 0; i < 5; i++)
        pthread_create(&threads[i], 0, i < 3 ? locks : meets, &sleepers[i]);
    for (int i = 0; i < 5; i++)
        until_asleep(&sleepers[i], 1);
    pthread_barrier_wait(&b);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], 0);
}
END
check "meets.c compiles" poetcc -trace -g meets.c -o meets
POET_OUTPUT=meets.poet ./meets
until_true finished meets.poet
poet states --concurrency meets.poet --json >meets.json
expect meets.json <<'E'
program: three threads were blocked on the mutex at once | metric("contention") | .max => 3
program: two were blocked at the barrier at once | metric("rendezvous") | .max => 2
program: five in all | metric("blocked") | .max => 5
program: work is at least the span | total | .parallelism >= 1 => true
E
poet states meets.poet --json >plain.json
is "program: the levels have the times of poet states" \
    "$(json 'metric("running", "runnable", "blocked", "off-CPU (other)") | .total_ns // 0' meets.json)" \
    "$(json 'total | .running_ns, .runnable_ns, .blocked_ns, (.other_off_cpu_ns // 0)' plain.json)"
for by in level time; do
    poet states --concurrency --by $by meets.poet --json >$by.json
done
is "program: each number of threads, times how long, adds up" "$(json '[rows | .threads * .running_ns] | add' level.json)" \
    "$(json 'total.work_ns' level.json)"
is "program: the parts of the time add up" "$(json '[rows | .running * .duration_ns] | add | round' time.json)" \
    "$(json 'total.work_ns' time.json)"

# ---- threads that sleep while they hold a lock: the parallelism is marked as an upper bound ----
cat >sleeps.c <<'END'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&m);
        nanosleep(&(struct timespec){0, 2000000}, 0);
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    return pthread_join(thread, 0);
}
END
check "sleeps.c compiles" poetcc -trace -g sleeps.c -o sleeps
POET_OUTPUT=sleeps.poet ./sleeps
until_true finished sleeps.poet
poet states --concurrency sleeps.poet --json >sleeps.json
if [ "$(json 'metric("off-CPU (other)").total_ns > 0' sleeps.json)" = true ]; then
    expect sleeps.json <<'E'
sleeps: the critical path is longer than its running time | total | .critical_path_ns > .span_ns => true
sleeps: the parallelism is at most that | [.[].notes[]? | select(contains("parallelism at most"))] | length => 1
E
else
    skip "off-CPU time is not known here"
fi

# ---- in the viewer ----
cat >script <<'END'
action show-concurrency
state table seen
state curve first
action select-row 4
state curve second
quit
END
timeout 100 poet view three.poet --script script >log 2>&1
is "the tab Concurrency has the rows of the table" "$(tail -n +2 seen | wc -l)" 8
like "it starts with the curve of running threads" "$(cat first)" "^curve running of .*most 3 threads known [1-9]"
like "a selected row shows its curve" "$(cat second)" "^curve rendezvous of .*most 2 threads"
is "the viewer logs no message" "$(grep -c 'CRITICAL\|WARNING' log)" 0
done_testing
