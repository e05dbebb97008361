/* Workers of a pool, one of them called for each item, and all at the end. */
#include "slow.h"
LOCK(lock);
CONDITION(more);
static int items, done, over;
static void *works(void *p)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!items && !over)
            pthread_cond_wait(&more, &lock);
        if (!items)
            break;
        items--;
        done++;
    }
    pthread_mutex_unlock(&lock);
    return p;
}
static void *feeds(void *p)
{
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    RUN(works, works, works, feeds);
    return done != 20;
}
