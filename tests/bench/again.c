/* again THREADS LOCKS EACH: each thread acquires LOCKS locks; every EACH-th time (0: never) one
 * that all threads share, otherwise its own. With EACH 1 each thread yields after each lock.
 * Prints the elapsed seconds, how often the shared lock passed from one thread to another, and the
 * seconds of CPU time. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MOST 64

static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
static long locks, each, changes, last = -1;

static void *work(void *p)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    long me = (long)p;
    for (long i = 1; i <= locks; i++) {
        pthread_mutex_t *m = each && i % each == 0 ? &common : &own;
        pthread_mutex_lock(m);
        if (m == &common && last != me) {
            changes += last >= 0;
            last = me;
        }
        pthread_mutex_unlock(m);
        if (each == 1)
            sched_yield();
    }
    return NULL;
}

static double seconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    long threads = argc > 3 ? atol(argv[1]) : 0;
    if (threads < 1 || threads > THREADS_MOST)
        return 2;
    locks = atol(argv[2]);
    each = atol(argv[3]);
    pthread_t t[THREADS_MOST];
    double from = seconds(CLOCK_MONOTONIC);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&t[i], NULL, work, (void *)i) != 0)
            return 1;
    for (long i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    printf("%.6f %ld %.6f\n", seconds(CLOCK_MONOTONIC) - from, changes,
           seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
