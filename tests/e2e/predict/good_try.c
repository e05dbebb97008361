/* The other way round, but the second lock is only tried. */
#include "slow.h"
LOCK(a);
LOCK(b);
static void *one(void *p)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    late(2);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return p;
}
static void *other(void *p)
{
    late(1);
    for (;;) {
        pthread_mutex_t *of[] = {&b, &a};
        if (pthread_mutex_trylock(of[0]) == 0) {
            if (pthread_mutex_trylock(of[1]) == 0)
                break;
            pthread_mutex_unlock(of[0]);
        }
        usleep(5000);
    }
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return p;
}
int main(void)
{
    RUN(one, other);
    return 0;
}
