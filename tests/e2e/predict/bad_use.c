/* What one makes another one uses, and nothing says that it is made first. */
#include "slow.h"
LOCK(lock);
static int *made;
static void *makes(void *p)
{
    static int it = 7;
    pthread_mutex_lock(&lock);
    made = &it;
    pthread_mutex_unlock(&lock);
    return p;
}
static void *uses(void *p)
{
    late(1);
    pthread_mutex_lock(&lock);
    if (!made)
        abort();
    printf("%d\n", *made);
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    RUN(makes, uses);
    return 0;
}
