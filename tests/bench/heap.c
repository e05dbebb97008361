/* heap ROUNDS THREADS DEPTH: the overhead of counting allocations: nanoseconds per malloc/free
 * pair, with a number of threads and of open calls. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long rounds;
static int depth;

__attribute__((noinline)) static void pairs(void)
{
    for (long i = 0; i < rounds; i++) {
        void *volatile block = malloc(100);
        free(block);
    }
}

__attribute__((noinline)) static void go_down(int n)
{
    if (n > 0)
        go_down(n - 1);
    else
        pairs();
    __asm__ volatile(""); /* prevents a tail call */
}

static void *work(void *nothing)
{
    go_down(depth);
    return nothing;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    int count = argc > 2 ? atoi(argv[2]) : 1;
    rounds = argc > 1 ? atol(argv[1]) : 1000000;
    depth = argc > 3 ? atoi(argv[3]) : 0;
    count = count < 1 ? 1 : count > 64 ? 64 : count;
    double begin = now();
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", (now() - begin) / (double)rounds);
    return 0;
}
