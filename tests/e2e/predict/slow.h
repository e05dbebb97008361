/* What the programs of this folder share: threads, and reproducible random numbers. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOCK(name) static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
#define CONDITION(name) static pthread_cond_t name = PTHREAD_COND_INITIALIZER

static struct {
    atomic_int tid;
    unsigned steps;
} late_ones[8];

/* Whether a thread has ended, sleeps, or is later than so many steps. */
static inline int has_been(int tid, unsigned steps)
{
    char path[64], state = 'S';
    for (int i = 0; i < 8; i++)
        if (late_ones[i].tid == tid)
            return late_ones[i].steps >= steps;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'S';
    if (f)
        fclose(f);
    return state == 'S' || state == 'Z' || state == 'X';
}

static inline int all_others_have_been(int own, unsigned steps)
{
    int all = 1;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));)
        all = all && (e->d_name[0] == '.' || atoi(e->d_name) == own ||
                      has_been(atoi(e->d_name), steps));
    if (d)
        closedir(d);
    return all;
}

/* Sleeps for so many steps, then until every other thread that is not later has exited or waits. */
static inline void late(unsigned steps)
{
    int own = (int)syscall(SYS_gettid), i = 0;
    if (!steps)
        return;
    for (int none = 0; !atomic_compare_exchange_strong(&late_ones[i].tid, &none, -1); none = 0)
        i = (i + 1) % 8;
    late_ones[i].steps = steps;
    late_ones[i].tid = own;
    usleep(steps * 30000);
    for (int seen = 0; seen < 3; usleep(1000))
        seen = all_others_have_been(own, steps) ? seen + 1 : 0;
    late_ones[i].tid = 0;
}

typedef void *work(void *);

static inline void run(unsigned count, work *const *works)
{
    pthread_t t[8];
    for (unsigned i = 0; i < count; i++)
        pthread_create(&t[i], NULL, works[i], (void *)(long)i);
    for (unsigned i = 0; i < count; i++)
        pthread_join(t[i], NULL);
}
#define RUN(...)                                                                                   \
    do {                                                                                           \
        work *const all_of_it[] = {__VA_ARGS__};                                                   \
        run(sizeof all_of_it / sizeof *all_of_it, all_of_it);                                      \
    } while (0)
