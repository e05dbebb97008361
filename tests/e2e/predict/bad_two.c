/* Two locks, the other way round. */
#include "slow.h"
LOCK(forks);
LOCK(knives);
static int meals;
static void *alice(void *p)
{
    pthread_mutex_lock(&forks);
    pthread_mutex_lock(&knives);
    meals++;
    pthread_mutex_unlock(&knives);
    pthread_mutex_unlock(&forks);
    return p;
}
static void *bob(void *p)
{
    late(1);
    pthread_mutex_lock(&knives);
    pthread_mutex_lock(&forks);
    meals++;
    pthread_mutex_unlock(&forks);
    pthread_mutex_unlock(&knives);
    return p;
}
int main(void)
{
    RUN(alice, bob);
    return meals != 2;
}
