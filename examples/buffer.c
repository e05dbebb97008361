/* A bounded buffer: one mutex, two conditions, two producers, two consumers. */
#include <poet.h>
#include <pthread.h>
#include <stdio.h>

#define PLACES 3
#define ITEMS 8 /* per producer */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[PLACES], first, count, sum;

static void put(int item)
{
    pthread_mutex_lock(&lock);
    while (count == PLACES)
        pthread_cond_wait(&not_full, &lock);
    buffer[(first + count++) % PLACES] = item;
    if (count == PLACES)
        poet_text("the buffer is full");
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int get(void)
{
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock);
    int item = buffer[first];
    first = (first + 1) % PLACES;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *producer(void *argument)
{
    (void)argument;
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return NULL;
}

static void *consumer(void *argument)
{
    (void)argument;
    int mine = 0;
    for (int i = 0; i < ITEMS; i++)
        mine += get();
    pthread_mutex_lock(&lock);
    sum += mine;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i % 2 ? consumer : producer, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("sum: %d\n", sum);
    return 0;
}
