#!/bin/bash
# poet confirm makes a signal arrive while its thread holds the lock that the handler requests, and makes a thread use an
# object after its destruction; corrected programs have nothing to confirm.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >handler.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static volatile int handled;
static int counted;
static void pass(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, 0); }
static void count(int reads)
{
#ifdef RWLOCK
    if (reads)
        pthread_rwlock_rdlock(&rw);
    else
        pthread_rwlock_wrlock(&rw);
    counted += !reads;
    pthread_rwlock_unlock(&rw);
#else
    pthread_mutex_lock(&m);
    counted += !reads;
    pthread_mutex_unlock(&m);
#endif
}
static void handle(int sig)
{
    count(0);
    handled += sig > 0;
}
static void mask(int how)
{
    sigset_t set;
    sigfillset(&set);
#ifdef FIXED
    pthread_sigmask(how, &set, 0);
#endif
    (void)how;
}
static void section(void)
{
    mask(SIG_BLOCK);
    count(1);
    mask(SIG_UNBLOCK);
}
static pthread_t first;
static void *operator(void *p)
{
    pass(20);
    pthread_kill(first, SIGUSR1);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    struct itimerval often = {{0, 50000}, {0, 50000}};
    int timer = argc > 1 && !strcmp(argv[1], "timer");
    first = pthread_self();
    signal(SIGUSR1, handle);
    signal(SIGALRM, handle);
    if (timer)
        setitimer(ITIMER_REAL, &often, 0);
    else
        pthread_create(&t, 0, operator, 0);
    section();
    while (handled < 1 + timer) {
        pass(1);
        if (timer)
            section();
    }
    section();
    if (!timer)
        pthread_join(t, 0);
    return 0;
}
C
finished() { poet stat --json "$1" | grep -q '"finished":true'; }
# record NAME PROGRAM [ARG...]: a run that passes
record() {
    local name=$1
    shift
    rm -f "$name.poet"
    POET_OUTPUT=$name.poet timeout 60 "$@" || return 1
    until_true finished "$name.poet"
}
confirms() { poet confirm -q "$@" >said 2>&1; }
poetcc -trace -g handler.c -o handler
poetcc -trace -g -DRWLOCK handler.c -o handler-rw
poetcc -trace -g -DFIXED handler.c -o handler-fixed
for run in handler handler-rw 'handler timer'; do
    as=${run/ /-}
    check "$as: a run passes" record "$as" ./$run
    check "$as: poet confirm reproduces it" confirms "$as.poet" 1
    like "$as: the program hangs" "$(cat said)" 'confirmed in attempt [0-9]+: the program hangs; trace: '"$as"'.confirmed.poet'
    like "$as: its thread waits for itself" "$(cat said)" '^DEADLOCK: a thread waits for itself'
    like "$as: in the handler" "$(cat said)" 'T:main waits for (M:m|RW:rw) in the handler of SIG(USR1|ALRM).*, (read-locked|held) by T:main \(acquired at'
done
check "corrected: a run passes" record fixed ./handler-fixed
is "corrected: nothing to confirm" "$(poet predict fixed.poet | grep -c '^[0-9]')" 0
check "its trace is sound" sound handler.confirmed.poet

cat >destroy.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
static pthread_mutex_t m;
static pthread_rwlock_t rw;
static pthread_cond_t cv;
static sem_t sem;
static pthread_barrier_t b;
static const char *what;
static int is(const char *name) { return !strcmp(what, name); }
static void *work(void *p)
{
    if (is("mutex"))
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    if (is("rwlock"))
        pthread_rwlock_rdlock(&rw), pthread_rwlock_unlock(&rw);
    if (is("cond"))
        pthread_cond_signal(&cv);
    if (is("sem"))
        sem_post(&sem);
    if (is("barrier"))
        pthread_barrier_wait(&b);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    what = argv[argc - 1];
    pthread_mutex_init(&m, 0), pthread_rwlock_init(&rw, 0), pthread_cond_init(&cv, 0);
    sem_init(&sem, 0, 0), pthread_barrier_init(&b, 0, 1);
    pthread_create(&t, 0, work, 0);
    nanosleep(&(struct timespec){0, 50000000}, 0); /* the thread is done by then, mostly */
    if (is("mutex"))
        pthread_mutex_destroy(&m);
    if (is("rwlock"))
        pthread_rwlock_destroy(&rw);
    if (is("cond"))
        pthread_cond_destroy(&cv);
    if (is("sem"))
        sem_destroy(&sem);
    if (is("barrier"))
        pthread_barrier_destroy(&b);
    pthread_join(t, 0);
    return 0;
}
C
poetcc -trace -g destroy.c -o destroy
for what in mutex rwlock cond sem barrier; do
    check "$what: a run passes" record "$what" ./destroy "$what"
    check "$what: poet confirm makes it happen" confirms "$what.poet" 1
    like "$what: it was destroyed first" "$(cat said)" \
        'confirmed in attempt [0-9]+: the object was destroyed before a thread used it; trace: '"$what"'.confirmed.poet'
done
done_testing
