#!/bin/bash
# All measurements at once change nothing for installed programs: output, messages and status are those of an untraced run;
# ThreadSanitizer and AddressSanitizer find nothing in the instrumentation of compiled programs.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
start_server -o h/ -q
all=states,usage,memory,metrics,waits
# try NAME COMMAND...: output, messages and status are the same
try() {
    program=$1
    shift
    "$@" >want 2>want.err </dev/null
    status=$?
    poet record -l -m $all -- "$@" >got 2>got.err </dev/null
    is "$program: the exit status is that of an untraced run" $? $status
    check "$program: the output is that of an untraced run" cmp got want
    is "$program: the messages are those of an untraced run" "$(cat got.err)" "$(cat want.err)"
    check "$program: the trace is sound" sound latest
}

# ---- C++ with another compiler ----
cat >throws.cc <<'C'
#include <atomic>
#include <cstdio>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
struct noisy {
    int n;
    explicit noisy(int k) : n(k) { if (k % 5 == 0) throw std::runtime_error(std::string(40, 'a' + k % 26)); }
    ~noisy() { if (n % 7 == 0) try { throw n; } catch (int) {} }
};
static std::mutex m;
static std::atomic<long> all; /* also counted where an exception has released the lock */
static void work(int from)
{
    for (int i = from; i < from + 400; i++)
        try {
            std::lock_guard<std::mutex> hold(m);
            auto p = std::make_unique<noisy>(i);
            std::vector<std::string> v(i % 9, "text that is too long to be kept within the string itself");
            all += p->n + (long)v.size();
        } catch (const std::exception &e) {
            all += e.what()[0];
        }
}
int main()
{
    std::vector<std::thread> t;
    for (int i = 0; i < 4; i++) t.emplace_back(work, i * 1000);
    for (auto &x : t) x.join();
    auto f = std::async(std::launch::async, []() -> int { throw std::logic_error("late"); });
    try { f.get(); } catch (const std::logic_error &e) { std::puts(e.what()); }
    std::printf("%ld\n", all.load());
    try { throw 3; } catch (int n) { return n; }
}
C
for cxx in g++ clang++; do
    if ! command -v $cxx >/dev/null; then skip "$cxx is not installed"; continue; fi
    $cxx -O1 -g -pthread throws.cc -o throws
    try "C++ with exceptions, by $cxx" ./throws
    $cxx --version | grep -q clang && compiler=clang || compiler=gcc
    CXX=$cxx poetcc++ -profile -O1 -g -pthread throws.cc -o throws-measured 2>/dev/null
    ./throws >want
    POET_MEASURE=calls=every,$all ./throws-measured >got 2>got.err
    is "$compiler: a profiled program has the results of an untraced run" "$? $(cat got got.err)" "3 $(cat want)"
done

# ---- other allocators ----
found=
for library in libjemalloc.so.2 libtcmalloc.so.4 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
    path=$(ldconfig -p | awk -v l=$library '$1 == l { print $NF; exit }')
    [ -n "$path" ] || continue
    found=1
    try "with $library" env LD_PRELOAD="$path" sort -n -r --parallel=3 "$root/README.md"
done
[ -n "$found" ] || skip "no other allocator is installed"

# ---- many processes ----
cat >script.sh <<'C'
f() { echo "$1" | tr a-z A-Z | sed 's/A/b/'; }
for i in 1 2 3 4 5 6; do
    (f "alpha $i"; exit $i) && echo never
    x=$(seq $i | while read -r n; do expr $n \* $n; done | sort -n | tail -n 1)
    echo "$i $x"
done
seq 40 | xargs -n 5 -P 1 echo | head -n 3
true & wait $!
{ sleep 0.01; echo late; } | cat
exec sh -c 'kill -TERM $$'
C
try "a shell script" sh script.sh
cat >threads.py <<'C'
import queue, subprocess, threading
q, lock, found = queue.Queue(), threading.Lock(), []
def work():
    while (n := q.get()) is not None:
        with lock:
            found.append(sum(range(n)))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for n in range(400): q.put(n)
for t in threads: q.put(None)
for t in threads: t.join()
print(sum(found), subprocess.run(["sh", "-c", "echo out; exit 4"], capture_output=True))
raise SystemExit(7)
C
if command -v python3 >/dev/null; then try "threads in Python" python3 threads.py; else skip "python3 is not installed"; fi

# ---- instrumentation under the sanitizers ----
cat >races.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *volatile given[64];
static poet_meter_t turns, sizes;
__attribute__((noinline)) static int f(int n) { return n ? f(n - 1) + 1 : 0; }
static void *work(void *a)
{
    for (int i = 0; i < 3000; i++) {
        f(i % 7);
        void *p = malloc(10 + i % 90);
        poet_add(turns, 1);
        poet_observe(sizes, i);
        pthread_mutex_lock(&m);
        void *q = given[i & 63];
        given[i & 63] = p;
        pthread_mutex_unlock(&m);
        free(q);
        if (i % 500 == 0) usleep(1000);
    }
    return a;
}
static void handle(int s) { f(s & 3); }
int main(void)
{
    pthread_t t[4];
    turns = poet_meter("turns", "turns", POET_COUNT);
    sizes = poet_meter("sizes", "ns", POET_DISTRIBUTION);
    volatile int64_t *length = poet_watch("length", "items");
    signal(SIGUSR1, handle);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 20; i++) { __atomic_store_n(length, i, __ATOMIC_RELAXED); pthread_kill(t[i & 3], SIGUSR1); usleep(500); }
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    if (!fork()) { work(0); _exit(0); }
    wait(0);
    return 0;
}
C
for cc in gcc clang; do
    for sanitizer in thread address; do
        if ! CC=$cc poetcc -profile -O1 -g -fsanitize=$sanitizer races.c -o races 2>/dev/null; then
            skip "$cc has no -fsanitize=$sanitizer"
            continue
        fi
        for meters in calls=real calls=every,states,usage,metrics; do
            ASAN_OPTIONS=detect_leaks=0 POET_MEASURE=$meters ./races >got 2>&1
            is "$cc -fsanitize=$sanitizer finds nothing with $meters" "$? $(cat got)" "0 "
        done
    done
done
if clang -fsanitize=thread -pthread -O1 -x c - -o by-clang <<<'int main(void) { return 0; }' 2>/dev/null; then
    like "clang's ThreadSanitizer program is not started with our libraries" \
        "$(poet record -l -- ./by-clang 2>&1)" 'built with -fsanitize=thread.*not started'
else
    skip "clang has no ThreadSanitizer"
fi
stop_server
done_testing
