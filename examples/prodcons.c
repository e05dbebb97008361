/* Producer and consumer, with two semaphores around a buffer of five places.
 *
 *     poetcc -trace -g prodcons.c -o prodcons && ./prodcons
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES 5

static int buffer[PLACES];
static sem_t full, empty;
static int items = 10;

static void *producer(void *argument)
{
    (void)argument;
    for (int i = 0; i < items; i++) {
        sem_wait(&empty);
        buffer[i % PLACES] = i;
        sem_post(&full);
    }
    return NULL;
}

static void *consumer(void *argument)
{
    long *sum = argument;
    for (int i = 0; i < items; i++) {
        sem_wait(&full);
        *sum += buffer[i % PLACES];
        sem_post(&empty);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t prod, cons;
    long sum = 0;
    if (argc > 1)
        items = (int)strtol(argv[1], NULL, 10);
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, PLACES);
    pthread_create(&cons, NULL, consumer, &sum);
    pthread_create(&prod, NULL, producer, NULL);
    pthread_join(prod, NULL);
    pthread_join(cons, NULL);
    printf("sum of %d items: %ld\n", items, sum);
    return 0;
}
