#!/bin/bash
# CPU time by each source: switch records, clocks at events, samples, the order alone: totals agree within their error,
# and with the program's own clocks.
. "$(dirname "$0")/lib.sh"

# Each worker runs for 10 ms of its CPU time, twenty times, and sleeps after each; it prints what it ran from its first
# reading to its last. A lock lies between: its events have the clock.
cat >rounds.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void *work(void *which)
{
    pthread_mutex_t *lock = &locks[*(char *)which - 'a'];
    pthread_setname_np(pthread_self(), which);
    for (int i = 0; i < 20; i++) {
        double from = cpu();
        while (cpu() - from < 10)
            ;
        pthread_mutex_lock(lock);
        nanosleep(&(struct timespec){0, 3000000}, 0);
        pthread_mutex_unlock(lock);
    }
    printf("T:%s %f\n", (char *)which, cpu());
    return 0;
}
int main(void)
{
    pthread_t t[2];
    static char names[][2] = {"a", "b"};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
C
check "rounds.c compiles with -trace" poetcc -trace -g rounds.c -o rounds
# table RUN SOURCE: its states by that source, in states.json
table() { poet states "$1" --source "$2" --json >states.json; }
source_of_clock() { json '.[0].columns[3].source' states.json; }
# unfilled: threads with states that do not add up to their lifetime
unfilled() {
    json 'rows
        | sum(.created_ns, .runnable_ns, .running_ns, .blocked_ns, .other_off_cpu_ns, .exited_ns) as $sum
        | select($sum != .lifetime_ns) | "\(.thread): \($sum), not \(.lifetime_ns)"' states.json 2>&1
}
running() { json 'rows | cells(.thread, .running_ns / 1e6)' states.json >running; } # of each thread, in ms
# differing MS: workers with a running time other than their CPU time in said.txt; off by MS, and what a note says, is allowed
differing() {
    running
    noted=$(json '[.[].notes[]?] | join(" ") | capture("(at most|no more than) (?<ms>[0-9.]+) ms").ms' states.json)
    awk -v allowed="$1" -v noted="${noted:-0}" -v from="$(source_of_clock)" '
        FILENAME == "running" { ran[$1] = $2; next }
        {
            off = ran[$1] > $2 ? ran[$1] - $2 : $2 - ran[$1]
            if (off > noted + allowed) print $1 " ran " ran[$1] ", not " $2 " (" from ", off by " noted ")"
        }' running said.txt
}
# lower: workers with a running time of less than their CPU time in said.txt
lower() {
    running
    awk 'FILENAME == "running" { ran[$1] = $2; next } ran[$1] + 0 < $2 { print $1 }' running said.txt
}
for perf in on off; do
    POET_PERF=$perf start_server -o $perf/ -q
    POET_MEASURE=states ./rounds >said.txt
    check "perf $perf: the trace is sound" sound latest
    run=$(ls $perf/rounds-*.poet)
    stop_server
    for source in switches clock samples order; do
        is "perf $perf, $source: states add up to each lifetime" "$(table "$run" $source; unfilled)" ""
    done
    table "$run" clock
    is "perf $perf: source clock is available" "$(source_of_clock)" "thread CPU clock at events"
    is "perf $perf: source clock has the CPU time up to the last event" "$(differing 2)" ""
    check "perf $perf: source clock has every sleep as off-CPU or runnable" \
        test "$(json 'rows | select(.thread == "T:a") | .other_off_cpu_ns + .runnable_ns' states.json)" -ge 60000000
    best=$(poet states "$run" --json | json '.[0].columns[] | select(.name == "running_ns").source')
    if [ $perf = off ] || [ "$best" != "context-switch records" ]; then
        is "perf $perf: without switch records the clock is the default source" "$best" "thread CPU clock at events"
    fi
    # Time that a hypervisor took is between two switches, too.
    is "perf $perf: the default source has the program's CPU time" "$(table "$run" switches; differing 30)" ""
    is "perf $perf: source samples has the program's CPU time" "$(table "$run" samples; differing 10)" ""
    is "perf $perf: source order is an upper bound" "$(table "$run" order; lower)" ""
done
POET_PERF=off start_server -o none/ -q
./rounds >said.txt
check "states off: the trace is sound" sound latest
table "$(ls none/rounds-*.poet)" clock
check "states off: no CPU clock is read" test "$(source_of_clock)" != "thread CPU clock at events"
done_testing
