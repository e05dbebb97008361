#!/bin/bash
# poet predict reports locks that are held over a wait for a thread that requests them, from runs that pass: at a join, a barrier,
# a semaphore, a condition variable of another lock, and in an initializer; poet confirm makes it hang. Programs in which the
# order is enforced, or known by what the lock protects, have no finding.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
# build NAME [ARG...]: from NAME.c up to the first dash, with the macros of the arguments
build() {
    local what=$1 file=${1%%-*}
    shift
    poetcc -trace -g "$file.c" -o "$what" "$@"
}
# record NAME: a run that passes
record() {
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 "./$1" >/dev/null || return 1
    until_true finished "$1.poet"
}
# has NAME PATTERN...: a run of NAME passes, and the prediction has lines that match the patterns
has() {
    local what=$1 pattern
    shift
    check "$what: a run passes" record "$what"
    poet predict "$what.poet" >said
    for pattern; do like "$what: predicted" "$(cat said)" "$pattern"; done
    is "$what: that is one finding" "$(grep -c '^[0-9]' said)" 1
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

# These runs pass, whatever the schedule: main lets the other thread pass first, but waits for that not for ever, so that another
# run may hang.
cat >waits.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER, mail = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t phase;
static sem_t sent;
static int count, letters;
static atomic_bool touched, waiting;
static void let_pass(atomic_bool *what)
{
    for (int i = 0; i < 300 && !*what; i++)
        nanosleep(&(struct timespec){0, 1000000}, 0);
}
static void touch(void)
{
    pthread_mutex_lock(&state); /* line 19 */
    count++;
    pthread_mutex_unlock(&state);
    touched = true;
}
static void *work(void *p)
{
#ifndef LATE
    touch();
#endif
#if defined SEMAPHORE || defined SEMAPHORE_FIRST
    sem_post(&sent);
#elif defined BARRIER || defined BARRIER_FIRST
    pthread_barrier_wait(&phase);
#elif defined CONDITION
    let_pass(&waiting);
    pthread_mutex_lock(&mail);
    letters++;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&mail);
#elif defined FLAG
    pthread_mutex_lock(&state);
    letters++;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&state);
#endif
#ifdef LATE
    touch();
#endif
    return p;
}
#ifdef CHAIN
static void *leads(void *p)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return p;
}
#define work leads
#endif
int main(void)
{
    pthread_t t;
    bool known = false;
    sem_init(&sent, 0, 0);
    pthread_barrier_init(&phase, 0, 2);
    pthread_create(&t, 0, work, 0);
#ifdef SEMAPHORE_FIRST
    sem_wait(&sent);
#elif defined BARRIER_FIRST
    pthread_barrier_wait(&phase);
#elif defined FIXED
    pthread_join(t, 0);
#endif
#ifdef POLL
    while (!known) {
        pthread_mutex_lock(&state);
        known = count > 0;
        pthread_mutex_unlock(&state);
    }
#else
    let_pass(&touched);
#endif
    pthread_mutex_lock(&state); /* line 83 */
#ifdef SEMAPHORE
    sem_wait(&sent); /* line 85 */
#elif defined BARRIER
    pthread_barrier_wait(&phase); /* line 87 */
#elif defined CONDITION
    pthread_mutex_lock(&mail);
    waiting = true;
    while (!letters)
        pthread_cond_wait(&arrived, &mail); /* line 92 */
    pthread_mutex_unlock(&mail);
#elif defined FLAG
    while (!letters)
        pthread_cond_wait(&arrived, &state);
    pthread_join(t, 0);
#elif !defined FIXED
    pthread_join(t, 0); /* line 99 */
#endif
    pthread_mutex_unlock(&state);
#if defined SEMAPHORE || defined BARRIER || defined CONDITION
    pthread_join(t, 0);
#endif
    (void)known;
    return 0;
}
C
first='^1  wait-with-lock: potential deadlock \(a thread holds a lock while it waits for a thread that requests the lock\)'
held='^  T:main acquired M:state at main \(waits.c:83\) \(event [0-9:]+\), then waited for'
second='^  T:work requested M:state at touch \(waits.c:19\) \(event [0-9:]+\), before that wait can end'
for way in JOIN:T:work:99 CHAIN:T:leads:99 BARRIER:B:phase:87 SEMAPHORE:Sem:sent:85 CONDITION:CV:arrived:92; do
    variant=waits-${way%%:*} line=${way##*:} object=${way#*:} object=${object%:*}
    build "$variant" "-D${way%%:*}"
    has "$variant" "$first" "$held $object at main \\(waits.c:$line\\)" "$second"
    case $variant in
    *JOIN) confirmed "$variant" '^    T:main waits for T:work' ;;
    *CHAIN) confirmed "$variant" '^    T:work waits for M:state, held by T:main' ;;
    *) confirmed "$variant" "^HANG: no remaining thread can wake the waiters of $object" ;;
    esac
done
for way in FIXED POLL FLAG SEMAPHORE_FIRST BARRIER_FIRST; do
    build "waits-$way" "-D$way"
    has_none "waits-$way"
done
# The order is enforced for the first request only.
for way in SEMAPHORE_FIRST BARRIER_FIRST; do
    build "waits-$way-late" "-D$way" -DLATE
    has "waits-$way-late" "$first" "$held T:work at main \\(waits.c:99\\)" "$second"
done

