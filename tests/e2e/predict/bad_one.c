/* One is called where several may wait: a missed broadcast. */
#include "slow.h"
LOCK(lock);
CONDITION(open_);
static int is_open;
static void *comes(void *p)
{
    late(3 * (unsigned)(long)p);
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&open_, &lock);
    pthread_mutex_unlock(&lock);
    return p;
}
static void *opens(void *p)
{
    late(1); /* before the others come */
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_signal(&open_);
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    RUN(comes, comes, comes, opens);
    return 0;
}
