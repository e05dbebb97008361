/* costs ROUNDS: calls functions that take about 0, 40 and 500 ns, ROUNDS times each, and prints
 * the CPU time of all calls of each function in ns. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline))

/* Executes dependent multiplications, which take the same time wherever the code is located. */
__attribute__((always_inline, no_instrument_function)) static inline void multiply(int times)
{
    unsigned long x = 3;
    for (int i = 0; i < times; i++) {
        x *= 0x9e3779b97f4a7c15;
        __asm__ volatile("" : "+r"(x));
    }
}

NOT_INLINED static void nothing(void) { __asm__ volatile(""); }
NOT_INLINED static void some(void) { multiply(50); }
NOT_INLINED static void more(void) { multiply(620); }

__attribute__((no_instrument_function)) static long long ran(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define MEASURE(of)                                                                                \
    do {                                                                                           \
        long long from = ran();                                                                    \
        for (int i = 0; i < rounds; i++)                                                           \
            of();                                                                                  \
        printf(#of " %lld\n", ran() - from);                                                       \
    } while (0)

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000000;
    MEASURE(nothing);
    MEASURE(some);
    MEASURE(more);
    return 0;
}
