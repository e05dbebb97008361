/* bench THREADS PAIRS [contended]: the overhead of recording in the program. Prints nanoseconds of
 * CPU time per lock/unlock pair, with a mutex per thread, or with "contended" nanoseconds of
 * elapsed time with one mutex. THREADS 0: of a record in a bare ring buffer, for comparison. PAIRS
 * may be a duration such as 3s; then it prints the elapsed nanoseconds per pair, and the number of
 * pairs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static long pairs;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static double until_ns; /* if not 0, `pairs` is the interval at which the clock is read */
static long done;
static int contended, count;

static double wall_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return 1e9 * (double)ts.tv_sec + (double)ts.tv_nsec;
}

static double cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1e9 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void *work(void *argument)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, *used = contended ? &shared : &m;
    long n = 0;
    do {
        for (long i = 0; i < pairs; i++) {
            pthread_mutex_lock(used);
            count += contended;
            pthread_mutex_unlock(used);
        }
        n += pairs;
    } while (wall_ns() < until_ns);
    __atomic_fetch_add(&done, n, __ATOMIC_RELAXED);
    return argument;
}

/* The reference: writes 32-byte records with a time to a ring. */
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
    bool timed = argc > 2 && argv[2][strlen(argv[2]) - 1] == 's';
    if (timed) {
        until_ns = wall_ns() + 1e9 * strtod(argv[2], NULL);
        pairs = 256;
    }
    contended = argc > 3;
    double begin = contended || timed ? wall_ns() : cpu_ns();
    for (int i = 0; i < threads && i < 16; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < threads && i < 16; i++)
        pthread_join(t[i], NULL);
    double spent = (contended || timed ? wall_ns() : cpu_ns()) - begin;
    if (timed)
        printf("%.1f %ld\n", spent * threads / (double)done, done);
    else
        printf("%.1f\n", spent / (double)(pairs * threads));
    return 0;
}
