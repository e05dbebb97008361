#!/bin/bash
# poet predict reports objects that are destroyed while another thread holds them, waits at them, uses them afterwards, or
# can do so, with both source lines. Corrected and similar programs have no finding.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
# record NAME: a run that ends
record() {
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 "./$1" >/dev/null || return 1
    until_true finished "$1.poet"
}
findings() { poet predict "$1.poet" | grep '^[0-9]' || true; }
# has NAME DESTROYED USED: one finding, with these lines
has() {
    check "$1: the program ends" record "$1"
    poet predict "$1.poet" >said
    is "$1: a finding" "$(grep -c '^1  destroy-in-use: an object is destroyed that another thread uses or can still use' said)" 1
    like "$1: where it is destroyed" "$(cat said)" "^  T:.* destroyed .* at [a-z]+ \($2\) \(event"
    like "$1: where it is used" "$(cat said)" "^  T:.* used .* at [a-z]+ \($3\) \(event"
    is "$1: no other finding" "$(grep -c '^[0-9]' said)" 1
}
has_none() {
    check "$1: the program ends" record "$1"
    is "$1: no finding" "$(findings "$1")" ""
}

# The threads keep an order by plain variables, which no event records: a run does the same whatever the schedule.
cat >objects.h <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
static volatile int step;
static void reach(int n)
{
    while (__atomic_load_n(&step, __ATOMIC_SEQ_CST) < n)
        nanosleep(&(struct timespec){0, 1000000}, 0);
}
static void next(int n) { __atomic_store_n(&step, n, __ATOMIC_SEQ_CST); }
C

# ---- a mutex that another thread holds; used after it, and without an order ----
cat >held.c <<'C'
#include "objects.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    pthread_mutex_lock(&m); /* line 5 */
    next(1);
#ifndef FIXED
    reach(2);
#endif
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    reach(1);
#ifdef FIXED
    pthread_mutex_lock(&m); /* the worker is done with it */
    pthread_mutex_unlock(&m);
#endif
    pthread_mutex_destroy(&m); /* line 22 */
    next(2);
    pthread_join(t, 0);
    return 0;
}
C
poetcc -trace -g held.c -o held
poetcc -trace -g -DFIXED held.c -o held-fixed
has held held.c:22 held.c:5
has_none held-fixed

cat >own.c <<'C'
#include "objects.h"
int main(void)
{
    pthread_mutex_t m;
    pthread_mutex_init(&m, 0);
    pthread_mutex_lock(&m); /* line 6 */
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    pthread_mutex_destroy(&m); /* line 10 */
    return 0;
}
C
poetcc -trace -g own.c -o own
poetcc -trace -g -DFIXED own.c -o own-fixed
has own own.c:10 own.c:6
has_none own-fixed

for kind in mutex rwlock cond sem barrier; do
    case $kind in
    mutex) type=pthread_mutex_t init='pthread_mutex_init(&o, 0)' use='pthread_mutex_lock(&o) || pthread_mutex_unlock(&o)' destroy=pthread_mutex_destroy ;;
    rwlock) type=pthread_rwlock_t init='pthread_rwlock_init(&o, 0)' use='pthread_rwlock_rdlock(&o) || pthread_rwlock_unlock(&o)' destroy=pthread_rwlock_destroy ;;
    cond) type=pthread_cond_t init='pthread_cond_init(&o, 0)' use='pthread_cond_signal(&o)' destroy=pthread_cond_destroy ;;
    sem) type=sem_t init='sem_init(&o, 0, 0)' use='sem_post(&o)' destroy=sem_destroy ;;
    barrier) type=pthread_barrier_t init='pthread_barrier_init(&o, 0, 1)' use='pthread_barrier_wait(&o)' destroy=pthread_barrier_destroy ;;
    esac
    # AFTER: the thread uses it after it was destroyed; else before that, in no order with it. AGAIN: another one is
    # initialized there first. JOINED: the thread is joined first.
    cat >"$kind.c" <<C
#include "objects.h"
static $type o;
static void *work(void *p)
{
#if defined(AFTER) || defined(AGAIN)
    reach(2);
#endif
    return p + ($use ? 0 : 0); /* line 8 */
}
static void *first(void *p)
{
    work(p);
    next(1);
    return p;
}
int main(void)
{
    pthread_t t;
    int made = $init;
#if defined(AFTER) || defined(AGAIN)
    made = $use;
    pthread_create(&t, 0, work, 0);
#else
    pthread_create(&t, 0, first, 0);
    reach(1);
#endif
#ifdef JOINED
    pthread_join(t, 0);
#endif
    $destroy(&o); /* line 30 */
#ifdef AGAIN
    made = $init;
#endif
    next(2);
#ifndef JOINED
    pthread_join(t, 0);
#endif
    return made & 0;
}
C
    sed -i 's/^    return p + (\(.*\) ? 0 : 0);/    return (void)(\1), p;/' "$kind.c"
    for way in AFTER AGAIN JOINED UNORDERED; do
        poetcc -trace -g -D$way "$kind.c" -o "$kind-$way"
    done
    has "$kind-AFTER" "$kind.c:30" "$kind.c:8"
    has "$kind-UNORDERED" "$kind.c:30" "$kind.c:8"
    has_none "$kind-AGAIN"
    has_none "$kind-JOINED"
