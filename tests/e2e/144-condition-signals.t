#!/bin/bash
# Condition variables: wakeups with a certain signal, and wakeups with several possible signals.
. "$(dirname "$0")/lib.sh"

# note_of FILE NAME: the event with the note NAME; answer FILE: how poet order relates notes p and q
note_of() { poet dump "$1" --json | sed -n "s/^{\"event\":\"\([0-9:]*\)\".*\"note $2\".*/\1/p"; }
answer() { poet order "$1" "$(note_of "$1" p)" "$(note_of "$1" q)" 2>why; }
doubtful() { poet dump "$1" --json | grep -cE '"uncertain":"(signal|thread)"'; }
texts() { poet dump "$1" --json | grep -c "$2"; }

cat >turns.h <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define PLAYERS 5
/* Players take turns, each after a broadcast of the one before it, and wake after the broadcasts of several. */
struct table {
    pthread_mutex_t m, other;
    pthread_cond_t c;
    int turn;
};
static struct table *table;
static void play(long me, int unlocked)
{
    for (int round = 0; round < 12; round++) {
        pthread_mutex_lock(&table->m);
        while (table->turn != me) pthread_cond_wait(&table->c, &table->m);
        table->turn = (table->turn + 1) % PLAYERS;
        if (!unlocked) pthread_cond_broadcast(&table->c);
        pthread_mutex_unlock(&table->m);
        if (unlocked) pthread_cond_broadcast(&table->c);
    }
    poet_text(me == 0 ? "note p" : me == 1 ? "note q" : "note");
}
static void lay(int shared)
{
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    table = mmap(0, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&m);
    pthread_condattr_init(&c);
    if (shared) pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    if (shared) pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&table->m, &m);
    pthread_cond_init(&table->c, &c);
}
C
cat >threads.c <<'C'
#include "turns.h"
static void *player(void *me) { play((long)me, 0); return me; }
int main(void)
{
    pthread_t t[PLAYERS];
    lay(0);
    for (long i = 0; i < PLAYERS; i++) pthread_create(&t[i], 0, player, (void *)i);
    for (int i = 0; i < PLAYERS; i++) pthread_join(t[i], 0);
    return 0;
}
C
cat >processes.c <<'C'
#include "turns.h"
int main(int argc, char **argv)
{
    (void)argv;
    lay(1);
    for (long i = 0; i < PLAYERS; i++)
        if (fork() == 0) {
            play(i, argc > 1);
            exit(0);
        }
    while (wait(0) > 0) continue;
    return 0;
}
C

for kind in threads processes; do
    check "$kind: the program compiles" poetcc -trace -g $kind.c -o $kind
    POET_OUTPUT=$kind.poet ./$kind
    check "$kind: signals with the mutex held: the trace passes poet check" sound $kind.poet
    is "$kind: signals with the mutex held: no wakeup is uncertain" "$(doubtful $kind.poet)" 0
    like "$kind: signals with the mutex held: texts name the possible wakers" \
        "$(texts $kind.poet 'possible wakers\|may have signaled')" '^[1-9]'
    is "$kind: signals with the mutex held: unordered notes are concurrent" "$(answer $kind.poet)" concurrent
done
POET_OUTPUT=bare.poet ./processes unlocked
check "processes: signals without the mutex: the trace passes poet check" sound bare.poet
like "processes: signals without the mutex: wakeups are uncertain" "$(doubtful bare.poet)" '^[1-9]'

# ---- two mutexes, one after the other; a signal by untraced code ----
echo '#include <pthread.h>
static void *signals(void *c) { pthread_cond_signal(c); return c; }
void hidden(pthread_cond_t *c) { pthread_t t; pthread_create(&t, 0, signals, c); pthread_join(t, 0); }' >hidden.c
cc -shared -fPIC hidden.c -o libhidden.so
cat >mixed.c <<'C'
#include "turns.h"
void hidden(pthread_cond_t *);
static pthread_mutex_t *mutex;
static int waits, go, how;
static void *waiter(void *a)
{
    pthread_mutex_lock(mutex);
    waits = 1;
    while (!go) pthread_cond_wait(&table->c, mutex);
    pthread_mutex_unlock(mutex);
    return a;
}
static void *signaller(void *a)
{
    if (how < 2) pthread_mutex_lock(mutex);
    pthread_cond_signal(&table->c);
    if (how < 2) pthread_mutex_unlock(mutex);
    return a;
}
static void meet(void)
{
    pthread_t t, s;
    waits = go = 0;
    pthread_create(&t, 0, waiter, 0);
    for (int ready = 0; !ready;) { pthread_mutex_lock(mutex); ready = waits; pthread_mutex_unlock(mutex); }
    if (how == 2) pthread_mutex_lock(mutex); /* so that the waiter does not wake before the last signal */
    pthread_create(&s, 0, signaller, 0);
    pthread_join(s, 0);
    if (how < 2) pthread_mutex_lock(mutex);
    go = 1;
    if (how == 1) hidden(&table->c);
    pthread_cond_signal(&table->c);
    pthread_mutex_unlock(mutex);
    pthread_join(t, 0);
}
int main(int argc, char **argv)
{
    (void)argv;
    how = argc - 1;
    lay(0);
    pthread_mutex_init(&table->other, 0);
    mutex = &table->m;
    meet();
    mutex = &table->other;
    meet();
    return 0;
}
C
poetcc -trace -g mixed.c -o mixed -L. -lhidden -Wl,-rpath,"$work"
POET_OUTPUT=mixed.poet ./mixed
check "one mutex after the other: the trace passes poet check" sound mixed.poet
is "one mutex after the other: no wakeup is uncertain" "$(doubtful mixed.poet)" 0
POET_OUTPUT=hidden.poet ./mixed hidden
check "signal of an untraced thread: the trace passes poet check" sound hidden.poet
like "signal of an untraced thread: the wakeup is uncertain" "$(doubtful hidden.poet)" '^[1-9]'
POET_OUTPUT=several.poet ./mixed without mutex
check "signals of several threads, one without the mutex: the trace passes poet check" sound several.poet
is "signals of several threads, one without the mutex: both wakeups are uncertain" "$(doubtful several.poet)" 2

done_testing
