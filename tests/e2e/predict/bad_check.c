/* The flag is looked at before the lock is taken, and not again. */
#include "slow.h"
#include <stdatomic.h>
LOCK(lock);
CONDITION(ready);
static atomic_int flag;
static void *waits(void *p)
{
    if (!flag) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&ready, &lock);
        pthread_mutex_unlock(&lock);
    }
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
