#!/bin/bash
# poet attach to processes in which all threads wait for each other to be woken: a hang, certain if no signal handler can wake
# one; the thread that runs an initializer; a condition variable that is destroyed while a thread waits on it.
. "$(dirname "$0")/lib.sh"

cat >wait.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t three;
static pthread_once_t config = PTHREAD_ONCE_INIT, logging = PTHREAD_ONCE_INIT;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static sem_t never;
static volatile int begun;
static void on_signal(int s) { (void)s; sem_post(&never); }
static void *arrives(void *p) { pthread_barrier_wait(&three); return p; }
static void *polls(void *p) { poll(0, 0, -1); return p; }
static void init_logging(void)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < 2)
        nanosleep(&(struct timespec){0, 1000000}, 0);
    pthread_once(&config, init_logging); // logging needs config
}
static void init_config(void)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < 2)
        nanosleep(&(struct timespec){0, 1000000}, 0);
    pthread_once(&logging, init_logging); // config needs logging
}
static void *configures(void *p) { pthread_once(&config, init_config); return p; }
static void *logs(void *p) { pthread_once(&logging, init_logging); return p; }
static void *consumes(void *p)
{
    pthread_mutex_lock(&m);
    begun = 1;
    pthread_cond_wait(&filled, &m);
    return p;
}
static pthread_t start(void *(*f)(void *))
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    return t;
}
int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];
    pthread_t t = 0;
    pthread_barrier_init(&three, 0, 3);
    sem_init(&never, 0, 0);
    if (!strcmp(how, "handler"))
        signal(SIGUSR1, on_signal);
    if (!strcmp(how, "polls"))
        start(polls);
    if (!strcmp(how, "once"))
        start(configures), t = start(logs);
    if (!strcmp(how, "barrier") || !strcmp(how, "polls"))
        start(arrives), t = start(arrives);
    if (!strcmp(how, "destroy")) {
        start(consumes);
        while (!begun)
            nanosleep(&(struct timespec){0, 1000000}, 0);
        pthread_mutex_lock(&m); /* until it waits */
        pthread_cond_destroy(&filled); // main destroys
    }
    if (!strcmp(how, "timed")) {
        struct timespec end = {time(0) + 1000000, 0};
        sem_timedwait(&never, &end);
    }
    if (t)
        pthread_join(t, 0);
    sem_wait(&never);
    return 0;
}
C
cc -g -pthread wait.c -o wait
start() {
    ./wait "$1" & program=$!
    pids="$pids $program"
}
at() { echo "wait.c:$(grep -n "// $1" wait.c | cut -d: -f1)"; }
says() { poet attach $program >said 2>&1; grep -Eq -- "$1" said; }

start barrier
check "a barrier: no thread can wake another" until_true says '^HANG: all 3 threads of the process wait, without a timeout, until another one of them wakes them'
like "a barrier: how many have arrived" "$(cat said)" "^    2 of 3 threads have arrived"
like "a barrier: what follows of it" "$(cat said)" '^    T:arrives.* is itself blocked on B:three and will never resume'
is "a barrier: JSON" "$(poet attach --json $program | json '.[0].diagnoses[0].outcome')" never
start one
check "one thread" until_true says '^HANG: the only thread of the process waits for another one to wake it'
start handler
check "a signal handler could wake it" until_true says '^LIKELY HANG: the only thread of the process waits'
like "a signal handler could wake it: the reason" "$(cat said)" '^    uncertain: a signal handler could wake one'
is "a signal handler could wake it: JSON" "$(poet attach --json $program | json '.[0].diagnoses[0].outcome')" likely_never
start once
check "initializers that wait for each other: a deadlock" until_true says '^DEADLOCK: 2 threads wait for each other'
like "initializers: the thread that runs one" "$(cat said)" '^    T:configures waits for O:logging, initialized by T:logs \(according to its stack\)'
like "initializers: the line" "$(cat said)" "^T:configures waits on O:logging at $(at 'config needs')"
start destroy
check "a condition variable in use is destroyed" until_true says "^T:main waits to destroy CV:filled at $(at 'main destroys')"
like "it is destroyed in use: by which thread" "$(cat said)" '^    until T:consumes no longer waits on it'
like "it is destroyed in use: a hang" "$(cat said)" '^HANG: all 2 threads of the process wait'

# ---- correct: another thread or time can wake them ----
start polls
check "correct: a thread polls" until_true says '^    2 of 3 threads have arrived'
until_true says 'T:polls in poll'
is "correct: a thread polls: no diagnosis" "$(grep -E 'HANG|DEADLOCK|never resume' said)" ""
start timed
check "correct: a timeout" until_true says '^T:main requests Sem:never at .* \(with timeout\)'
is "correct: a timeout: no diagnosis" "$(grep -E 'HANG|DEADLOCK|never resume' said)" ""
done_testing
