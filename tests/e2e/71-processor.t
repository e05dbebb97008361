#!/bin/bash
# CPU time: running, runnable and off-CPU states by each source, in tables, lists and charts, and for ranges.
. "$(dirname "$0")/lib.sh"
status() { "$@" >/dev/null 2>&1; echo $?; }
start_server -o traces/ -q

# Two threads spin on one CPU for SPIN ms of CPU time each, others sleep there 100 times for 1 ms; the kernel's figures of the
# spinners at their ends are printed, and the time from then until they were joined; of the others, how often they slept.
cat >shared.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifndef SPIN
#define SPIN 200
#endif
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static char said[2][199];
static double said_at[2];
static void *spin(void *name)
{
    char path[99], text[99] = "";
    pthread_setname_np(pthread_self(), name);
    while (cpu() < SPIN)
        ;
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
    FILE *f = fopen(path, "r");
    if (f && fgets(text, sizeof text, f))
        snprintf(said[*(char *)name == 't'], sizeof said[0], "%s %.*s", (char *)name, (int)strcspn(text, "\n"), text);
    said_at[*(char *)name == 't'] = now();
    return 0;
}
static void *nap(void *name)
{
    struct rusage used;
    pthread_setname_np(pthread_self(), name);
    for (int i = 0; i < 100; i++)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 1000000}, 0);
    getrusage(RUSAGE_THREAD, &used);
    return (void *)used.ru_nvcsw;
}
int main(int argc, char **argv)
{
    static char *const names[] = {"one", "two", "naps", "naps2", "naps3"};
    pthread_t t[5];
    cpu_set_t set;
    int threads = argc > 1 ? 2 : 5;
    (void)argv;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = CPU_SETSIZE - 1, kept = 0; i >= 0; i--)
        if (CPU_ISSET(i, &set) && kept++)
            CPU_CLR(i, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], 0, i < 2 ? spin : nap, names[i]);
    for (int i = 0; i < threads; i++) {
        void *slept;
        pthread_join(t[i], &slept);
        if (i < 2)
            printf("%s %f\n", said[i], now() - said_at[i]);
        else
            fprintf(stderr, "%s %ld\n", names[i], (long)slept);
    }
}
C
check "shared.c compiles with -trace" poetcc -trace -g shared.c -o shared
./shared >said.txt 2>slept.txt
check "shared: the trace is sound" sound latest
run=$(ls traces/shared-*.poet)

# ---- tables ----
# unfilled FILE: threads with states that do not add up to their lifetime
unfilled() {
    json 'rows | (.created_ns + .runnable_ns + .running_ns + .blocked_ns + .other_off_cpu_ns + .exited_ns) as $sum |
        select($sum != .lifetime_ns) | "\(.thread): \($sum), not \(.lifetime_ns)"' "$1" 2>&1
}
# as_said FILE MS: do the spinners have their own figures? Some of the run delay was before they started, and after they
# printed it there may be more until they were joined.
as_said() {
    local thread ran delay more
    while read -r thread ran delay _ more; do
        json "($ran / 1e6) as \$ran | ($delay / 1e6) as \$delay | $more as \$more | ($2) as \$off |
            first(of_thread(\"T:$thread\"), {}) |"'
            (.running_ns / 1e6) as $runs | (.runnable_ns / 1e6) as $ready | (.created_ns / 1e6) as $start |
            if $runs - $ran | fabs > $off then "\(.thread) ran \($runs), not \($ran)" else empty end,
            if $ready < $delay - $start - $off or $ready > $delay + $more + $off
            then "\(.thread) was ready \($ready), not \($delay)" else empty end' "$1" 2>&1
    done <said.txt
}
apart() { grep -o 'at most [0-9.]* ms apart' "$1" | cut -d' ' -f3; }
# holds CONDITION FILE
holds() { [ "$(json "$1" "$2")" = true ]; }
is "both spinners printed their figures" "$(wc -l <said.txt)" 2
poet states "$run" --json >best.json
is "states add up to each lifetime" "$(unfilled best.json)" ""
if grep -q 'perf_event_open. is not available' best.json; then
    echo "# no switch records here: $(grep -o 'not available: [^"]*' best.json)"
else
    like "the best source is context-switch records" "$(json '.[0].columns[3].source' best.json)" "^context-switch records"
    # What a thread does after it has printed its figures, and its first moments, are not in both.
    # Time that a hypervisor or an interrupt took from the CPU is between two switches, too.
    is "switch records: running is CPU time, runnable is run delay" "$(as_said best.json 20)" ""
    poet states "$run" --list --json >spells.json
    # A thread that is preempted as it goes to sleep may be woken before it sleeps: then the kernel counts one less, too.
    while read -r thread slept; do
        is "$thread was off-CPU as often as the kernel says that it slept" "$(json '
            [of_thread("T:'"$thread"'") | select(.state | startswith("off-CPU"))] | length |
            within('"$slept; $slept"' + 2)' spells.json)" within
        is "$thread slept for 100 ms, but for what it ran" "$(json '
            [of_thread("T:'"$thread"'")] | (map(select(.state | test("^(off-CPU|runnable)")).duration_ns) | add) as $off |
            (map(select(.state == "running").duration_ns) | add) as $ran | $off + $ran >= 1e8 and $off >= 9e7' spells.json)" true
    done <slept.txt
    is "all three slept" "$(wc -l <slept.txt)" 3
    is "state intervals add up to each lifetime" \
        "$(json '[rows] | group_by(.thread)[] | "\(.[0].thread) \(map(.duration_ns) | add)"' spells.json)" \
        "$(json '[rows] | sort_by(.thread)[] | "\(.thread) \(.lifetime_ns)"' best.json)"
fi
poet states "$run" --source samples --json >ended.json
is "samples: the source of whole lifetimes is that of a range" "$(json '.[0].columns[3].source' ended.json)" "samples of CPU time"
is "samples up to the exit: figures are those of the kernel" "$(as_said ended.json 5)" ""
is "samples up to the exit: states add up to each lifetime" "$(unfilled ended.json)" ""

# ---- samples: for a range ----
poet states "$run" --source samples --from 0ns --json >samples.json
like "source samples is named" "$(json '.[0].columns[3].source' samples.json)" "^samples of"
like "source samples has its error" "$(apart samples.json)" "^[0-9.]+$"
is "source samples: states add up to each lifetime" "$(unfilled samples.json)" ""
off=$(apart samples.json)
is "source samples: running is right to two samples" "$(as_said samples.json "3 * $off + 10")" ""
is "source samples: a range and the rest of the run add up" "$(
    cut=$(json 'of_thread("T:main").start_ns + 100e6' samples.json)ns
    for of in "--to $cut" "--from $cut" "--from 0ns"; do
        poet states "$run" --source samples $of --json | sed -n 's/.*"total":.*"running_ns":\([0-9]*\).*"other_off_cpu_ns":\([0-9]*\).*/\1 \2/p'
    done | awk 'NR < 3 { running += $1; off += $2 } NR == 3 { print running - $1, off - $2 }')" "0 0"
