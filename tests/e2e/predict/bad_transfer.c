/* One function that takes the locks of both its accounts, given in either order. */
#include "slow.h"
static struct account {
    pthread_mutex_t lock;
    int balance;
} accounts[3];
static void transfer(struct account *from, struct account *to, int what)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= what;
    to->balance += what;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}
static void *pays(void *p)
{
    transfer(&accounts[0], &accounts[1], 10);
    transfer(&accounts[0], &accounts[2], 10);
    return p;
}
static void *earns(void *p)
{
    late(1);
    transfer(&accounts[1], &accounts[0], 10);
    return p;
}
int main(void)
{
    for (int i = 0; i < 3; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    RUN(pays, earns);
    return accounts[1].balance != 0;
}