done

# ---- waiters ----
cat >waits.c <<'C'
#include "objects.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static int waits, done;
static void *work(void *p)
{
#ifdef BARRIER
    next(1);
    pthread_barrier_wait(&both); /* line 10 */
#else
    pthread_mutex_lock(&m);
    waits = 1;
    while (!done)
        pthread_cond_wait(&more, &m); /* line 15 */
    pthread_mutex_unlock(&m);
#endif
    return p;
}
static void await(void)
{
    for (int begun = 0; !begun;) {
        pthread_mutex_lock(&m);
        begun = waits;
        pthread_mutex_unlock(&m);
    }
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t, 0, work, 0);
#if defined(BARRIER) && defined(FIXED)
    pthread_barrier_wait(&both);
#elif defined(BARRIER)
    reach(1);
    while (!*(volatile unsigned *)&both) /* the number of threads that came */
        nanosleep(&(struct timespec){0, 1000000}, 0);
#else
    await();
#endif
#if defined(FIXED) && !defined(BARRIER)
    pthread_mutex_lock(&m);
    done = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&m);
#endif
    pthread_barrier_destroy(&both); /* line 48 */
    pthread_cond_destroy(&more);    /* line 49 */
#ifdef FIXED
    pthread_join(t, 0);
#endif
    return 0;
}
C
# ends_never NAME DESTROYED USED: the destruction waits; the finding is there while it does
ends_never() {
    POET_OUTPUT=$1.poet "./$1" &
    pids="$pids $!"
    found() { poet predict "$1.poet" | grep -q '^1  destroy-in-use'; }
    check "$1: a finding while the program hangs" until_true found "$1"
    poet predict "$1.poet" >said
    like "$1: where it is destroyed" "$(cat said)" "^  T:main destroyed .* at [a-z]+ \($2\) \(event"
    like "$1: where a thread waits" "$(cat said)" "^  T:work used .* at [a-z]+ \($3\) \(event"
    end_own_processes "$1"
}
poetcc -trace -g waits.c -o waits
poetcc -trace -g -DFIXED waits.c -o waits-fixed
poetcc -trace -g -DBARRIER waits.c -o waits-barrier
poetcc -trace -g -DBARRIER -DFIXED waits.c -o waits-barrier-fixed
ends_never waits waits.c:49 waits.c:15
ends_never waits-barrier waits.c:48 waits.c:10
has_none waits-fixed
has_none waits-barrier-fixed

# ---- sound: what a semaphore, a count under a lock and the end of the last user order ----
cat >sound.c <<'C'
#include "objects.h"
#include <stdlib.h>
struct shared {
    pthread_mutex_t m;
    sem_t ready;
    int users;
};
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
static void leave(struct shared *s)
{
    pthread_mutex_lock(&s->m);
    pthread_mutex_unlock(&s->m);
    pthread_mutex_lock(&counts);
    int left = --s->users;
    pthread_mutex_unlock(&counts);
    if (left)
        return;
    pthread_mutex_destroy(&s->m);
    sem_destroy(&s->ready);
    free(s);
}
static void *work(void *p)
{
    leave(p);
    return 0;
}
static void *post(void *p)
{
    sem_post(p);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    sem_t done;
    struct shared *s = malloc(sizeof *s);
    pthread_mutex_init(&s->m, 0);
    sem_init(&s->ready, 0, 0);
    s->users = 3;
    pthread_create(&t[0], 0, work, s);
    pthread_create(&t[1], 0, work, s);
    leave(s);
    sem_init(&done, 0, 0);
    pthread_create(&t[2], 0, post, &done);
    sem_wait(&done);
    sem_destroy(&done);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g sound.c -o sound
has_none sound
sed 's/^struct shared {/static int atomic_count(int *n) { return __atomic_sub_fetch(n, 1, __ATOMIC_SEQ_CST); }\n&/
    s/int left = --s->users/int left = atomic_count(\&s->users)/; /lock(&counts)/d; s/^#include "objects.h"/&\n#include <stdatomic.h>/' \
    sound.c >atomic.c
poetcc -trace -g atomic.c -o atomic
has_none atomic
is "--kinds selects it" "$(poet predict --kinds destroy-in-use held.poet | grep -c '^1')" 1
is "--fail-on knows it" "$(poet predict --fail-on destroy-in-use held.poet >/dev/null; echo $?)" 1
done_testing
