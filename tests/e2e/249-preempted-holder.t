#!/bin/bash
# poet report says that the holder of a lock was runnable while another thread ran on its CPU, as in priority inversion. Not so if the
# lock passes on the priority of its waiter, and if no other thread needs the CPU.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >inversion.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t m;
static volatile int step;
static void pause_ms(int ms) { nanosleep(&(struct timespec){0, ms * 1000000L}, 0); }
static void reach(int n)
{
    while (step < n)
        pause_ms(1);
}
static void run_ms(int ms) /* of CPU time */
{
    struct timespec now = {0};
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}
static void *low(void *p)
{
    pthread_mutex_lock(&m);
    step = 1;
    run_ms(30);
    pthread_mutex_unlock(&m);
    return p;
}
static void *high(void *p)
{
    reach(1);
    step = 2;
    pthread_mutex_lock(&m); /* line 32 */
    pthread_mutex_unlock(&m);
    return p;
}
static void *middle(void *p)
{
    reach(2);
#ifndef ALONE
    run_ms(300);
#endif
    return p;
}
int main(void)
{
    void *(*const what[])(void *) = {middle, high, low};
    static const int priorities[] = {20, 30, 10};
    pthread_t t[3];
    cpu_set_t cpus;
    int cpu = 0;
    sched_getaffinity(0, sizeof cpus, &cpus);
    while (!CPU_ISSET(cpu, &cpus))
        cpu++;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifdef FIXED
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
#endif
    pthread_mutex_init(&m, &kind);
    for (int i = 0; i < 3; i++) {
        pthread_attr_t how;
        pthread_attr_init(&how);
        pthread_attr_setinheritsched(&how, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&how, SCHED_FIFO);
        pthread_attr_setschedparam(&how, &(struct sched_param){priorities[i]});
        pthread_attr_setaffinity_np(&how, sizeof cpus, &cpus);
        if (pthread_create(&t[i], &how, what[i], 0) != 0)
            exit(77);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
for way in PLAIN FIXED ALONE; do
    poetcc -trace -g -D$way inversion.c -o $way
    POET_OUTPUT=$way.poet ./$way
    result=$?
    [ $result != 77 ] || { skip "$way: threads may not have real-time priorities"; continue; }
    is "$way: the program ends" "$result" 0
    until_true finished $way.poet
    if ! poet cpus $way.poet >/dev/null 2>&1 && ! poet states $way.poet | grep -q 'context-switch records'; then
        skip "$way: context switch records are not available"
        continue
    fi
    poet report $way.poet >said
    found=$(tr -s ' \n' ' ' <said | grep -Eo 'preempted lock holder: .* waited at [^ ]* [^ ]*')
    case $way in
    PLAIN) like "$way: poet report says what had the CPU" "$found" \
        '^preempted lock holder: T:low held M:m and was runnable for [0-9]+ of [0-9]+ ms while T:middle ran on its CPU; T:high waited at high \(inversion.c:32\)' ;;
    *) is "$way: no finding" "$found" "" ;;
    esac
done
done_testing
