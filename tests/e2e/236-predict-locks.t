#!/bin/bash
# poet predict reports what can hang by semaphores that are used as locks, by nested read locks and by forks while another
# thread holds a lock, from runs that pass; poet confirm makes it happen. Corrected and similar programs have no finding.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
# record NAME: a run that passes
record() {
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 "./$1" >/dev/null || return 1
    until_true finished "$1.poet"
}
# build NAME [ARG...]: from NAME.c, with the macros of the arguments
build() {
    local what=$1 file=${1%%-*}
    shift
    poetcc -trace -g "$file.c" -o "$what" "$@"
}
# has NAME PATTERN...: a run of NAME passes, and the prediction has lines that match the patterns
has() {
    local what=$1 pattern
    shift
    check "$what: a run passes" record "$what"
    poet predict "$what.poet" >said
    for pattern; do like "$what: predicted" "$(cat said)" "$pattern"; done
}
# has_none NAME
has_none() {
    check "$1: a run passes" record "$1"
    is "$1: nothing is predicted" "$(poet predict "$1.poet" | grep '^[0-9]')" ""
}
# confirmed NAME PATTERN
confirmed() {
    check "$1: poet confirm makes it happen" poet confirm "$1.poet" 1 -o new.poet
    like "$1: poet confirm says how it hangs" "$output" "confirmed in attempt [0-9]+: the program hangs"
    like "$1: the trace shows it" "$(poet blocked new.poet)" "$2"
}

# These runs pass, whatever the schedule: main waits for its thread, but not for long, so that another run may hang.
cat >passing.h <<'C'
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
static atomic_bool done;
static void let_pass(void)
{
    for (int i = 0; i < 300 && !done; i++)
        nanosleep(&(struct timespec){0, 1000000}, 0);
}
C

# ---- semaphores as locks ----
cat >units.c <<'C'
#include "passing.h"
#include <pthread.h>
#include <semaphore.h>
static sem_t state, sent, turn;
static void *sends(void *p)
{
#ifdef FIXED
    sem_wait(&state);
    sem_wait(&sent);
#else
    sem_wait(&sent); /* line 11 */
#ifdef TRY
    if (sem_trywait(&state) == 0)
        sem_post(&state);
    sem_post(&sent);
    sem_post(&turn);
    return p;
#endif
    sem_wait(&state); /* line 19 */
#endif
    sem_post(&state);
    sem_post(&sent);
#ifdef LATER
    sem_post(&turn);
#endif
    done = true;
    return p;
}
static void *checks(void *p)
{
#ifdef LATER
    sem_wait(&turn);
#endif
    sem_wait(&state); /* line 34 */
    sem_wait(&sent); /* line 35 */
    sem_post(&sent);
    sem_post(&state);
    return p;
}
int main(void)
{
    pthread_t t[2];
    sem_init(&state, 0, UNITS);
    sem_init(&sent, 0, UNITS);
    sem_init(&turn, 0, 0);
    pthread_create(&t[0], 0, sends, 0);
    let_pass();
    pthread_create(&t[1], 0, checks, 0);
    pthread_join(t[1], 0);
    return pthread_join(t[0], 0);
}
C
build units -DUNITS=1
has units '^1  lock-order-inversion: potential deadlock \(cyclic lock order\)' \
    '^  T:sends acquired Sem:sent at sends \(units.c:11\) \(event [0-9:]+\), then requested Sem:state at sends \(units.c:19\)' \
    '^  T:checks acquired Sem:state at checks \(units.c:34\) \(event [0-9:]+\), then requested Sem:sent at checks \(units.c:35\)'
confirmed units '^    T:sends waits for Sem:state, last unit acquired by T:checks, which has not posted it'
build units-fixed -DUNITS=1 -DFIXED
build units-two -DUNITS=2
build units-later -DUNITS=1 -DLATER
build units-try -DUNITS=1 -DTRY
for twin in fixed two later try; do has_none "units-$twin"; done

