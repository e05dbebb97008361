/* contend THREADS MUTEXES EVENTS [MORE]: threads that wait for each other: two lock random
 * mutexes, the others pass turns to their neighbors. About a tenth of the events begin a wait.
 * MORE: number of further events for each line read from standard input. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static pthread_mutex_t mutexes[MOST], tables[MOST];
static pthread_cond_t called[MOST];
static int turn[MOST];
static int threads, count;
static long rounds;

static void work(void)
{
    for (volatile int i = 0; i < 50; i++)
        ;
}

static void *lock(void *who)
{
    unsigned r = (unsigned)(long)who * 7919 + 1;
    for (long i = 0; i < rounds; i++) {
        r = r * 1103515245 + 12345;
        pthread_mutex_t *m = &mutexes[(r >> 8) % (unsigned)count];
        pthread_mutex_lock(m);
        work();
        pthread_mutex_unlock(m);
    }
    return who;
}

static void *play(void *who)
{
    int table = (int)(long)who / 2, mine = (int)(long)who % 2;
    for (long i = 0; i < rounds / 4; i++) {
        pthread_mutex_lock(&tables[table]);
        while (turn[table] != mine)
            pthread_cond_wait(&called[table], &tables[table]);
        work();
        turn[table] = !mine;
        pthread_cond_signal(&called[table]);
        pthread_mutex_unlock(&tables[table]);
    }
    return who;
}

static void run(const char *events)
{
    pthread_t all[2 * MOST];
    rounds = atol(events) * 2 / 5 / threads;
    for (long i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, i < 2 ? lock : play, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    threads = atoi(argv[1]);
    count = atoi(argv[2]);
    if (threads < 4 || threads > 2 * MOST || threads % 2 || count < 1 || count > MOST)
        return 2;
    for (int i = 0; i < MOST; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_mutex_init(&tables[i], NULL);
        pthread_cond_init(&called[i], NULL);
    }
    run(argv[3]);
    while (argc > 4 && getchar() == '\n')
        run(argv[4]);
    return 0;
}
