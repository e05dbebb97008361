/* A bounded buffer with a condition for each side, two that put and two that get. */
#include "slow.h"
#define SIZE 2
#define EACH 20
LOCK(lock);
CONDITION(not_full);
CONDITION(not_empty);
static int items, sum;
static void *puts_some(void *p)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (items == SIZE)
            pthread_cond_wait(&not_full, &lock);
        items++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return p;
}
static void *gets_some(void *p)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (!items)
            pthread_cond_wait(&not_empty, &lock);
        items--;
        sum++;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void)
{
    RUN(puts_some, puts_some, gets_some, gets_some);
    return sum != 2 * EACH;
}
