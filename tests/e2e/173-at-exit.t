#!/bin/bash
# Threads that wait when a program exits by itself are listed as waiting at exit and are not a hang; when it is
# killed, they are.
. "$(dirname "$0")/lib.sh"

cat >idle.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int work, idle;
static sem_t lines, written;
static void *serve(void *a)
{
    pthread_mutex_lock(&m);
    for (;;) {
        idle = !work;
        while (!work) pthread_cond_wait(&more, &m);
        work--;
    }
    return a;
}
static void *log_lines(void *a)
{
    for (;;) { sem_wait(&lines); sem_post(&written); }
    return a;
}
static void *wait_once(void *a)
{
    pthread_mutex_lock(&m);
    idle = 1;
    while (!work) pthread_cond_wait(&more, &m);
    pthread_mutex_unlock(&m);
    return a;
}
static void *leave(void *a) { (void)a; exit(0); }
static void until_idle(void)
{
    for (int is = 0; !is; usleep(1000)) {
        pthread_mutex_lock(&m);
        is = idle && !work;
        pthread_mutex_unlock(&m);
    }
}
int main(int n, char **v)
{
    pthread_t t, l;
    char how = n > 1 ? *v[1] : 'r';
    if (how == 'k') {
        pthread_create(&t, 0, wait_once, 0);
        until_idle();
        pthread_exit(0);
    }
    sem_init(&lines, 0, 0);
    sem_init(&written, 0, 0);
    pthread_create(&t, 0, serve, 0);
    pthread_detach(t);
    pthread_create(&l, 0, log_lines, 0);
    pthread_mutex_lock(&m);
    work++;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&m);
    sem_post(&lines);
    sem_wait(&written);
    until_idle();
    if (how == 'e') exit(0);
    if (how == '_') _exit(0);
    if (how == 'o') { pthread_create(&l, 0, leave, 0); pthread_join(t, 0); pthread_join(l, 0); }
    return 0;
}
C
gcc -g -pthread idle.c -o idle

neutral() { # NAME FILE
    check "$1: the trace is finished" until_true finished "$2"
    said=$(poet blocked "$2")
    is "$1: poet blocked reports no hang" "$(echo "$said" | grep -c -E 'HANG|DEADLOCK|LOST|hang|never|last ')" 0
    like "$1: poet blocked lists threads that wait at exit" "$said" '^waiting at exit \(the program exited by itself\):$'
    like "$1: poet blocked lists the serving thread" "$said" '^T:serve waits on CV:more at idle.c:'
    is "$1: poet blocked --json classifies no wait as a hang" \
        "$(poet blocked --json "$2" | grep -c -E '"outcome":"(never|likely_never)"|"at_exit":false')" 0
    said=$(poet report --all "$2")
    is "$1: poet report lists no hang" "$(echo "$said" | grep -c -E 'Deadlocks and hangs|never resume|blocked at end')" 0
    like "$1: poet report has a table of threads that wait at exit" "$said" '^Waiting at exit$'
}
for how in return exit other _exit; do
    poet record -o "$how.poet" -- ./idle $how 2>/dev/null
    neutral "$how" "$how.poet"
done

# A program killed while it hangs: its main thread has ended, and the other one waits for a signal that no thread
# can send.
poet record -o killed.poet -- ./idle kill 2>/dev/null &
record=$!
pids="$pids $record"
hangs() { poet blocked killed.poet | grep -q '^HANG: '; }
check "killed: poet blocked reports the hang of the live run" until_true hangs
kill -TERM "$record"
wait "$record"
check "killed: the trace is finished" until_true finished killed.poet
like "killed: poet blocked still reports the hang" "$(poet blocked killed.poet)" '^HANG: no remaining thread can wake the waiters of '
is "killed: poet blocked lists no thread as waiting at exit" "$(poet blocked killed.poet | grep -c 'at exit')" 0
like "killed: poet report lists the hang" "$(poet report --all killed.poet)" '^Deadlocks and hangs$'

# A deadlock is reported even if the program exits by itself.
cat >dead.c <<'C'
#include <pthread.h>
#include "asleep.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int asked;
static void *take(pthread_mutex_t *x, pthread_mutex_t *y)
{
    pthread_mutex_lock(x);
    pthread_barrier_wait(&both);
    __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(y);
    return 0;
}
static void *one(void *p) { (void)p; return take(&a, &b); }
static void *two(void *p) { (void)p; return take(&b, &a); }
int main(void)
{
    pthread_t t, u;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t, 0, one, 0);
    pthread_create(&u, 0, two, 0);
    while (__atomic_load_n(&asked, __ATOMIC_SEQ_CST) < 2) usleep(1000);
    until_others_sleep(); /* each waits for the other's lock */
    return 0;
}
C
gcc -g -pthread -I"$root/tests/e2e" dead.c -o dead
poet record -o dead.poet -- ./dead 2>/dev/null
check "deadlock at exit: the trace is finished" until_true finished dead.poet
like "deadlock at exit: poet blocked reports the deadlock" "$(poet blocked dead.poet)" '^DEADLOCK: '
like "deadlock at exit: poet report lists the deadlock" "$(poet report --all dead.poet)" '^deadlock'

cat >region.c <<'C'
#include <stdio.h>
int main(void)
{
    int s = 0;
#pragma omp parallel num_threads(3) reduction(+ : s)
    s += 1;
    return s != 3;
}
C
if gcc -g -fopenmp region.c -o region 2>/dev/null; then
    poet record -o region.poet -- ./region 2>/dev/null
    check "OpenMP: the trace is finished" until_true finished region.poet
    is "OpenMP: idle threads of the team are not a hang" \
        "$(poet blocked region.poet | grep -c -E 'hang|verdict')" 0
else
    skip "gcc does not support OpenMP"
fi
done_testing
