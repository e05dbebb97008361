/* What an access of memory takes where accesses are examined: races ROUNDS access|lock|hand prints
 * the CPU time of a read and a write of an array; of a critical section with one; of handing 64
 * variables to another thread and back, in nanoseconds. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ENTRIES 1024
#define HANDED 64
static int table[ENTRIES];
static long rounds, count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t there, back;

static void *access_all(void *unused)
{
    for (long i = 0; i < rounds; i++)
        table[i % ENTRIES] += 1;
    return unused;
}

static void *lock(void *unused)
{
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void change(void)
{
    for (int i = 0; i < HANDED; i++)
        table[i]++;
}

static void *take(void *unused)
{
    for (long i = 0; i < rounds; i++) {
        sem_wait(&there);
        change();
        sem_post(&back);
    }
    return unused;
}

static void *give(void *unused)
{
    for (long i = 0; i < rounds; i++) {
        change();
        sem_post(&there);
        sem_wait(&back);
    }
    return unused;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    char what = argc > 2 ? argv[2][0] : 'a';
    rounds = argc > 1 ? atol(argv[1]) : 1000;
    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    double from = now_ns();
    pthread_create(&a, NULL, what == 'l' ? lock : what == 'h' ? take : access_all, NULL);
    if (what == 'a')
        pthread_join(a, NULL);
    if (what != 'a') {
        pthread_create(&b, NULL, what == 'l' ? lock : give, NULL);
        pthread_join(b, NULL);
        pthread_join(a, NULL);
    }
    printf("%.1f\n", (now_ns() - from) / (double)rounds);
    return 0;
}
