#!/bin/bash
# Waits and critical paths of real programs attributed to functions, as they follow from event times and the programs' own clocks.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/tables.sh"
export POET_QUIET=1

# A lock is requested by two threads while it is held.
cat >convoy.c <<'C'
#include "work.h"
#include "asleep.h"
pthread_barrier_t all;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct sleeper first, second;
NI void before(int ms) { work("before", ms); }
NI void g(void) { work("g", 30); }
NI void h(void) { work("h", 20); }
NI void k(void) { work("k", 5); }
NI void *p0(void *p)
{
    pthread_mutex_lock(&m);
    pthread_barrier_wait(&all);
    g();
    until_asleep(&second, 1);
    pthread_mutex_unlock(&m);
    return p;
}
NI void *p1(void *p)
{
    pthread_barrier_wait(&all);
    before(10);
    about_to_wait(&first);
    pthread_mutex_lock(&m);
    h();
    pthread_mutex_unlock(&m);
    return p;
}
NI void *p2(void *p)
{
    pthread_barrier_wait(&all);
    before(15);
    until_asleep(&first, 1);
    about_to_wait(&second);
    pthread_mutex_lock(&m);
    k();
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t[3];
    void *(*of[3])(void *) = {p0, p1, p2};
    pthread_barrier_init(&all, 0, 3);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, of[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
C
# Late threads delay others, which are late in turn.
cat >late.c <<'C'
#include "work.h"
#include "asleep.h"
pthread_barrier_t all, end;
sem_t s[2];
struct sleeper at[3];
NI void late(void) { work("late", 60); }
NI void f(const char *name, int ms) { work(name, ms); }
NI void *p0(void *p)
{
    pthread_barrier_wait(&all);
    late();
    for (int i = 1; i < 3; i++) until_asleep(&at[i], 1);
    sem_post(&s[0]);
    about_to_wait(&at[0]);
    pthread_barrier_wait(&end);
    return p;
}
NI void *p1(void *p)
{
    pthread_barrier_wait(&all);
    f("f p1", 10);
    about_to_wait(&at[1]);
    sem_wait(&s[0]);
    f("g p1", 10);
    until_asleep(&at[0], 1);
    sem_post(&s[1]);
    about_to_wait(&at[1]);
    pthread_barrier_wait(&end);
    return p;
}
NI void *p2(void *p)
{
    pthread_barrier_wait(&all);
    f("f p2", 10);
    about_to_wait(&at[2]);
    sem_wait(&s[1]);
    f("g p2", 5);
    until_asleep(&at[1], 2);
    pthread_barrier_wait(&end);
    return p;
}
int main(void)
{
    pthread_t t[3];
    void *(*of[3])(void *) = {p0, p1, p2};
    pthread_barrier_init(&all, 0, 3);
    pthread_barrier_init(&end, 0, 3);
    for (int i = 0; i < 2; i++) sem_init(&s[i], 0, 0);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, of[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
C

# accepted PROGRAM: repeats the run if the threads arrived in another order on a busy machine
accepted() {
    for _ in 1 2 3 4 5; do
        rm -f "$1.poet"
        poet record -o "$1.poet" "./$1" >"$1.out"
        poet dump --json "$1.poet" >"$1.dump"
        poet waits --by wait --tree --json "$1.poet" >"$1.waits"
        poet path --by piece --json "$1.poet" >"$1.path"
        said=$(python3 "$root/tests/e2e/accepted.py" "$1" "$1.out" "$1.dump" "$1.waits" "$1.path" 2>&1)
        case $said in "not as planned"*) ;; *) break ;; esac
    done
    echo "$said"
}
for p in convoy late; do
    check "$p.c compiles with -profile" poetcc -profile -g -O1 -no-pie $p.c -o $p -lpthread
    is "$p: attributions of waits and segments of the path are as computed" "$(accepted $p)" "as it follows"
    check "$p: the trace is sound" sound $p.poet
done
done_testing
