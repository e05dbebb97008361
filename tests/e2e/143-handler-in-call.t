#!/bin/bash
# A signal handler that locks, posts or waits while its thread is blocked in any call: the trace conforms to its
# target description.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >interrupted.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t in_handler = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t s, handled, leave;
static volatile int initialising, signalled;
static int file_of(void) { return open("locked", O_RDWR | O_CREAT, 0600); }
static void *nothing(void *p) { return p; }
static void handler(int number)
{
    pthread_t t;
    (void)number;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&in_handler);
        pthread_mutex_unlock(&in_handler);
    }
    if (pthread_create(&t, NULL, nothing, NULL) == 0) /* waits inside a call that waits */
        pthread_join(t, NULL);
    sem_post(&handled);
}
static void initialise(void)
{
    initialising = 1;
    sem_wait(&leave);
}
static void *initialises(void *p) { pthread_once(&once, initialise); return p; }
static void *waits_here(void *p) { sem_wait(&leave); return p; }
/* The calls that are interrupted: each waits until its handler has run and it is released. */
static void *waits(void *what)
{
    pthread_t t;
    struct timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 3600;
    switch ((int)(long)what) {
    case 0: pthread_create(&t, NULL, waits_here, NULL); pthread_join(t, NULL); break;
    case 1: pthread_mutex_lock(&held); pthread_mutex_unlock(&held); break;
    case 2: pthread_mutex_lock(&m); while (!signalled) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); break;
    case 3: while (sem_wait(&s)) ; break;
    case 4: pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); break;
    case 5: pthread_barrier_wait(&barrier); break;
    case 6: pthread_once(&once, initialise); break;
    case 7: pthread_mutex_timedlock(&held, &late); pthread_mutex_unlock(&held); break;
    case 8: pthread_create(&t, NULL, waits_here, NULL); pthread_timedjoin_np(t, NULL, &late); break;
    case 9: { int f = file_of(); flock(f, LOCK_EX); close(f); } break;
    }
    return NULL;
}
/* Waits until the thread sleeps in the kernel: its handler then interrupts the call. */
static void until_it_sleeps(pid_t id)
{
    char path[64], text[256], *at = NULL;
    do {
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)id);
        FILE *f = fopen(path, "r");
        text[0] = 0;
        if (f) {
            at = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
            fclose(f);
        }
        usleep(1000);
    } while (!at || at[2] != 'S');
}
static pid_t id;
static sem_t known;
static void *begin(void *what) { id = gettid(); sem_post(&known); return waits(what); }
int main(int argc, char **argv)
{
    long what = argc > 1 ? atol(argv[1]) : 0;
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
    pthread_t t, other;
    int file = -1;
    sem_init(&s, 0, 0), sem_init(&handled, 0, 0), sem_init(&leave, 0, 0), sem_init(&known, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    sigaction(SIGUSR1, &a, NULL);
    pthread_mutex_lock(&held);
    pthread_rwlock_wrlock(&rw);
    if (what == 9)
        flock(file = file_of(), LOCK_EX);
    if (what == 6) {
        pthread_create(&other, NULL, initialises, NULL);
        while (!initialising)
            sched_yield();
    }
    pthread_create(&t, NULL, begin, (void *)what);
    sem_wait(&known);
    until_it_sleeps(id);
    for (int i = 0; i < 3; i++) {
        pthread_kill(t, SIGUSR1);
        while (sem_wait(&handled))
            ;
    }
    pthread_mutex_lock(&m);
    signalled = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&held);
    pthread_rwlock_unlock(&rw);
    sem_post(&s);
    sem_post(&leave);
    if (file >= 0)
        close(file);
    if (what == 5)
        pthread_barrier_wait(&barrier);
    pthread_join(t, NULL);
    if (what == 6)
        pthread_join(other, NULL);
    return 0;
}
C
poetcc -trace -processes -g interrupted.c -o interrupted
names=(join lock condition semaphore rdlock barrier once timedlock timedjoin flock)
for what in "${!names[@]}"; do
    check "handler during ${names[what]}: the program exits with status 0" env POET_OUTPUT="$what.poet" ./interrupted "$what"
    check "handler during ${names[what]}: the trace passes poet check" sound "$what.poet"
done
# A wait that has ended does not end a second time.
cat >twice.py <<'P'
import json, subprocess, sys
kinds = [json.loads(l)["type"] for l in subprocess.run(["poet", "dump", "--json", "0.poet"], capture_output=True, text=True).stdout.splitlines() if '"event"' in l]
print("joins" if kinds.count("join") == kinds.count("joined") else "other")
P
is "handler during join: each join event has one joined event" "$(python3 twice.py)" joins
done_testing
