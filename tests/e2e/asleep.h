/* For test programs in which one thread must be asleep in a call before another one continues,
 * however busy the machine is.  None of these functions records an event. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define UNSEEN __attribute__((noinline, no_instrument_function, unused))

struct sleeper {
    atomic_int tid, times;
};

static UNSEEN void pause_a_moment(void)
{
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 1000000}, 0);
}

/* Before a call that will wait. */
static UNSEEN void about_to_wait(struct sleeper *s)
{
    s->tid = (int)syscall(SYS_gettid);
    s->times++;
}

static UNSEEN int is_asleep(int tid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (f)
        fclose(f);
    return state == 'S';
}

/* Waits until the thread is asleep in this wait of its own; seen so three times, not just once. */
static UNSEEN void until_asleep(struct sleeper *s, int times)
{
    for (int seen = 0; seen < 3; pause_a_moment())
        seen = s->times >= times && is_asleep(s->tid) ? seen + 1 : 0;
}

static UNSEEN void until_set(const atomic_int *flag, int value)
{
    while (*flag < value)
        pause_a_moment();
}

/* Do all threads of the program sleep but the first one? */
static UNSEEN int others_sleep(void)
{
    int all = 1;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *d; threads && (d = readdir(threads));)
        if (*d->d_name != '.' && atoi(d->d_name) != getpid())
            all &= is_asleep(atoi(d->d_name));
    if (threads)
        closedir(threads);
    return threads && all;
}

static UNSEEN void until_others_sleep(void)
{
    for (int seen = 0; seen < 3; pause_a_moment())
        seen = others_sleep() ? seen + 1 : 0;
}
