/* What an atomic operation takes: atomics ROUNDS add|release|load [THREADS] prints the CPU time of
 * one, in nanoseconds. Two threads have used the object before. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_long object;
static long rounds;
static char what;

static void *work(void *unused)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        if (what == 'a')
            atomic_fetch_add_explicit(&object, 1, memory_order_relaxed);
        else if (what == 'r')
            atomic_fetch_add_explicit(&object, 1, memory_order_acq_rel);
        else
            sum += atomic_load_explicit(&object, memory_order_acquire);
    return sum == -1 ? NULL : unused;
}

static void *touch(void *unused)
{
    atomic_fetch_add(&object, 1);
    return unused;
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **arguments)
{
    pthread_t other;
    int threads = count > 3 ? atoi(arguments[3]) : 1;
    rounds = count > 1 ? atol(arguments[1]) : 1000;
    what = count > 2 ? arguments[2][0] : 'a';
    touch(NULL);
    pthread_create(&other, NULL, touch, NULL);
    pthread_join(other, NULL);
    double begin = cpu_ns();
    if (threads > 1)
        pthread_create(&other, NULL, work, NULL);
    work(NULL);
    if (threads > 1)
        pthread_join(other, NULL);
    printf("%.1f\n", (cpu_ns() - begin) / (double)rounds / threads);
    return 0;
}
