#!/bin/bash
# poet record -m counters: counters of the processor and the kernel agree with what the program knows of itself, by process
# and thread; those that the machine does not have are named with the reason, and nothing is counted unless requested.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >touch.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#define PAGES 3000
static volatile unsigned long sink;
static double cpu_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void *work(void *p)
{
    double end = cpu_ms(CLOCK_THREAD_CPUTIME_ID) + 200;
    volatile char *memory = mmap(0, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)memory, PAGES * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++)
        memory[i * 4096L] = 1;
    while (cpu_ms(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 100000; i++)
            sink += i;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    printf("%.0f\n", cpu_ms(CLOCK_PROCESS_CPUTIME_ID) * 1e6);
    return 0;
}
C
gcc -O2 touch.c -o touch
cpu_ns=$(timeout 60 poet record -m counters -o touch.poet -- ./touch)
order_ends touch.poet
poet usage --json touch.poet >usage.json
poet usage --by thread --json touch.poet >threads.json
names="cycles instructions cache_references cache_misses branch_misses task_clock page_faults context_switches cpu_migrations"
is "each counter is there, or the reason why it is not" \
    "$(json 'rows | select(.source | test("perf_event|counter|permitted|POET_PERF")) | .metric' usage.json | sort | paste -sd' ')" \
    "$(printf '%s\n' $names | sort | paste -sd' ')"
is "what is not available has a reason and no value" \
    "$(json 'rows | select(.value == "not available") | .total == null and (.source | length > 5)' usage.json | sort -u | grep -v true)" ""
available() { [ "$(json "rows | select(.metric == \"$1\" and .thread == null) | .total != null" usage.json)" = true ]; }
if available task_clock; then
    # the program's CPU time, without that of its start, before it was connected, and of its end
    is "task_clock is the program's CPU time" "$(json "metric(\"task_clock\").total / $cpu_ns | within(0.7; 1.3)" usage.json)" within
    is "task_clock of a thread" "$(json 'metric("task_clock") | select(.thread == "T:work").total / 2e8 | within(0.8; 1.3)' threads.json)" within
else
    skip "perf_event_open is not permitted"
    skip "perf_event_open is not permitted"
fi
if available page_faults; then
    is "page faults: one for each page" "$(json 'metric("page_faults").total | within(3000; 4500)' usage.json)" within
else
    skip "page faults are not counted here"
fi
if available cycles; then
    is "instructions were executed" "$(json 'metric("instructions").total > 1e7' usage.json)" true
else
    like "cycles: why not" "$(json 'metric("cycles").source' usage.json)" 'no such counter|not permitted|failed'
fi
like "as a curve" "$(poet usage --chart curves touch.poet)" 'task_clock|minor_faults'

POET_PERF=off timeout 60 poet record -m counters -o off.poet -- ./touch >/dev/null
order_ends off.poet
is "POET_PERF=off: none, and it is said" "$(poet usage --json off.poet | json '[rows | select(.source == "POET_PERF=off")] | length')" 9
timeout 60 poet record -o plain.poet -- ./touch >/dev/null
order_ends plain.poet
is "none unless requested" "$(poet usage --json plain.poet | json '[metric("task_clock", "cycles")] | length')" 0
done_testing
