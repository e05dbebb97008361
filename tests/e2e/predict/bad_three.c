/* Three locks in a circle. */
#include "slow.h"
static pthread_mutex_t fork_of[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
static void *eat(void *p)
{
    long i = (long)p;
    late((unsigned)i);
    pthread_mutex_lock(&fork_of[i]);
    pthread_mutex_lock(&fork_of[(i + 1) % 3]);
    pthread_mutex_unlock(&fork_of[(i + 1) % 3]);
    pthread_mutex_unlock(&fork_of[i]);
    return p;
}
int main(void)
{
    RUN(eat, eat, eat);
    return 0;
}
