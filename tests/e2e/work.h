/* For programs with known figures: they sleep, so other processes do not matter, and print what
 * they did by their own clock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#define NI __attribute__((noinline))
#define NOT __attribute__((noinline, no_instrument_function, unused))
static NOT long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static NOT void said(const char *name, long long since)
{
    printf("%s\t%lld\n", name, now() - since);
}
static NOT void rest(int ms)
{
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, ms * 1000000L}, NULL);
}
static NOT void work(const char *name, int ms)
{
    long long from = now();
    rest(ms);
    said(name, from);
}
/* Says how long it took, by how long it was to take. */
static NOT void planned(int ms)
{
    char name[12];
    snprintf(name, sizeof name, "%d", ms);
    work(name, ms);
}
