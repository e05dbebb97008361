/* The other way round, but only when the first one has ended. */
#include "slow.h"
LOCK(a);
LOCK(b);
static void *one(void *p)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return p;
}
static void *other(void *p)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return p;
}
int main(void)
{
    RUN(one);
    RUN(other);
    return 0;
}
