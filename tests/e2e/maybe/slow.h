/* What the programs of this folder share: threads, and luck that is nearly always the same. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOCK(name) static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
#define CONDITION(name) static pthread_cond_t name = PTHREAD_COND_INITIALIZER

/* Late by so much that in one run of thousands another thread is later. */
static inline void late(unsigned steps) { usleep(steps * 30000); }

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
