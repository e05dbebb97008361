/* Three locks, of which everybody takes two, the lesser one first. */
#include "slow.h"
static pthread_mutex_t of[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                PTHREAD_MUTEX_INITIALIZER};
static void *eat(void *p)
{
    long i = (long)p, k = (i + 1) % 3, low = i < k ? i : k, high = i < k ? k : i;
    late((unsigned)i);
    pthread_mutex_lock(&of[low]);
    pthread_mutex_lock(&of[high]);
    pthread_mutex_unlock(&of[high]);
    pthread_mutex_unlock(&of[low]);
    return p;
}
int main(void)
{
    RUN(eat, eat, eat);
    return 0;
}
