/* For programs that measure their own waits: work is sleeping, so other processes do not matter;
 * each thread's times of work and waits are printed at the end, in ns. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct told {
    const char *what, *name; /* "work", "wait" */
    int64_t from_ns, to_ns;
} told[64];
static atomic_int told_count;
/* Time slept beyond the requested time, and time in which threads were ready but had no processor,
 * as the kernel counts it. */
static _Atomic int64_t late_ns;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}
/* Adds what the calling thread has spent in the queue of a processor since it was last asked. */
static void add_queued(void)
{
    static _Thread_local long long known_ns;
    long long ran_ns, queued_ns;
    FILE *f = fopen("/proc/thread-self/schedstat", "re");
    if (f && fscanf(f, "%lld %lld", &ran_ns, &queued_ns) == 2) {
        late_ns += queued_ns - known_ns;
        known_ns = queued_ns;
    }
    if (f)
        fclose(f);
}
static void tell(const char *what, const char *name, int64_t from_ns)
{
    told[atomic_fetch_add(&told_count, 1)] = (struct told){what, name, from_ns, now()};
    add_queued();
}
static void work(const char *name, double ms) /* ms as $NAME says, if it is set */
{
    int64_t from = now(), asked = (int64_t)(1e6 * (getenv(name) ? atof(getenv(name)) : ms));
    if (!asked)
        return;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){asked / 1000000000, asked % 1000000000},
                    0);
    tell("work", name, from);
    late_ns += now() - from - asked;
}
#define WAIT(name, ...)                                                                            \
    do {                                                                                           \
        int64_t from_ = now();                                                                     \
        __VA_ARGS__;                                                                               \
        tell("wait", name, from_);                                                                 \
    } while (0)
static void report(FILE *to)
{
    for (int i = 0; i < told_count; i++)
        fprintf(to, "%s %s %lld %lld\n", told[i].what, told[i].name, (long long)told[i].from_ns,
                (long long)told[i].to_ns);
    fprintf(to, "late all 0 %lld\n", (long long)late_ns);
    fflush(to);
}
