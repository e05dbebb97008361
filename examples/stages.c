/* A pipeline of three stages with a slow middle stage: the others wait for it at two conditions.
 * Where did the time go?  poet record --report ./stages */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define BLOCKS 12
#define ROOM 2

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    int count;
} parsed, packed;

static void work(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, NULL); }

static void put(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == ROOM)
        pthread_cond_wait(&q->emptied, &q->lock);
    q->count++;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static void take(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->filled, &q->lock);
    q->count--;
    pthread_cond_signal(&q->emptied);
    pthread_mutex_unlock(&q->lock);
}

static void *parser(void *unused)
{
    for (int i = 0; i < BLOCKS; i++) {
        work(1);
        put(&parsed);
    }
    return unused;
}

static void *packer(void *unused)
{
    for (int i = 0; i < BLOCKS; i++) {
        take(&parsed);
        work(8);
        put(&packed);
    }
    return unused;
}

static void *writer(void *stored)
{
    for (int i = 0; i < BLOCKS; i++) {
        take(&packed);
        work(2);
        ++*(int *)stored;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int stored = 0;
    pthread_create(&threads[0], NULL, parser, NULL);
    pthread_create(&threads[1], NULL, packer, NULL);
    pthread_create(&threads[2], NULL, writer, &stored);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("blocks: %d\n", stored);
}
