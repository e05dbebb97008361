/* Dining philosophers.  The last one takes the right fork first, so no philosopher starves. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#define SEATS 5
#define MEALS 3

static pthread_mutex_t forks[SEATS];
static int meals[SEATS];

static void *philosopher(void *argument)
{
    int seat = (int)(long)argument, left = seat, right = (seat + 1) % SEATS;
    char name[16];
    snprintf(name, sizeof name, "phil %d", seat);
    pthread_setname_np(pthread_self(), name);
    if (seat == SEATS - 1) {
        left = right;
        right = seat;
    }
    for (int i = 0; i < MEALS; i++) {
        pthread_mutex_lock(&forks[left]);
        pthread_mutex_lock(&forks[right]);
        meals[seat]++;
        pthread_mutex_unlock(&forks[right]);
        pthread_mutex_unlock(&forks[left]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[SEATS];
    int all = 0;
    for (int i = 0; i < SEATS; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (int i = 0; i < SEATS; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)(long)i);
    for (int i = 0; i < SEATS; i++) {
        pthread_join(threads[i], NULL);
        all += meals[i];
    }
    printf("meals: %d\n", all);
    return 0;
}
