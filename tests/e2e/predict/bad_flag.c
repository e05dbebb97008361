/* The flag is set and signaled without the lock: both may happen after the waiter checked it. */
#include "slow.h"
#include <stdatomic.h>
LOCK(lock);
CONDITION(ready);
static atomic_int flag;
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
    flag = 1;
    pthread_cond_signal(&ready);
    return p;
}
int main(void)
{
    RUN(waits, calls);
    return 0;
}