poet states "$run" --source order --json >order.json
is "source order: off-CPU time is null" "$(json 'of_thread("T:one").other_off_cpu_ns' order.json)" null
is "source order: all time that is not blocked is running" \
    "$(json 'rows | select(.blocked_ns != 0 and .thread != "T:main").thread' order.json 2>&1)" ""
for f in best ended samples; do
    is "$f: blocked and lifetime add up to those of the order" "$(json 'rows | .blocked_ns + .lifetime_ns' $f.json)" \
        "$(json 'rows | .blocked_ns + .lifetime_ns' order.json)"
done
is "states --source: an unknown source exits with 2" "$(status poet states "$run" --source cow)" 2
is "a chart has the off-CPU state" "$(poet states "$run" --chart transitions -o c.pdf && pdftotext -layout c.pdf - | grep -c 'created *exited.*runnable.*running.*off-CPU')" 1
like "a chart has the source of CPU states" "$(pdftotext -layout c.pdf - | tr -s ' \n' ' ')" "CPU states from"

# ---- perf_event_open not permitted ----
stop_server
POET_PERF=off start_server -o off/ -q
./shared >said.txt 2>slept.txt
check "POET_PERF=off: the trace is sound" sound latest
off=$(ls off/shared-*.poet)
like "POET_PERF=off: the reason is reported" "$(poet states "$off")" "perf_event_open. is not available: POET_PERF=off"
poet states "$off" --json >off.json
is "POET_PERF=off: states add up to each lifetime" "$(unfilled off.json)" ""
is "POET_PERF=off: figures are those of the kernel" "$(as_said off.json 5)" ""

# ---- the shortest possible duration ----
stop_server
start_server -o min/ -q
check "shared.c compiles with two spinners of 50 ms" poetcc -trace -g -DSPIN=50 shared.c -o pair
./pair 2 >said.txt
min=$(ls min/pair-*.poet)
poet path --unlimited-cpus --no-latency --json "$min" >min.json
least=$(json 'total.if_ns / 1e6' min.json)
# What both spinners read at their ends is at least 50 ms: the longer one, and their sum.
read -r most sum <<<"$(awk '{ sum += $2; if ($2 > most) most = $2 } END { printf "%f %f", most / 1e6, sum / 1e6 }' said.txt)"
check "two spinners of 50 ms on two CPUs need as long as the longer one, $most ms: $least" \
    holds "$least > 0.9 * $most and $least < $most + 25" min.json
check "two spinners of 50 ms on one CPU took as long as both, $sum ms" holds "total.length_ns >= 0.95e6 * $sum" min.json
check "the work of two spinners is that of both, without run delay" \
    holds "total | .work_ns > 0.9e6 * $sum and .work_ns < 1e6 * ($sum + 30)" min.json
check "the speedup of two CPUs is about two" \
    holds "total | .span_ns < 1e6 * ($most + 25) and .bound_n > 1.3 and .bound_n < 2.5" min.json
like "path --unlimited-cpus names its source" "$(poet path --unlimited-cpus "$min")" "runnable threads waited [0-9.]+ ms in total for a CPU .source: (context-switch records|samples)"
done_testing
