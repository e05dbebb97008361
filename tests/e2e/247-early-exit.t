#!/bin/bash
# poet predict reports objects that an exit handler or a destructor destroys after main returned, or called exit(), while
# threads still use them, with both source lines; if the destructor waits for them, poet blocked says so.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >exits.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t jobs = PTHREAD_MUTEX_INITIALIZER;
static int done, stop;
static pthread_t t;
static void *work(void *p)
{
    for (int stopped = 0; !stopped;) {
        pthread_mutex_lock(&jobs); /* line 10 */
        __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
        stopped = stop;
        pthread_mutex_unlock(&jobs);
        nanosleep(&(struct timespec){0, 1000000}, 0);
    }
    return p;
}
static void clean(void)
{
#ifdef FIXED
    pthread_mutex_lock(&jobs);
    stop = 1;
    pthread_mutex_unlock(&jobs);
    pthread_join(t, 0);
#endif
#ifndef KEPT
    pthread_mutex_destroy(&jobs); /* line 27 */
#endif
}
int main(void)
{
    atexit(clean);
    pthread_create(&t, 0, work, 0);
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST))
        nanosleep(&(struct timespec){0, 1000000}, 0);
#ifdef EXIT
    exit(0);
#endif
    return 0;
}
C
findings() { poet predict "$1.poet" | grep '^[0-9]' || true; }
for way in RETURN EXIT FIXED KEPT; do
    poetcc -trace -g -D$way exits.c -o exits-$way
    POET_OUTPUT=exits-$way.poet ./exits-$way
    is "$way: the program ends" "$?" 0
    until_true finished exits-$way.poet
done
for way in RETURN EXIT; do
    poet predict exits-$way.poet >said
    is "$way: a finding" "$(findings exits-$way)" \
        "1  destroy-in-use: an object is destroyed that another thread uses or can still use"
    like "$way: where it is destroyed" "$(cat said)" '^  T:main destroyed M:jobs at clean \(exits.c:27\) \(event'
    like "$way: where it is used" "$(cat said)" '^  T:work used M:jobs.* at work \(exits.c:1[03]\) \(event'
done
is "the handler joins the thread: no finding" "$(findings exits-FIXED)" ""
is "nothing is destroyed: no finding" "$(findings exits-KEPT)" ""

cat >objects.cc <<'C'
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static struct queue {
    std::condition_variable more; // line 6
    int items = 0;
} q;
static void work()
{
    std::unique_lock<std::mutex> l(m);
    q.items = 1;
    while (q.items)
        q.more.wait(l); // line 14
}
int main()
{
    std::thread t(work);
    for (bool some = false; !some;) {
        std::lock_guard<std::mutex> l(m);
        some = q.items;
    }
#ifdef FIXED
    {
        std::lock_guard<std::mutex> l(m);
        q.items = 0;
        q.more.notify_one();
    }
    t.join();
#else
    t.detach();
#endif
}
C
poetcc++ -trace -g objects.cc -o objects
poetcc++ -trace -g -DFIXED objects.cc -o objects-fixed
for how in traced record; do
    if [ $how = traced ]; then
        POET_OUTPUT=$how.poet ./objects &
    else
        poet record -o $how.poet -- ./objects &
    fi
    pids="$pids $!"
    found() { poet predict $how.poet >said 2>/dev/null && grep -q '^1  destroy-in-use' said; }
    waits() { poet blocked $how.poet >hang 2>/dev/null && grep -q 'T:main waits for a waiter to leave, to destroy CV:q.more' hang; }
    check "$how: a finding while the destructor waits" until_true found
    like "$how: where it is destroyed" "$(cat said)" '^  T:main destroyed CV:q.more at .*queue.* \(objects.cc:5\) \(event'
    like "$how: where a thread waits" "$(cat said)" '^  T:work used CV:q.more at work.* \(objects.cc:14\) \(event'
    check "$how: poet blocked says for what the destructor waits" until_true waits
    like "$how: and where the thread waits" "$(cat hang)" '^T:work waits on CV:q.more at objects.cc:14'
    end_own_processes objects
done
POET_OUTPUT=fixed.poet ./objects-fixed
until_true finished fixed.poet
is "the thread is joined before: no finding" "$(findings fixed)" ""
is "and nothing is blocked" "$(poet blocked fixed.poet)" "no thread is blocked"
done_testing
