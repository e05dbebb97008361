/* sampled THREADS SECONDS: threads for tests of sampling, each of which alternately works a little
 * and sleeps for 10 ms. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static volatile int over;
static volatile long sink;

static void *work(void *nothing)
{
    while (!over) {
        for (int i = 0; i < 1000; i++)
            sink += i;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return nothing;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100;
    double seconds = argc > 2 ? atof(argv[2]) : 5;
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(long)seconds) * 1e9)},
              NULL);
    over = 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
