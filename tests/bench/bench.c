/* What recording costs inside the program, beside a bare ring buffer.
 * Prints nanoseconds a lock/unlock pair and an event; the caller compares runs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static long pairs;

static double cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1e9 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void *work(void *argument)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < pairs; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return argument;
}

/* The reference: a 32-byte record with a time in a ring. */
static double ring_ns(void)
{
    struct record {
        uint64_t time, what, a, b;
    } *ring = malloc(sizeof *ring << 12);
    struct timespec ts;
    double begin = cpu_ns();
    for (long i = 0; i < pairs; i++) {
        clock_gettime(CLOCK_MONOTONIC, &ts);
        ring[i & 4095] = (struct record){(uint64_t)ts.tv_nsec, 1, 2, (uint64_t)i};
        __atomic_thread_fence(__ATOMIC_RELEASE);
    }
    double ns = (cpu_ns() - begin) / (double)pairs;
    free(ring);
    return ns;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    pairs = argc > 2 ? strtol(argv[2], NULL, 10) : 1000000;
    if (threads == 0) {
        printf("%.1f\n", ring_ns());
        return 0;
    }
    pthread_t t[16];
    double begin = cpu_ns();
    for (int i = 0; i < threads && i < 16; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < threads && i < 16; i++)
        pthread_join(t[i], NULL);
    printf("%.1f\n", (cpu_ns() - begin) / (double)(pairs * threads));
    return 0;
}
