/* The flag is set and looked at in the lock, in a loop. */
#include "slow.h"
LOCK(lock);
CONDITION(ready);
static int flag;
static void *waits(void *p)
{
    pthread_mutex_lock(&lock);
    while (!flag)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return p;
}
static void *calls(void *p)
{
    late(1);
    pthread_mutex_lock(&lock);
    flag = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    RUN(waits, calls);
    return 0;
}
