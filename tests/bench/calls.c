/* calls ROUNDS: the overhead of measuring a call: nanoseconds per call of a function that does
 * almost nothing. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_MEASURED __attribute__((no_instrument_function))

static volatile long done;
__attribute__((noinline)) static void inner(void) { done++; }
__attribute__((noinline)) static void outer(void)
{
    inner();
    inner();
    inner();
}

NOT_MEASURED static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

NOT_MEASURED static int by_size(const void *a, const void *b)
{
    long x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The comparison function of a sort; its own calls are not measured. */
static int compare(const void *a, const void *b) { return by_size(a, b); }

NOT_MEASURED static double sorting(int count)
{
    int *numbers = malloc((size_t)count * sizeof *numbers);
    unsigned seed = 1;
    for (int i = 0; i < count; i++)
        numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 8);
    double begin = now();
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    double took = now() - begin;
    free(numbers);
    return took / 1e6;
}

NOT_MEASURED int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50000;
    double least = 1e18;
    if (argc > 2) {
        printf("%.1f\n", sorting(rounds));
        return 0;
    }
    for (int k = 0; k < 11; k++) {
        double begin = now();
        for (int i = 0; i < rounds; i++)
            outer();
        double took = (now() - begin) / rounds / 4;
        least = took < least ? took : least;
    }
    printf("%.2f\n", least);
    return 0;
}
