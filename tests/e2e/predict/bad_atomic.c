/* What is looked at in one visit is used in the next: an atomicity violation. */
#include "slow.h"
LOCK(account);
static int balance = 100;
static int look(void)
{
    pthread_mutex_lock(&account);
    int is = balance;
    pthread_mutex_unlock(&account);
    return is;
}
static void set(int to)
{
    pthread_mutex_lock(&account);
    balance = to;
    pthread_mutex_unlock(&account);
}
static void *pays(void *p)
{
    int is = look();
    set(is - 10);
    return p;
}
static void *earns(void *p)
{
    late(1);
    pthread_mutex_lock(&account);
    balance += 50;
    pthread_mutex_unlock(&account);
    return p;
}
int main(void)
{
    RUN(pays, earns);
    return balance != 140;
}
