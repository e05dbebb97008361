/* Two read-write locks, the other way round, but all only read. */
#include "slow.h"
static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER, b = PTHREAD_RWLOCK_INITIALIZER;
static void *one(void *p)
{
    pthread_rwlock_rdlock(&a);
    pthread_rwlock_rdlock(&b);
    pthread_rwlock_unlock(&b);
    pthread_rwlock_unlock(&a);
    return p;
}
static void *other(void *p)
{
    late(1);
    pthread_rwlock_rdlock(&b);
    pthread_rwlock_rdlock(&a);
    pthread_rwlock_unlock(&a);
    pthread_rwlock_unlock(&b);
    return p;
}
int main(void)
{
    RUN(one, other);
    return 0;
}
