/* Two threads that take two locks in opposite order, and wait for each other for ever. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t forks = PTHREAD_MUTEX_INITIALIZER, knives = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *alice(void *argument)
{
    pthread_mutex_lock(&forks);
    pthread_barrier_wait(&both); /* makes sure that it happens */
    pthread_mutex_lock(&knives);
    return argument;
}

static void *bob(void *argument)
{
    pthread_mutex_lock(&knives);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&forks);
    return argument;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&a, NULL, alice, NULL);
    pthread_create(&b, NULL, bob, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("never reached");
    return 0;
}
