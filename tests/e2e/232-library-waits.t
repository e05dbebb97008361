#!/bin/bash
# Waits of the C++ library at futexes: poet blocked says what each thread waits for, and where in the program.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >waits.cpp <<'C'
#include <atomic>
#include <barrier>
#include <future>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>
static std::latch gate(2);
static std::counting_semaphore<4> units(0);
static std::barrier<> meeting(2);
static std::atomic<int> state{0};
static std::promise<int> promise;
static void at_gate() {
    gate.wait(); // line 14
}
static void at_units() {
    units.acquire(); // line 17
}
static void at_meeting() {
    meeting.arrive_and_wait(); // line 20
}
static void at_state() {
    state.wait(0); // line 23
}
static void at_future() {
    promise.get_future().get(); // line 26
}
int main(int argc, char **)
{
    std::vector<std::thread> threads;
    for (auto f : {at_gate, at_units, at_meeting, at_state, at_future})
        threads.emplace_back(f);
    if (argc > 1) {
        gate.count_down(2);
        units.release();
        meeting.arrive_and_wait();
        state = 1;
        state.notify_all();
        promise.set_value(1);
    }
    for (auto &t : threads)
        t.join();
}
C
finished() { poet stat --json "$1" | grep -q '"finished":true'; }
for how in record traced; do
    if [ $how = record ]; then
        g++ -std=c++20 -g -pthread waits.cpp -o waits-record
        poet record -o $how.poet -- ./waits-record 2>/dev/null &
    else
        poetcc++ -trace -std=c++20 -g waits.cpp -o waits-traced
        POET_OUTPUT=$how.poet ./waits-traced &
    fi
    pids="$pids $!"
    says() {
        poet blocked $how.poet >said 2>/dev/null
        [ "$(grep -Ec "waits for an? (latch|semaphore|barrier|atomic variable|future) .* at waits.cpp:" said)" = 5 ]
    }
    if ! until_true says; then
        if ! cat /proc/$(own_processes waits-$how | head -n 1)/syscall >/dev/null 2>&1; then
            skip "the call in which a thread sleeps cannot be read here"
            done_testing
            exit
        fi
    fi
    end_own_processes waits-$how
    until_true finished $how.poet
    poet blocked $how.poet >said
    for line in 'at_gate waits for a latch .* at waits.cpp:14' 'at_units waits for a semaphore .* at waits.cpp:17' \
        'at_meeting waits for a barrier .* at waits.cpp:20' 'at_state waits for an atomic variable .* at waits.cpp:23' \
        'at_future waits for a future .* at waits.cpp:26'; do
        like "$how: poet blocked says what is waited for, and where" "$(cat said)" "^    T:$line"
    done
    like "$how: no thread is left that could end these waits" "$(cat said)" 'HANG: no .* wake the waiters of futexes'
done
like "poet blocked --json says it, too" "$(poet blocked --json record.poet)" '"waits_for": ?"future"'
# glibc's pthread_cond_destroy waits for the waiters.
cat >destroy.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int waits;
static void *work(void *p)
{
    pthread_mutex_lock(&m);
    waits = 1;
    while (waits)
        pthread_cond_wait(&more, &m);
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    for (int begun = 0; !begun;) {
        pthread_mutex_lock(&m);
        begun = waits;
        pthread_mutex_unlock(&m);
    }
#ifdef FIXED
    pthread_mutex_lock(&m);
    waits = 0;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return pthread_cond_destroy(&more);
#else
    return pthread_cond_destroy(&more); /* line 31 */
#endif
}
C
poetcc -trace -g destroy.c -o destroy
poetcc -trace -g -DFIXED destroy.c -o destroy-fixed
POET_OUTPUT=destroy.poet ./destroy &
pids="$pids $!"
destroys() { poet blocked destroy.poet >said 2>/dev/null; grep -q "^    T:main waits for a waiter to leave, to destroy CV:more at destroy.c:31" said; }
check "poet blocked says that a condition variable is destroyed that has a waiter" until_true destroys || cat said
end_own_processes destroy
POET_OUTPUT=fixed.poet ./destroy-fixed
is "the corrected program ends" "$?" 0
until_true finished fixed.poet
is "the corrected program: poet blocked reports no hang" "$(poet blocked fixed.poet)" "no thread is blocked"
poet record -o ended.poet -- ./waits-record end >/dev/null 2>&1
is "the program that sets all of it ends" "$?" 0
done_testing
