/* Hand over hand along a list: the next lock is acquired before the previous one is released. */
#include "slow.h"
#define NODES 5
static struct {
    pthread_mutex_t lock;
    int value;
} list[NODES];
static void *walk(void *p)
{
    late((unsigned)(long)p);
    pthread_mutex_lock(&list[0].lock);
    for (int i = 1; i < NODES; i++) {
        list[i - 1].value++;
        pthread_mutex_lock(&list[i].lock);
        pthread_mutex_unlock(&list[i - 1].lock);
    }
    pthread_mutex_unlock(&list[NODES - 1].lock);
    return p;
}
int main(void)
{
    for (int i = 0; i < NODES; i++)
        pthread_mutex_init(&list[i].lock, NULL);
    RUN(walk, walk, walk);
    return 0;
}
