#!/bin/bash
# Futures: which thread runs the task of an awaited future, cycles over futures, and futures that no thread is left to
# set. Nothing is concluded while a thread is left that may set it.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >futures.cpp <<'C'
#include <atomic>
#include <cstring>
#include <future>
#include <thread>
#include <unistd.h>
static std::packaged_task<int()> *first, *second;
static std::shared_future<int> from_first, from_second;
static std::atomic<int> begun{0};
static std::promise<int> promise;
static void both_begun()
{
    for (begun++; begun < 2;)
        usleep(1000);
}
static int run_first() { both_begun(); return from_second.get(); } // line 15
static int run_second() { both_begun(); return from_first.get(); } // line 16
static void cycle()
{
    std::packaged_task<int()> a(run_first), b(run_second);
    first = &a, second = &b;
    from_first = a.get_future(), from_second = b.get_future();
    std::thread other([] { (*second)(); });
    (*first)();
    other.join();
}
static void unset()
{
    std::thread waiter([] { promise.get_future().get(); }); // line 28
    waiter.join();
}
static void unset_while_reading(bool timed)
{
    std::thread waiter([timed] {
        auto f = promise.get_future();
        if (timed)
            while (f.wait_for(std::chrono::seconds(1000)) != std::future_status::ready) ; // line 36
        f.get();
    });
    char c;
    if (!timed && read(0, &c, 1) == 1)
        promise.set_value(c);
    waiter.join();
}
static void broken()
{
    std::promise<int> *p = new std::promise<int>;
    auto f = p->get_future();
    std::thread other([p] { delete p; });
    try { f.get(); } catch (const std::future_error &) { }
    other.join();
}
static void asynchronous()
{
    auto f = std::async(std::launch::async, [] { return promise.get_future().get(); }); // line 54
    f.get(); // line 55
    promise.set_value(1);
}
int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    if (!strcmp(what, "cycle")) cycle();
    if (!strcmp(what, "unset")) unset();
    if (!strcmp(what, "reading")) unset_while_reading(false);
    if (!strcmp(what, "timed")) unset_while_reading(true);
    if (!strcmp(what, "broken")) broken();
    if (!strcmp(what, "async")) asynchronous();
}
C
finished() { poet stat --json "$1" | grep -q '"finished":true'; }
mkfifo never && exec 9<>never
g++ -std=c++17 -g -pthread futures.cpp -o futures-record
poetcc++ -trace -std=c++17 -g futures.cpp -o futures-traced
for how in record traced; do
    for what in cycle unset reading timed async; do
        if [ $how = record ]; then
            poet record -o $how-$what.poet -- ./futures-record $what <&9 2>/dev/null &
        else
            POET_OUTPUT=$how-$what.poet ./futures-traced $what <&9 &
        fi
        pids="$pids $!"
    done
done
says() { poet blocked "$2" >said 2>/dev/null; [ "$(grep -Ec "waits for a future .* at " said)" = "$1" ]; }
end_all() { end_own_processes futures-record; end_own_processes futures-traced; }
can_look() { cat /proc/$(own_processes futures-record | head -n 1)/syscall >/dev/null 2>&1; }
if ! until_true says 2 record-cycle.poet && ! can_look; then
    skip "the call in which a thread sleeps cannot be read here"
    end_all
    done_testing
    exit
fi
for how in record traced; do
    until_true says 2 $how-cycle.poet
    until_true says 1 $how-unset.poet
    until_true says 1 $how-reading.poet
    until_true says 1 $how-timed.poet
    until_true says 1 $how-async.poet
done
end_all
for how in record traced; do
    for what in cycle unset reading timed async; do
        until_true finished $how-$what.poet
    done
    poet blocked $how-cycle.poet >said
    like "$how: two tasks wait for each other's futures" "$(cat said)" '^DEADLOCK: 2 threads wait for each other'
    like "$how: what the main thread waits for" "$(cat said)" \
        'T:main waits for a future, its task run by T:.* \(begun at event [0-9:]+\)'
    like "$how: which task it is, and where it waits" "$(tr '\n' ' ' <said)" \
        'T:main waits for a future .* at futures.cpp:15 [^)]*\), after event [0-9:]+ +its task run by T:[^ ]*, begun at futures.cpp:22'
    is "$how: it is a deadlock for CI, too" "$(poet blocked --fail-on deadlock $how-cycle.poet >/dev/null; echo $?)" 1
    poet blocked $how-unset.poet >said
    like "$how: no thread is left that could set it" "$(cat said)" \
        '^(LIKELY )?HANG: no (remaining thread can|traced thread can still) wake the waiters of futexes'
    like "$how: where it waits" "$(cat said)" 'waits for a future .* at futures.cpp:28'
    for what in reading timed; do
        poet blocked $how-$what.poet >said
        is "$how, $what: nothing is concluded" "$(grep -Ec 'HANG|DEADLOCK|never' said)" 0
    done
    poet blocked $how-async.poet >said
    like "$how: the main thread waits for the thread of std::async" "$(cat said)" 'T:main waits (to join|for the end of) T:'
    like "$how: which waits for what the main thread sets later" "$(tr '\n' ' ' <said)" \
        'HANG: no (remaining thread can|traced thread can still) wake .* waits for a future .* at futures.cpp:54'
done
is "poet blocked --json names the thread, too" \
    "$(poet blocked --json record-cycle.poet | jq -r '[.asleep[].held_by.how] | unique[]')" task
for how in record traced; do
    if [ $how = record ]; then
        poet record -o $how-broken.poet -- ./futures-record broken >/dev/null 2>&1
    else
        POET_OUTPUT=$how-broken.poet ./futures-traced broken
    fi
    until_true finished $how-broken.poet
    is "$how: a broken promise is not a hang" "$(poet blocked $how-broken.poet)" "no thread is blocked"
done
done_testing
