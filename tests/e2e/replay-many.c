/* Threads that meet at everything there is; what they do depends on which is first. With UNLOCKED,
 * they also broadcast without the mutex of the condition: when they did, and so which threads that
 * may have woken, is not recorded. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#define N 4
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k[3], r;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static pthread_spinlock_t sp;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t s, free_;
static int queue, made;
static atomic_int shared; /* it is under several locks */
static void jitter(void)
{
    unsigned char x;
    if (getrandom(&x, 1, 0) == 1 && x < 60)
        usleep(x * 3);
}
static void init(void)
{
    made++;
    jitter();
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}
static struct timespec in(long us)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}
static void *child(void *a)
{
    jitter();
    pthread_mutex_lock(&m);
    shared++;
    pthread_mutex_unlock(&m);
    return a;
}
static void *work(void *a)
{
    unsigned me = (unsigned)(long)a, seed = me * 77 + 1;
    pthread_once(&once, init);
    for (int i = 0; i < 40; i++) {
        jitter();
        switch (rand_r(&seed) % 12) {
        case 0:
            pthread_mutex_lock(&m);
            shared += me;
            pthread_mutex_unlock(&m);
            break;
        case 1:
            if (pthread_mutex_trylock(&k[0]) == 0) {
                jitter();
                pthread_mutex_unlock(&k[0]);
            } else {
                pthread_mutex_lock(&k[1]);
                pthread_mutex_unlock(&k[1]);
            }
            break;
        case 2:
            pthread_mutex_lock(&k[1]);
            pthread_mutex_lock(&k[2]);
            jitter();
            pthread_mutex_unlock(&k[1]);
            pthread_mutex_unlock(&k[2]);
            break;
        case 3: {
            struct timespec t = in(60);
            if (pthread_mutex_timedlock(&k[0], &t) == 0) {
                jitter();
                pthread_mutex_unlock(&k[0]);
            } else
                shared++;
        } break;
        case 4:
            pthread_mutex_lock(&m);
            queue++;
            pthread_cond_signal(&c);
            pthread_mutex_unlock(&m);
            break;
        case 5: {
            struct timespec t = in(200);
            pthread_mutex_lock(&m);
            while (!queue && pthread_cond_timedwait(&c, &m, &t) != ETIMEDOUT)
                ;
            if (queue)
                queue--;
            pthread_mutex_unlock(&m);
        } break;
        case 6:
            sem_wait(&s);
            jitter();
            sem_post(&s);
            break;
        case 7: {
            struct timespec t = in(50);
            if (sem_trywait(&free_) == 0 || sem_timedwait(&free_, &t) == 0) {
                jitter();
                sem_post(&free_);
            }
        } break;
        case 8:
            pthread_rwlock_rdlock(&w);
            jitter();
            pthread_rwlock_unlock(&w);
            break;
        case 9: {
            struct timespec t = in(60);
            if (pthread_rwlock_timedwrlock(&w, &t) == 0) {
                jitter();
                pthread_rwlock_unlock(&w);
            }
        } break;
        case 10:
            pthread_spin_lock(&sp);
            shared++;
            pthread_spin_unlock(&sp);
            pthread_mutex_lock(&r);
            pthread_mutex_lock(&r);
            pthread_mutex_unlock(&r);
            pthread_mutex_unlock(&r);
            break;
        case 11: {
            pthread_t t;
            pthread_create(&t, 0, child, 0);
            if (rand_r(&seed) % 2) {
#ifndef UNLOCKED
                pthread_mutex_lock(&m);
#endif
                pthread_cond_broadcast(&c);
#ifndef UNLOCKED
                pthread_mutex_unlock(&m);
#endif
            }
            pthread_join(t, 0);
        } break;
        }
    }
    pthread_barrier_wait(&b);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_mutex_lock(&m);
        printf("last %u %d\n", me, shared);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void)
{
    pthread_t t[N];
    pthread_mutexattr_t a;
    for (int i = 0; i < 3; i++)
        pthread_mutex_init(&k[i], 0);
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&r, &a);
    pthread_barrier_init(&b, 0, N);
    pthread_spin_init(&sp, 0);
    sem_init(&s, 0, 2);
    sem_init(&free_, 0, 1);
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], 0);
    printf("%d %d\n", shared, queue);
    return 0;
}
