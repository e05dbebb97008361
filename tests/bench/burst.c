/* One thread, or several, that do nothing but lock and unlock a mutex of their own for some seconds: how long a
 * pair takes.  burst THREADS SECONDS; prints nanoseconds a pair, and all pairs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds;
static _Atomic unsigned long pairs;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *work(void *argument)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    unsigned long n = 0;
    for (double end = now() + seconds; now() < end; n += 10000)
        for (int i = 0; i < 10000; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
    atomic_fetch_add(&pairs, n);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    int count = argc > 1 ? atoi(argv[1]) : 1;
    seconds = argc > 2 ? atof(argv[2]) : 3;
    double begin = now();
    for (int i = 1; i < count && i < 64; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f %lu\n", 1e9 * (now() - begin) * count / (double)pairs, pairs);
    return 0;
}
