/* meters ROUNDS add|took|watch: the overhead of user-defined metrics: nanoseconds per operation. */
#include <poet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100000;
    const char *what = argc > 2 ? argv[2] : "add";
    poet_meter_t hits = poet_meter("hits", "", POET_COUNT);
    poet_meter_t took = poet_meter("took", "ns", POET_DISTRIBUTION);
    volatile int64_t *cell = poet_watch("cell", "");
    double least = 1e18;
    for (int k = 0; k < 11; k++) {
        double begin = now();
        for (long i = 0; i < rounds; i++)
            if (*what == 'a')
                poet_add(hits, 1);
            else if (*what == 't')
                poet_observe(took, i & 4095);
            else
                *cell = i;
        double each = (now() - begin) / (double)rounds;
        least = each < least ? each : least;
    }
    printf("%.2f\n", least);
    return 0;
}
