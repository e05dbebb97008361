/* switch ROUNDS [PAUSE]: the cost of a context switch and of recording it, in nanoseconds. In each
 * round two threads on one CPU wake each other by futexes, which record no events, after PAUSE
 * nanoseconds. Compiled with TASKS: the cost of a switch between two user-defined tasks. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef TASKS
#include <poet.h>
#endif

static long rounds;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#ifdef TASKS
static double each_switch(void)
{
    poet_line_t tasks[2] = {poet_task("thread", "one", &tasks[0]),
                            poet_task("thread", "two", &tasks[1])};
    double begin = now();
    for (long i = 0; i < rounds; i++)
        poet_task_switch(tasks[i & 1]);
    double each = (now() - begin) / (double)rounds;
    poet_task_switch(0);
    return each;
}
#else
static atomic_uint turn;
static double pause_ns;

static void on_one_processor(void)
{
    cpu_set_t allowed, one;
    int cpu = 0;
    sched_getaffinity(0, sizeof allowed, &allowed);
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void play(unsigned mine)
{
    for (long i = 0; i < rounds; i++) {
        while (atomic_load(&turn) != mine)
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !mine, NULL, NULL, 0);
        for (double end = now() + pause_ns; pause_ns > 0 && now() < end;)
            ;
        atomic_store(&turn, !mine);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static void *other(void *nothing)
{
    play(1);
    return nothing;
}

static double each_switch(void)
{
    pthread_t thread;
    on_one_processor();
    double begin = now();
    pthread_create(&thread, NULL, other, NULL);
    play(0);
    pthread_join(thread, NULL);
    return (now() - begin) / (double)rounds;
}
#endif

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atol(argv[1]) : 100000;
#ifndef TASKS
    pause_ns = argc > 2 ? atof(argv[2]) : 0;
#endif
    printf("%.1f\n", each_switch());
    return 0;
}
