#!/bin/bash
# C++ programs: threads are named after their callables, mutexes after their variables, and calls have the program's source lines.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
want="300 in all, 6 entries"
names_of() { poet dump latest --json | grep '"hidden":false' | sed -n "s/^{\"line\".*\"kind\":\"$1\".*\"name\":\"\([^\"]*\)\".*/\1/p" | sort | uniq -c | awk '{ $1 = $1; print }' | paste -sd,; }
# sites_of TYPE: the source lines of the example where such an event is made
sites_of() { poet dump latest --json | sed -n "s/.*\"type\":\"$1\".*\"site\":\"\(bank.cpp:[0-9]*\)\".*/\1/p" | sort -u; }
line_of() { grep -n -- "$1" "$root/examples/bank.cpp" | head -n 1 | sed 's/:.*//'; }
start_server -o c/ -q
try() { # try NAME: the same for every way to compile the example
    is "$1: the result is that of an untraced run" "$("$2" 2>&1 | tail -n 1)" "$want"
    check "$1: the trace is sound" sound latest
    is "$1: threads are named after what they run" "$(names_of thread)" \
        "3 Teller::work,1 async long (*)(),1 main,1 $lambda"
    is "$1: mutexes are named after their variables" "$(names_of mutex )" \
        "1 accounts[0].lock,1 accounts[1].lock,1 accounts[2].lock,1 door"
    is "$1: shared mutexes are named after their variables" "$(names_of rwlock)" "1 ledger"
    like "$1: a scoped_lock has its source line" "$(sites_of acquire)" "bank.cpp:$(line_of scoped_lock)"
    like "$1: a wait, if there was one, has its source line" "$(sites_of wait)" "^(bank.cpp:$(line_of 'opened.wait'))?$"
    like "$1: a notification has its source line" "$(sites_of signal)" "bank.cpp:$(line_of notify_all)"
    like "$1: a join has its source line" "$(sites_of join)" "bank.cpp:$(line_of 'audit.join')"
}
export POET_MAX_STALL_MS=10000
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { skip "$compiler is not installed"; continue; }
    for level in -O0 -O2; do
        CXX=$compiler poetcc++ -trace -g -std=c++20 $level "$root/examples/bank.cpp" -o bank
        lambda='main::{lambda()#1}'
        [ $compiler = clang++ ] && lambda='main::$_0'
        try "$compiler $level" ./bank
    done
done
g++ -g -std=c++20 -O2 "$root/examples/bank.cpp" -o plain -pthread
lambda='main::{lambda()#1}'
recorded() { poet record -- ./plain; }
try "poet record" recorded
cat >latch.cpp <<'C'
#include <atomic>
#include <cstdio>
#include <latch>
#include <mutex>
#include <thread>
#include <unistd.h>
static std::latch ready(1);
static std::mutex m;
static std::atomic<int> waits;
static bool asleep() /* the thread at the latch is in a futex call with the latch's address */
{
    char path[64], *at = nullptr;
    std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", waits.load());
    std::FILE *f = waits ? std::fopen(path, "r") : nullptr;
    bool is = f && std::fscanf(f, "%*d %p", (void **)&at) == 1 && at >= (char *)&ready && at < (char *)(&ready + 1);
    if (f)
        std::fclose(f);
    return is;
}
int main()
{
    std::thread t([] { waits = gettid(); ready.wait(); m.lock(); m.unlock(); });
    m.lock();
    m.unlock();
    while (!asleep())
        usleep(1000);
    ready.count_down();
    t.join();
}
C
poetcc++ -trace -g -std=c++20 latch.cpp -o latch
check "a program with a std::latch runs" ./latch
check "std::latch: the trace is sound" sound latest
check "std::latch: its futex calls are counted as untraced" test "$(figure latest untraced)" -gt 0
start=$(poet dump latest --json | sed -n 's/.*"event":"\([0-9:]*\)","type":"start".*/\1/p' | tail -n 1)
lock=$(poet dump latest --json | sed -n 's/.*"event":"\(1:[0-9]*\)","type":"unlock".*/\1/p' | head -n 1)
is "std::latch: poet order answers concurrent" "$(poet order latest "$start" "$lock" 2>warning)" concurrent
like "std::latch: poet order warns of untraced futexes" "$(cat warning)" "raw futexes are not traced"
stop_server
done_testing
