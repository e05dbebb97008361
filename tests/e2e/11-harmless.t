#!/bin/bash
# Tracing changes nothing for the traced program: results, errno and messages are those of an untraced run.
. "$(dirname "$0")/lib.sh"
odd=$root/tests/e2e/odd.c
gcc -O1 "$odd" -o plain -pthread 2>/dev/null
poetcc -trace -O1 "$odd" -o traced 2>/dev/null
start_server -o h/ -q
./plain >want
wanted=$?
./traced >got 2>err
is "the exit status is that of an untraced run" $? $wanted
is "results and errno of every call are those of an untraced run" "$(cat got)" "$(cat want)"
is "a traced program prints nothing on standard error" "$(cat err)" ""
check "the trace of every call is sound" sound latest
(ulimit -n 64; ./traced >got 2>err)
is "with few file descriptors results are those of an untraced run" "$(cat got)" "$(cat want)"
stop_server
./traced >got 2>err
is "with a server of its own no child is seen by wait()" "$(cat got)" "$(cat want)"
POET_SERVER=none ./traced >got 2>err
is "without a server results are those of an untraced run" "$(cat got)$(cat err)" "$(cat want)"

# A mutex that one thread locks and another one unlocks: poet dump marks the release.
cat >handoff.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t locked;
static void *taker(void *a) { pthread_mutex_lock(&m); sem_post(&locked); return a; }
int main(void)
{
    pthread_t t;
    sem_init(&locked, 0, 0);
    for (int i = 0; i < 5; i++) {
        pthread_create(&t, NULL, taker, NULL);
        sem_wait(&locked);
        pthread_mutex_unlock(&m);
        pthread_join(t, NULL);
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
C
poetcc -trace -g handoff.c -o handoff
start_server -o o/ -q
check "a mutex is unlocked by another thread" ./handoff
check "the trace with releases by another thread is sound" sound latest
is "releases by a thread that is not the owner are marked" "$(poet dump latest | grep -c 'unlocked by a thread that is not the owner')" 5
stop_server

cat >closes.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
/* Closes descriptors that it does not know, as daemons do, and reuses their numbers. */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    int pair[2], garbage = 0, first = -1, last = -1;
    char b[16];
    for (int i = 3; i < 2000; i++) close(i);
    do {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0) break;
        if (first < 0) first = pair[0];
        last = pair[1];
    } while (pair[1] < 700);
    for (int i = 0; i < 100000; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    for (int i = first; i <= last; i++) garbage += recv(i, b, sizeof b, MSG_DONTWAIT) > 0;
    printf("%d\n", garbage);
    return 0;
}
C
poetcc -trace closes.c -o closes
start_server -o c/ -q
is "a program that closes every descriptor and reuses the numbers gets no data of libpoet on them" "$(timeout 200 ./closes 2>/dev/null)" 0

cat >many.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static pthread_barrier_t b;
static void *at_once(void *a) { pthread_barrier_wait(&b); return a; }
static void *one(void *a) { return a; }
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), all = atoi(argv[2]);
    pthread_t *t = calloc((size_t)n, sizeof *t);
    struct rusage u;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&b, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) if (pthread_create(&t[i], &small, at_once, NULL)) return 1;
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < 100; i++) { pthread_create(t, &small, one, NULL); pthread_join(*t, NULL); }
    getrusage(RUSAGE_SELF, &u);
    long before = u.ru_maxrss;
    for (int i = 0; i < all; i++) { if (pthread_create(t, &small, one, NULL)) return 2; pthread_join(*t, NULL); }
    getrusage(RUSAGE_SELF, &u);
    printf("%s\n", u.ru_maxrss - before < 4096 ? "flat" : "grows");
    return argc == 0;
}
C
poetcc -trace many.c -o many
is "500 threads at once, 5000 one after the other: memory use does not grow" "$(./many 500 5000)" flat
check "the trace of 5500 threads is sound" sound latest
is "the trace of 5500 threads has every event" "$(figure latest events)" $((5600 * 6 + 500 * 2 + 3))
# With POET_MAX_STALL_MS=0 events are dropped without waiting, of every kind; the rest of the trace stays sound.
cat >drops.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *one(void *a) { return a; }
static void *work(void *a)
{
    char name[32];
    for (int k = 0; k < 300; k++) {
        pthread_mutex_t *m = malloc(sizeof *m);
        pthread_mutex_init(m, NULL);
        for (int i = 0; i < 300; i++) { pthread_mutex_lock(m); pthread_mutex_unlock(m); }
        pthread_mutex_destroy(m);
        free(m);
        snprintf(name, sizeof name, "type %d", k);
        poet_event(poet_line("mutex", name, NULL, 0), poet_type(name, NULL), 0, 0);
        pthread_t t;
        pthread_create(&t, NULL, one, NULL);
        pthread_join(t, NULL);
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -w drops.c -o drops
is "POET_MAX_STALL_MS=0: no notice is printed" "$(POET_MAX_STALL_MS=0 POET_QUEUE_KIB=16 ./drops 2>&1)" ""
check "POET_MAX_STALL_MS=0: the run finishes" until_true finished latest
check "POET_MAX_STALL_MS=0: events were lost" test "$(figure latest lost)" -gt 0
is "POET_MAX_STALL_MS=0: no event is pending or inconsistent" "$(figure latest pending inconsistent)" "0 0"
# A stopped server makes a program wait for a bounded time only; lost events are numbered.
cat >stall.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    getchar();
    for (int i = 0; i < 20000; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    printf("%d\n", poet_lost() > 0);
    fflush(stdout);
    getchar();
    for (int i = 0; i < 100; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    return 0;
}
C
poetcc -trace stall.c -o stall
mkfifo in
POET_MAX_STALL_MS=100 POET_QUEUE_KIB=16 ./stall <in >out & program=$!
exec 5>in
connected() { poet runs | grep -q stall; }
until_true connected
stop_process $server
echo >&5
check "a program runs on while its server is stopped" until_true test -s out
is "the program was notified that events were lost" "$(cat out)" 1
kill -CONT $server
caught_up() { poet runs | grep -q "stall.* live"; }
until_true caught_up
echo >&5
exec 5>&-
wait $program
check "the run finishes after the server was resumed" until_true finished latest
is "lost events are numbered, no other fault is reported" \
    "$(figure latest pending):$(figure latest inconsistent):$(( $(figure latest events) + $(figure latest lost) ))" \
    "0:0:$((20100 * 5 + 3))"
stop_server
done_testing
