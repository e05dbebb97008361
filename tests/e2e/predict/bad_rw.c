/* A reader that requests a mutex, and a holder of the mutex that requests the write lock. */
#include "slow.h"
static pthread_rwlock_t map = PTHREAD_RWLOCK_INITIALIZER;
LOCK(log_of);
static void *looks(void *p)
{
    pthread_rwlock_rdlock(&map);
    pthread_mutex_lock(&log_of);
    pthread_mutex_unlock(&log_of);
    pthread_rwlock_unlock(&map);
    return p;
}
static void *changes(void *p)
{
    late(1);
    pthread_mutex_lock(&log_of);
    pthread_rwlock_wrlock(&map);
    pthread_rwlock_unlock(&map);
    pthread_mutex_unlock(&log_of);
    return p;
}
int main(void)
{
    RUN(looks, changes);
    return 0;
}
