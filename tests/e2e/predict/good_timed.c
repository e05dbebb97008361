/* Signaled without the lock, but the waiter tests the flag again after a timeout. */
#include "slow.h"
#include <stdatomic.h>
#include <time.h>
LOCK(lock);
CONDITION(ready);
static atomic_int flag;
static void *waits(void *p)
{
    pthread_mutex_lock(&lock);
    while (!flag) {
        struct timespec ts;
        clock_gettime(CLOCK_REALTIME, &ts);
        ts.tv_sec += 1;
        pthread_cond_timedwait(&ready, &lock, &ts);
    }
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
