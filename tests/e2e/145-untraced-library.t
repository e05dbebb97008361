#!/bin/bash
# An untraced library uses synchronization objects of the program: poet order answers unknown where these uses may
# order events.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"

note_of() { poet dump "$1" --json | json ".[] | select(.annotations == [\"note $2\"]).event"; }
doubtful() { poet dump "$1" --json | grep -c '"uncertain":"'; }

cat >helper.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
void lib_own(void) { pthread_mutex_lock(&own); pthread_mutex_unlock(&own); }
void lib_post(sem_t *s) { sem_post(s); }
void lib_wait(sem_t *s) { while (sem_wait(s)) continue; }
void lib_lock(pthread_mutex_t *m) { pthread_mutex_lock(m); }
void lib_unlock(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
void lib_write(pthread_rwlock_t *l) { pthread_rwlock_wrlock(l); }
void lib_leave(pthread_rwlock_t *l) { pthread_rwlock_unlock(l); }
void lib_spin(pthread_spinlock_t *s) { pthread_spin_lock(s); }
void lib_unspin(pthread_spinlock_t *s) { pthread_spin_unlock(s); }
void lib_once(pthread_once_t *o, void (*f)(void)) { pthread_once(o, f); }
void lib_barrier(pthread_barrier_t *b) { pthread_barrier_wait(b); }
/* past all interposed functions, directly to the C library */
void lib_around(sem_t *s)
{
    int (*post)(sem_t *) = 0;
    *(void **)&post = dlsym(dlopen("libc.so.6", RTLD_NOW), "sem_post");
    post(s);
}
C
cat >hands.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
void lib_own(void);
void lib_post(sem_t *), lib_wait(sem_t *), lib_around(sem_t *);
void lib_lock(pthread_mutex_t *), lib_unlock(pthread_mutex_t *);
void lib_write(pthread_rwlock_t *), lib_leave(pthread_rwlock_t *);
void lib_spin(pthread_spinlock_t *), lib_unspin(pthread_spinlock_t *);
void lib_once(pthread_once_t *, void (*)(void)), lib_barrier(pthread_barrier_t *);
static sem_t s;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t sp;
static pthread_once_t o = PTHREAD_ONCE_INIT;
static pthread_barrier_t b;
static atomic_int begun;
static const char *how;
static int is(const char *what) { return strcmp(how, what) == 0; }
static void p(void) { poet_text("note p"); }
static void q(void) { poet_text("note q"); }
static void initialise(void) { atomic_store(&begun, 1); p(); }

/* What the main thread does happens before note q, each time through an object that the library uses. */
static void *second(void *a)
{
    if (is("post") || is("around")) sem_wait(&s);
    if (is("take")) lib_wait(&s);
    if (is("mutex")) pthread_mutex_lock(&m);
    if (is("both")) lib_lock(&m);
    if (is("rwlock") || is("release")) pthread_rwlock_rdlock(&l);
    if (is("spin")) pthread_spin_lock(&sp);
    if (is("barrier")) pthread_barrier_wait(&b);
    if (is("passed")) lib_barrier(&b);
    if (is("once") || is("ran")) while (!atomic_load(&begun)) sched_yield();
    if (is("once")) pthread_once(&o, initialise);
    if (is("ran")) lib_once(&o, initialise);
    if (is("own")) lib_own();
    q();
    if (is("mutex")) pthread_mutex_unlock(&m);
    if (is("both")) lib_unlock(&m);
    if (is("rwlock") || is("release")) pthread_rwlock_unlock(&l);
    if (is("spin")) pthread_spin_unlock(&sp);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t;
    how = argc > 1 ? argv[1] : "";
    sem_init(&s, 0, 0);
    pthread_spin_init(&sp, 0);
    pthread_barrier_init(&b, 0, 2);
    if (is("alone")) { /* one thread alone uses the object, traced and untraced: no order is hidden */
        lib_lock(&m);
        lib_unlock(&m);
        lib_lock(&m);
        lib_unlock(&m);
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    if (is("mutex") || is("both")) lib_lock(&m);
    if (is("rwlock") || is("release")) lib_write(&l);
    if (is("spin")) lib_spin(&sp);
    pthread_create(&t, 0, second, 0);
    if (is("once")) lib_once(&o, initialise);
    else if (is("ran")) pthread_once(&o, initialise);
    else p();
    if (is("post")) lib_post(&s);
    if (is("around")) lib_around(&s);
    if (is("take")) sem_post(&s);
    if (is("mutex") || is("both")) lib_unlock(&m);
    if (is("rwlock")) lib_leave(&l);
    if (is("release")) pthread_rwlock_unlock(&l);
    if (is("spin")) lib_unspin(&sp);
    if (is("barrier")) lib_barrier(&b);
    if (is("passed")) pthread_barrier_wait(&b);
    if (is("own")) lib_own();
    pthread_join(t, 0);
    return 0;
}
C
cc -shared -fPIC helper.c -o libhelper.so
check "the program compiles with the untraced library" \
    poetcc -trace -g hands.c -o hands -L. -lhelper -Wl,-rpath,"$work"

for how in post around take mutex both rwlock release spin once ran barrier passed; do
    POET_OUTPUT=$how.poet ./hands $how
    check "$how: the trace passes poet check" sound $how.poet
    is "$how: events that only untraced uses order are unknown to poet order" \
        "$(poet order $how.poet "$(note_of $how.poet p)" "$(note_of $how.poet q)" 2>why)" unknown
    reason="untraced code used an object of the program"
    [ $how = barrier ] && reason="barrier rounds could not be distinguished"
    like "$how: poet order gives the reason" "$(cat why)" "$reason"
done
for how in own alone; do
    POET_OUTPUT=$how.poet ./hands $how
    check "$how: the trace passes poet check" sound $how.poet
    is "$how: no event is uncertain" "$(doubtful $how.poet)" 0
    is "$how: poet order answers concurrent for the notes" \
        "$(poet order $how.poet "$(note_of $how.poet p)" "$(note_of $how.poet q)" 2>why)" concurrent
done

done_testing
