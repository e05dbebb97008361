/* Producers and consumers wait on one condition, and a signal wakes any one of them. */
#include "slow.h"
LOCK(lock);
CONDITION(changed);
static int items;
static void *gets(void *p)
{
    pthread_mutex_lock(&lock);
    while (items < 1)
        pthread_cond_wait(&changed, &lock);
    items--;
    pthread_mutex_unlock(&lock);
    return p;
}
static void *waits_for_three(void *p)
{
    late(2);
    pthread_mutex_lock(&lock);
    while (items < 3)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return p;
}
static void *puts_one(void *p)
{
    late(1);
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    late(3);
    pthread_mutex_lock(&lock);
    items += 3;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    RUN(gets, waits_for_three, puts_one);
    return 0;
}
