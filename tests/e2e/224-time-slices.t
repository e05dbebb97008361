#!/bin/bash
# A runtime that switches tasks in a signal handler, at the end of a time slice, unless poet_busy() says no: time in which a
# task is on no thread counts once, wherever in a call or in the hooks around it the slice ended.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >slices.c <<'C'
#include <errno.h>
#include <poet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
POET_RUNTIME("ucpp");
#define SLICES 400
static poet_line_t task;
static volatile int slices;
static volatile long sink;
/* (The next slice begins when this one has ended: with an interval, it might end at once.) */
static void begin_slice(void) { setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 300}}, 0); }
static void alarm_rings(int signal)
{
    int saved = errno;
    (void)signal;
    if (!poet_busy()) {
        poet_task_switch(0);
        nanosleep(&(struct timespec){0, 1000000}, 0);
        poet_task_switch(task);
        slices++;
    }
    if (slices < SLICES)
        begin_slice();
    errno = saved;
}
__attribute__((noinline)) void leaf(long n) { sink = n; }
__attribute__((noinline)) void middle(long n) { leaf(n); leaf(n + 1); }
__attribute__((noinline)) void work(void)
{
    for (long n = 0; slices < SLICES; n++)
        middle(n);
}
static long cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
int main(void)
{
    task = poet_task("task", "worker", NULL);
    poet_task_switch(task);
    poet_event(task, poet_type("create", NULL), 0, 0);
    poet_event(task, poet_type("start", NULL), 0, 0);
    signal(SIGALRM, alarm_rings);
    begin_slice();
    work();
    printf("%ld\n", cpu_ns());
    poet_event(task, poet_type("end", NULL), 0, 0);
    poet_event(task, poet_type("delete", NULL), 0, POET_CLOSES);
    poet_task_release(task);
    return 0;
}
C
poetcc -profile -g -O1 slices.c -o slices
POET_OUTPUT=slices.poet ./slices >cpu
until_true finished slices.poet
check "poet check accepts the trace: no thread's functions take longer than its lifetime" poet check slices.poet
poet calls slices.poet --json >calls.json
is "CPU times of functions are in all no more than that of the thread" \
    "$(json "[rows | .cpu_ns // 0] | add | . <= $(cat cpu)" calls.json)" true
# (Self time is the sum of two figures, each of which is rounded.)
is "no function has more self time than total time" "$(json 'rows | select(.self_ns > .total_ns + 2) | .function' calls.json)" ""
is "work is called once, and each call of middle makes two of leaf" \
    "$(json '[rows | {(.function | sub(" .*"; "")): .calls}] | add | .work, .leaf - 2 * .middle' calls.json | xargs)" "1 0"
done_testing
