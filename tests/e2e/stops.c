/* Threads with locals that number their calls: `turn` counts those at a place, `me` is a thread. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static sem_t s;
static int given, turns = 20;

static void late(void)
{
    unsigned char x = 0;
    if (getrandom(&x, 1, 0) == 1 && x % 4 == 0)
        usleep(x);
}

static void *work(void *argument)
{
    volatile long me = (long)argument;
    for (volatile int turn = 0; turn < turns; turn++) {
        late();
        pthread_mutex_lock(&m);
        given++;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
        late();
        sem_wait(&s);
        late();
        sem_post(&s);
        if (pthread_mutex_trylock(&n) == 0)
            pthread_mutex_unlock(&n);
        if (turn % 5 == 4)
            pthread_barrier_wait(&b);
    }
    return me ? argument : 0;
}

static void *take(void *argument)
{
    volatile long me = 100;
    for (volatile int turn = 0; turn < 3 * turns; turn++) {
        pthread_mutex_lock(&m);
        while (!given)
            pthread_cond_wait(&c, &m);
        given--;
        pthread_mutex_unlock(&m);
    }
    return me ? argument : 0;
}

int main(int argc, char **argv)
{
    pthread_t t[4];
    if (argc > 1)
        turns = atoi(argv[1]);
    sem_init(&s, 0, 2);
    pthread_barrier_init(&b, 0, 3);
    pthread_create(&t[3], 0, take, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
