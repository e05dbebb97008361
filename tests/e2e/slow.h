/* What the slow programs of 61-findings.t begin with. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static inline void nap(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, 0);
}
