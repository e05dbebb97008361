#!/bin/bash
# Trace lines that could not be created: poet order answers unknown where their objects may order events, and only
# there.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 POET_QUEUE_KIB=16 POET_MAX_STALL_MS=0

cat >lines.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* The first thread fills its queue while the server is stopped, so that the lines of the objects that it uses then
 * cannot be announced. Each of the next threads is ordered after it by one of these objects, the last one is not. */
enum { OTHERS = 6 };
static struct objects {
    pthread_mutex_t mutex, held;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    pthread_once_t once;
    sem_t semaphore;
} *o;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static void pause_until(int wanted)
{
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != wanted)
        usleep(1000);
}
static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST); }
static void nothing(void) { (void)0; }
static void *first(void *a)
{
    poet_text("first");
    next();
    pause_until(2);
    for (int i = 0; i < 40000; i++)
        pthread_mutex_lock(&own), pthread_mutex_unlock(&own);
    pthread_mutex_lock(&o->mutex), pthread_mutex_unlock(&o->mutex);
    pthread_rwlock_wrlock(&o->rwlock), pthread_rwlock_unlock(&o->rwlock);
    pthread_spin_init(&o->spin, 0);
    pthread_spin_lock(&o->spin), pthread_spin_unlock(&o->spin);
    pthread_once(&o->once, nothing);
    sem_init(&o->semaphore, 0, 0), sem_post(&o->semaphore);
    pthread_mutex_lock(&o->held);
    next();
    pause_until(4);
    pthread_mutex_unlock(&o->held);
    next();
    pause_until(99);
    return a;
}
static void *other(void *number)
{
    int me = (int)(long)number;
    poet_text("begins %d", me);
    pause_until(5 + me);
    if (me == 0) pthread_mutex_lock(&o->mutex);
    if (me == 1) pthread_rwlock_rdlock(&o->rwlock);
    if (me == 2) pthread_spin_lock(&o->spin);
    if (me == 3) pthread_once(&o->once, nothing);
    if (me == 4) sem_wait(&o->semaphore);
    if (me == 5) pthread_mutex_lock(&o->held);
    poet_text("other %d", me);
    if (me == 0) pthread_mutex_unlock(&o->mutex);
    if (me == 1) pthread_rwlock_unlock(&o->rwlock);
    if (me == 2) pthread_spin_unlock(&o->spin);
    if (me == 5) pthread_mutex_unlock(&o->held);
    next();
    pause_until(99);
    return NULL;
}
int main(void)
{
    pthread_t t[OTHERS + 2];
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    char c;
    o = calloc(1, sizeof *o);
    o->rwlock = rwlock, o->mutex = o->held = mutex, o->once = (pthread_once_t)PTHREAD_ONCE_INIT;
    pthread_create(&t[0], NULL, first, NULL);
    pause_until(1);
    for (long i = 0; i <= OTHERS; i++)
        pthread_create(&t[i + 1], NULL, other, (void *)i);
    puts("ready"), fflush(stdout);
    if (read(0, &c, 1) == 1)
        next();
    pause_until(3);
    puts("full"), fflush(stdout);
    if (read(0, &c, 1) == 1)
        next();
    pause_until(5 + OTHERS + 1);
    __atomic_store_n(&turn, 99, __ATOMIC_SEQ_CST);
    for (int i = 0; i < OTHERS + 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -g lines.c -o lines
note_of() { poet dump --json lines.poet | sed -n 's/^{"event":"\([0-9:]*\)".*"annotations":\["'"$1"'"\].*/\1/p'; }
start_server -o lines.poet -q
mkfifo go
./lines <go >said &
program=$!
exec 3>go
until_true grep -q ready said
begun() { [ "$(poet dump --json latest | grep -c '"begins ')" = 7 ]; }
check "the threads begin" until_true begun
stop_process "$server"
printf x >&3
until_true grep -q full said
kill -CONT "$server"
printf x >&3
exec 3>&-
wait $program
check "the run finishes" until_true finished latest
stop_server
like "poet stat reports a trace line that could not be created" "$(poet stat lines.poet)" '^not traced +a trace line could not be created$'
first=$(note_of first)
order() { poet order lines.poet "$1" "$2" 2>&1 | tr '\n' ' '; }
for i in 0 1 2 3 4; do
    is "events ordered only by object $i without a line are unknown to poet order" \
        "$(order "$first" "$(note_of "other $i")")" "poet order: unknown: a trace line could not be created unknown "
done
like "events ordered by a release after the loss are before or unknown" "$(order "$first" "$(note_of "other 5")")" "before|unknown"
is "events of a thread that uses none of these objects are concurrent" "$(order "$first" "$(note_of "other 6")")" "concurrent "
is "first events of threads are concurrent" "$(order "$(note_of "begins 0")" "$(note_of "begins 1")")" "concurrent "

# Random order by many mutexes with and without lines, compared with vector clocks of the program.
poetcc -trace -g -O1 "$root/tests/e2e/vclock.c" -o vclock
start_server -o clocks.poet -q
POET_MAX_STALL_MS=1 ./vclock 6 1200 7 700 4096 &
clocks=$!
while kill -0 $clocks 2>/dev/null; do
    kill -STOP "$server"
    sleep 0.01
    kill -CONT "$server"
    sleep 0.03
done
until_true finished latest
stop_server
is "random order: poet order gives no wrong answer" "$(python3 "$root/tests/e2e/vclock.py" clocks.poet 2000 1 | tail -n 1)" "wrong 0"
is "random order: all losses are attributed to their lines" "$(poet stat clocks.poet | grep 'too many concurrent losses')" ""
done_testing
