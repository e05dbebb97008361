/* Calls in all their odd ways: prints what each of them gave, and errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static volatile int go, cleaned;
#define SHOW(call)                                                                                 \
    do {                                                                                           \
        errno = 77;                                                                                \
        int e_ = (int)(call);                                                                      \
        printf("%-48s %d %d\n", #call, e_, errno);                                                 \
    } while (0)
static void clean(void *a)
{
    (void)a;
    cleaned++;
    pthread_mutex_unlock(&m);
}
static void *locks(void *a)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    while (!go)
        ;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (int i = 0; i < 50000; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    } /* no cancellation point */
    cleaned += 10;
    sem_wait(&s); /* one, although it need not block */
    return a;
}
static void *waits(void *a)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(clean, NULL);
    go = 1;
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(0);
    return a;
}
static void *nothing(void *a) { return a; }
static void *exits(void *a)
{
    (void)a;
    pthread_exit((void *)5);
}
static void handler(int n)
{
    (void)n;
    sem_post(&s);
}
int main(void)
{
    struct timespec bad = {0, 2000000000}, past = {1, 0};
    pthread_t t;
    void *r;
    int v;
    pthread_mutexattr_t at;
    pthread_mutex_t check, rec;
    pthread_mutexattr_init(&at);
    pthread_mutexattr_settype(&at, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&check, &at);
    pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&rec, &at);
    sem_init(&s, 0, 0);
    SHOW(pthread_mutex_lock(&check));
    SHOW(pthread_mutex_lock(&check));
    SHOW(pthread_mutex_trylock(&check));
    SHOW(pthread_mutex_unlock(&check));
    SHOW(pthread_mutex_unlock(&check));
    SHOW(pthread_mutex_destroy(&check));
    SHOW(pthread_mutex_lock(&rec));
    SHOW(pthread_mutex_lock(&rec));
    SHOW(pthread_mutex_unlock(&rec));
    SHOW(pthread_mutex_unlock(&rec));
    SHOW(pthread_mutex_lock(&held));
    SHOW(pthread_mutex_timedlock(&held, &past));
    SHOW(pthread_mutex_timedlock(&held, &bad));
    SHOW(pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &past));
    SHOW(pthread_mutex_trylock(&held));
    SHOW(pthread_cond_timedwait(&c, &held, &past));
    SHOW(pthread_cond_timedwait(&c, &held, &bad));
    SHOW(pthread_cond_signal(&c));
    SHOW(pthread_cond_broadcast(&c));
    SHOW(sem_trywait(&s));
    SHOW(sem_timedwait(&s, &past));
    SHOW(sem_post(&s));
    SHOW(sem_timedwait(&s, &bad));
    SHOW(sem_clockwait(&s, CLOCK_PROCESS_CPUTIME_ID, &past));
    SHOW(sem_wait(&s));
    sem_post(&s);
    pthread_create(&t, NULL, locks, NULL);
    SHOW(pthread_cancel(t));
    go = 1;
    SHOW(pthread_join(t, &r));
    sem_getvalue(&s, &v);
    printf("cancelled at sem_wait, not before: %d %d %d\n", r == PTHREAD_CANCELED, cleaned, v);
    go = 0;
    pthread_create(&t, NULL, waits, NULL);
    while (!go)
        ;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    SHOW(pthread_cancel(t));
    SHOW(pthread_join(t, &r));
    printf("cancelled in a wait: %d %d\n", r == PTHREAD_CANCELED, cleaned);
    SHOW(pthread_mutex_trylock(&m));
    SHOW(pthread_mutex_unlock(&m));
    pthread_create(&t, NULL, exits, NULL);
    SHOW(pthread_tryjoin_np(t, NULL) == EBUSY || 1);
    pthread_create(&t, NULL, exits, NULL);
    SHOW(pthread_join(t, &r));
    printf("exited with %ld\n", (long)r);
    pthread_create(&t, NULL, nothing, NULL);
    SHOW(pthread_detach(t));
    struct sigaction sa = {.sa_handler = handler};
    sigaction(SIGUSR1, &sa, NULL);
    raise(SIGUSR1);
    SHOW(sem_wait(&s));
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        pthread_create(&t, NULL, nothing, NULL);
        pthread_join(t, NULL);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    errno = 0;
    printf("no other child: %d %d\n", wait(&status) == -1, errno == ECHILD);
    SHOW(pthread_setname_np(pthread_self(), "a name that is far too long"));
    return 3;
}
