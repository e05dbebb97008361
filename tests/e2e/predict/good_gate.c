/* Two locks, the other way round, but only one of the two at a time: a gate. */
#include "slow.h"
LOCK(gate);
LOCK(forks);
LOCK(knives);
static void *alice(void *p)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&forks);
    pthread_mutex_lock(&knives);
    pthread_mutex_unlock(&knives);
    pthread_mutex_unlock(&forks);
    pthread_mutex_unlock(&gate);
    return p;
}
static void *bob(void *p)
{
    late(1);
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&knives);
    pthread_mutex_lock(&forks);
    pthread_mutex_unlock(&gate);
    pthread_mutex_unlock(&forks);
    pthread_mutex_unlock(&knives);
    return p;
}
int main(void)
{
    RUN(alice, bob);
    return 0;
}