# ---- nested read locks ----
cat >readers.c <<'C'
#define _GNU_SOURCE
#include "passing.h"
#include <pthread.h>
static pthread_rwlock_t chain;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static void *reads(void *p)
{
#ifdef GATE
    pthread_mutex_lock(&gate);
#endif
    pthread_rwlock_rdlock(&chain); /* line 11 */
#ifdef TRY
    if (pthread_rwlock_tryrdlock(&chain) == 0)
        pthread_rwlock_unlock(&chain);
#elif !defined FIXED
    pthread_rwlock_rdlock(&chain); /* line 16 */
    pthread_rwlock_unlock(&chain);
#endif
    pthread_rwlock_unlock(&chain);
#ifdef GATE
    pthread_mutex_unlock(&gate);
#endif
    done = true;
    return p;
}
static void *writes(void *p)
{
#ifdef GATE
    pthread_mutex_lock(&gate);
#endif
    pthread_rwlock_wrlock(&chain); /* line 31 */
    pthread_rwlock_unlock(&chain);
#ifdef GATE
    pthread_mutex_unlock(&gate);
#endif
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_rwlockattr_t kind;
    (void)gate;
    pthread_rwlockattr_init(&kind);
#ifndef READERS
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&chain, &kind);
    pthread_create(&t[0], 0, reads, 0);
#ifdef JOIN
    pthread_join(t[0], 0);
#endif
    let_pass();
    pthread_create(&t[1], 0, writes, 0);
#ifndef JOIN
    pthread_join(t[0], 0);
#endif
    return pthread_join(t[1], 0);
}
C
build readers
has readers '^1  read-lock-recursion: potential deadlock \(a read lock is acquired again while a writer waits\)' \
    '^  T:reads read-locked RW:chain at reads \(readers.c:11\) \(event [0-9:]+\) and again at reads \(readers.c:16\) \(event [0-9:]+\)$' \
    '^  T:writes write-locked RW:chain at writes \(readers.c:31\) \(event [0-9:]+\)$'
confirmed readers '^    T:reads waits for RW:chain, queued behind the waiting writer T:writes'
build readers-fixed -DFIXED
build readers-preferred -DREADERS
build readers-try -DTRY
build readers-gate -DGATE
build readers-join -DJOIN
for twin in fixed preferred try gate join; do has_none "readers-$twin"; done

# ---- fork ----
cat >forks.c <<'C'
#include "passing.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static void allocate(void)
{
    pthread_mutex_lock(&pool); /* line 8 */
    pthread_mutex_unlock(&pool);
}
static void *allocating(void *p)
{
    for (int i = 0; i < 100; i++)
        allocate();
    done = true;
    return p;
}
static void prepare(void) { pthread_mutex_lock(&pool); }
static void after(void) { pthread_mutex_unlock(&pool); }
static void renew(void) { pthread_mutex_init(&pool, 0); }
int main(void)
{
    pthread_t t;
    (void)prepare, (void)after, (void)renew;
#ifdef FIXED
    pthread_atfork(prepare, after, after);
#elif defined RENEW
    pthread_atfork(0, 0, renew);
#endif
    pthread_create(&t, 0, allocating, 0);
#ifdef JOIN
    pthread_join(t, 0);
#endif
    let_pass();
    pid_t child = fork(); /* line 35 */
    if (!child) {
#ifdef EXEC
        execl("/bin/true", "true", (char *)0);
#endif
        allocate(); /* line 40 */
        _exit(0);
    }
    waitpid(child, 0, 0);
#ifndef JOIN
    pthread_join(t, 0);
#endif
    return 0;
}
C
build forks
has forks '^1  fork-with-lock: the child requests a lock that another thread can hold at the fork' \
    '^  T:main(\[[0-9]+\])? forked at main \(forks.c:35\) \(event [0-9:]+\)$' \
    '^  T:allocating acquired M:pool(#2)? at allocate \(forks.c:8\) \(event [0-9:]+\)$' \
    '^  T:main\[?.* requested M:pool(#2)? in the child at allocate \(forks.c:8\) \(event [0-9:]+\)$'
confirmed forks '^HANG: M:pool.* was held by T:allocating at the fork'
build forks-fixed -DFIXED
build forks-renew -DRENEW
build forks-join -DJOIN
build forks-exec -DEXEC
for twin in fixed renew join exec; do has_none "forks-$twin"; done
is "poet predict --kinds accepts them" \
    "$(poet predict --kinds read-lock-recursion,fork-with-lock forks.poet | grep -c '^1  fork-with-lock')" 1
done_testing
