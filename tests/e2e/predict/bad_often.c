/* The same two locks very often in one order, and once, late, in the other. */
#include "slow.h"
LOCK(table);
LOCK(row);
static long sum;
static void *reads(void *p)
{
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&table);
        pthread_mutex_lock(&row);
        sum++;
        pthread_mutex_unlock(&row);
        pthread_mutex_unlock(&table);
    }
    return p;
}
static void *repairs(void *p)
{
    late(8);
    pthread_mutex_lock(&row);
    pthread_mutex_lock(&table);
    sum--;
    pthread_mutex_unlock(&table);
    pthread_mutex_unlock(&row);
    return p;
}
int main(void)
{
    RUN(reads, repairs);
    return sum != 1999;
}