# ---- initializers ----
cat >once.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t table = PTHREAD_ONCE_INIT;
static atomic_bool filled;
static void fill(void)
{
    pthread_mutex_lock(&state); /* line 10 */
    pthread_mutex_unlock(&state);
    filled = true;
}
static void *uses(void *p)
{
    pthread_once(&table, fill); /* line 16 */
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, uses, 0);
    for (int i = 0; i < 300 && !filled; i++)
        nanosleep(&(struct timespec){0, 1000000}, 0);
#ifdef JOIN
    pthread_join(t, 0);
#elif defined FIXED
    pthread_once(&table, fill);
#endif
    pthread_mutex_lock(&state); /* line 30 */
#ifndef FIXED
    pthread_once(&table, fill); /* line 32 */
#endif
    pthread_mutex_unlock(&state);
#ifndef JOIN
    pthread_join(t, 0);
#endif
    return 0;
}
C
build once
has once '^1  lock-order-inversion: potential deadlock \(cyclic lock order\)' \
    '^  T:uses acquired O:table at uses \(once.c:16\) \(event [0-9:]+\), then requested M:state at fill \(once.c:10\)' \
    '^  T:main acquired M:state at main \(once.c:30\) \(event [0-9:]+\), then requested O:table at main \(once.c:32\)'
confirmed once '^    T:main waits for O:table, held by T:uses'
build once-FIXED -DFIXED
build once-JOIN -DJOIN
for twin in FIXED JOIN; do has_none "once-$twin"; done

# ---- tasks of a pool ----
cat >pool.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#ifndef OUTER
#define OUTER 2
#endif
struct queue {
    struct task *first;
    pthread_cond_t more;
};
struct task {
    void (*run)(struct task *);
    struct queue *queue;
    bool done;
    struct task *next;
};
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct queue work = {0, PTHREAD_COND_INITIALIZER}, parts = {0, PTHREAD_COND_INITIALIZER};
static bool stop;
static int idle;
static atomic_int over;
static void submit(struct queue *q, struct task *t)
{
    t->next = q->first;
    q->first = t;
    pthread_cond_signal(&q->more); /* line 28 */
}
static void run(struct task *t)
{
    pthread_mutex_unlock(&state); /* line 32 */
    t->run(t);
    pthread_mutex_lock(&state);
    t->done = true;
    pthread_cond_broadcast(&ended);
}
static void finish(struct task *t)
{
    while (!t->done) {
#ifdef HELP
        struct task *other = work.first;
        if (other) {
            work.first = other->next;
            run(other);
            continue;
        }
#endif
        pthread_cond_wait(&ended, &state); /* line 49 */
    }
}
static void inner(struct task *t) { nanosleep(&(struct timespec){0, 3000000}, 0); }
static void outer(struct task *t)
{
    struct queue *q = &work;
    struct task part = {.run = inner};
#ifdef INLINE
    inner(&part);
    return;
#elif defined APART
    q = &parts;
#endif
    for (int i = 0; i < 1000 && !__atomic_load_n(&idle, __ATOMIC_RELAXED); i++)
        nanosleep(&(struct timespec){0, 1000000}, 0);
    pthread_mutex_lock(&state);
    submit(q, &part);
    finish(&part);
    pthread_mutex_unlock(&state);
    over++;
}
static void *worker(void *p)
{
    struct queue *q = p;
    pthread_mutex_lock(&state);
    for (;;) {
        while (!q->first && !stop) {
            idle++;
            pthread_cond_wait(&q->more, &state); /* line 78 */
            idle--;
        }
        struct task *t = q->first;
        if (!t)
            break;
        q->first = t->next;
        run(t);
    }
    pthread_mutex_unlock(&state);
    return p;
}
int main(void)
{
    pthread_t t[6];
    struct task tasks[OUTER];
    int threads = 0;
    while (threads < THREADS)
        pthread_create(&t[threads++], 0, worker, &work);
#ifdef APART
    pthread_create(&t[threads++], 0, worker, &parts);
#endif
    for (int i = 0; i < OUTER; i++) {
        tasks[i] = (struct task){.run = outer};
        pthread_mutex_lock(&state);
        submit(&work, &tasks[i]);
#ifdef IN_TURN
        finish(&tasks[i]);
#endif
        pthread_mutex_unlock(&state);
        for (int k = 0; k < 300 && over <= i; k++) /* lets it pass, but not for ever */
            nanosleep(&(struct timespec){0, 1000000}, 0);
    }
    pthread_mutex_lock(&state);
    for (int i = 0; i < OUTER; i++)
        finish(&tasks[i]);
    stop = true;
    pthread_cond_broadcast(&work.more);
    pthread_cond_broadcast(&parts.more);
    pthread_mutex_unlock(&state);
    while (threads > 0)
        pthread_join(t[--threads], 0);
    return 0;
}
C
build pool -DTHREADS=2
has pool '^1  nested-task \(2 occurrences\): potential deadlock \(a task waits for another one of its thread pool' \
    '^  T:worker(#2)? signaled CV:work.*more at submit \(pool.c:28\) \(event [0-9:]+\), then waited for CV:ended at finish \(pool.c:49\)' \
    '^  T:worker(#2)? took work under M:state, released at run \(pool.c:32\) \(event [0-9:]+\), and ended that wait'
confirmed pool '^HANG: no remaining thread can wake the waiters of CV:ended'
build pool-inline -DTHREADS=2 -DINLINE
build pool-apart -DTHREADS=2 -DAPART
build pool-help -DTHREADS=2 -DHELP
build pool-turn -DTHREADS=2 -DIN_TURN
build pool-large -DTHREADS=3
for twin in inline apart help turn large; do has_none "pool-$twin"; done
done_testing
