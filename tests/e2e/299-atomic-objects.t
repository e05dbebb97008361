#!/bin/bash
# Objects that are made of atomic operations (poetcc -trace=atomics): flags, latches, barriers, semaphores, reference
# counts and locks, in C and C++, with gcc and clang; handlers, processes, mixed sizes; what is refused.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

note_of() { poet dump "$1" --json | json ".[] | select(.annotations // [] | index(\"$2\")).event"; }
# between TRACE A B: prints the relation of two notes, and the reasons for doubt
between() { poet order "$1" "$(note_of "$1" "$2")" "$(note_of "$1" "$3")" 2>&1; }
types() { poet dump "$1" | awk '{ print $3 }' | grep '^atomic' | sort | uniq -c | awk '{ print $2 "=" $1 }' | paste -sd' '; }

# ---- C++: two threads, before and after each object; `free` is a note that nothing orders ----
cat >objects.cpp <<'C'
#include <atomic>
#include <barrier>
#include <cstdio>
#include <latch>
#include <memory>
#include <mutex>
#include <poet.h>
#include <semaphore>
#include <thread>

static std::atomic<bool> ready{false};
static std::latch latch{1};
static std::barrier<> barrier{2};
static std::binary_semaphore semaphore{0};
static std::atomic<int> state{0};
static std::atomic<int *> published{nullptr};
static std::once_flag once;
static std::atomic<long> total{0};

struct Value {
    ~Value() { poet_text("destroyed"); }
};

int main()
{
    auto value = std::make_shared<Value>();
    std::thread other([copy = value]() mutable {
        poet_text("flag a");
        ready.store(true, std::memory_order_release);
        poet_text("latch a");
        latch.count_down();
        poet_text("barrier a");
        barrier.arrive_and_wait();
        poet_text("semaphore a");
        semaphore.release();
        poet_text("state a");
        state = 1;
        state.notify_all();
        static int number;
        number = 42;
        poet_text("published a");
        published.store(&number, std::memory_order_release);
        std::call_once(once, [] { poet_text("once a"); });
        copy.reset();
        total.fetch_add(1, std::memory_order_relaxed);
        poet_text("free");
    });
    while (!ready.load(std::memory_order_acquire))
        std::this_thread::yield();
    poet_text("flag b");
    latch.wait();
    poet_text("latch b");
    barrier.arrive_and_wait();
    poet_text("barrier b");
    semaphore.acquire();
    poet_text("semaphore b");
    state.wait(0);
    poet_text("state b");
    int *got;
    while (!(got = published.load(std::memory_order_consume)))
        std::this_thread::yield();
    poet_text("published b");
    while (!total.load(std::memory_order_relaxed))
        std::this_thread::yield();
    poet_text("mine");
    value.reset();
    other.join();
    std::printf("%d\n", *got);
    return 5;
}
C
objects() { # objects NAME OPTION...
    local program=$1 what
    shift
    check "$program: the program compiles" poetcc++ -trace=atomics -std=c++20 -g "$@" objects.cpp -o "$program"
    POET_OUTPUT="$program.poet" "./$program" >"$program.out"
    is "$program: status and output" "$? $(cat "$program.out")" "5 42"
    check "$program: the trace passes poet check" sound "$program.poet"
    for what in flag latch barrier semaphore state published; do
        is "$program: $what" "$(between "$program.poet" "$what a" "$what b")" before
    done
    is "$program: what a relaxed counter passes is not ordered" "$(between "$program.poet" free mine)" concurrent
    is "$program: the last owner of a shared_ptr is after the others" "$(between "$program.poet" "published a" destroyed)" before
    is "$program: a note after another one is not ordered with it" "$(between "$program.poet" "mine" "free")" concurrent
    like "$program: the objects are named" "$(poet dump "$program.poet")" 'atomic_load .* object At:ready .* at '
}
CXX=g++ objects gcc
CXX=g++ objects optimized -O2
if command -v clang++ >/dev/null; then
    CXX=clang++ objects clang
else
    skip "clang++: not installed"
fi

# ---- an untraced unit beside it: the reason stays ----
cat >flag.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int flag;
void set(void), wait_for(void);
void set(void) { atomic_store(&flag, 1); }
void wait_for(void)
{
    while (!atomic_load(&flag))
        sched_yield();
}
C
cat >uses.c <<'C'
#include <poet.h>
#include <pthread.h>
void set(void), wait_for(void);
static void *run(void *p)
{
    poet_text("p");
    set();
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    wait_for();
    poet_text("q");
    return pthread_join(t, 0);
}
C
poetcc -trace -g -c flag.c -o flag.untraced.o
poetcc -trace=atomics -g -c flag.c -o flag.o
poetcc -trace=atomics -g -c uses.c -o uses.o
check "units compiled apart: linked" poetcc -trace=atomics flag.o uses.o -o apart
POET_OUTPUT=apart.poet ./apart
order_ends apart.poet
is "units compiled apart: ordered" "$(between apart.poet p q)" before
check "one unit without: linked" poetcc -trace=atomics flag.untraced.o uses.o -o partly
POET_OUTPUT=partly.poet ./partly
order_ends partly.poet
like "one unit without: the reason is given" "$(between partly.poet p q)" \
    'concurrent.*atomic operations are not traced: <stdatomic.h>|atomic operations are not traced: <stdatomic.h>.*concurrent'

# ---- C: spinning and counting alone record nothing; a lock by __sync builtins; a handler; a child of fork; sizes ----
cat >more.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int alone, handled, child_flag, start;
static int lock;
static _Alignas(8) unsigned char bytes[8];

static void handler(int signal)
{
    (void)signal;
    poet_text("handler a");
    atomic_store_explicit(&handled, 1, memory_order_release);
}
static void *run(void *p)
{
    while (!atomic_load_explicit(&start, memory_order_relaxed))
        sched_yield();
    while (__sync_lock_test_and_set(&lock, 1))
        sched_yield();
    poet_text("lock b");
    __sync_lock_release(&lock);
    while (!atomic_load_explicit(&handled, memory_order_acquire))
        sched_yield();
    poet_text("handler b");
    for (int i = 0; i < 1000; i++) {
        __atomic_store_n((uint64_t *)bytes, 1, __ATOMIC_RELEASE);
        __atomic_load_n((uint32_t *)bytes, __ATOMIC_ACQUIRE);
    }
    return p;
}
static void *in_child(void *p)
{
    poet_text("child a");
    atomic_store_explicit(&child_flag, 1, memory_order_release);
    return p;
}
static int child(void)
{
    pthread_t t;
    pthread_create(&t, 0, in_child, 0);
    while (!atomic_load_explicit(&child_flag, memory_order_acquire))
        sched_yield();
    poet_text("child b");
    pthread_join(t, 0);
    return 6;
}
int main(int count, char **arguments)
{
    (void)arguments;
    pthread_t t;
    signal(SIGUSR1, handler);
    for (int i = 0; i < 10000; i++)
        atomic_fetch_add(&alone, 1);
    while (__sync_lock_test_and_set(&lock, 1))
        sched_yield();
    pthread_create(&t, 0, run, 0);
    atomic_store_explicit(&start, 1, memory_order_relaxed);
    poet_text("lock a");
    __sync_lock_release(&lock);
    raise(SIGUSR1);
    if (count > 1)
        for (int i = 0; i < 1000; i++) {
            __atomic_store_n((uint32_t *)bytes, 2, __ATOMIC_RELEASE);
            __atomic_load_n((uint64_t *)bytes, __ATOMIC_ACQUIRE);
        }
    pthread_join(t, 0);
    pid_t pid = fork();
    int status;
    if (pid == 0)
        _exit(child());
    waitpid(pid, &status, 0);
    printf("%d %d\n", atomic_load(&alone), WEXITSTATUS(status));
    return 4;
}
C
for compiler in gcc clang; do
    command -v $compiler >/dev/null || { skip "$compiler: not installed"; continue; }
    check "$compiler: C: the unit compiles without warnings" \
        env CC=$compiler poetcc -trace=atomics -g -Wall -Wextra -Werror -c more.c -o more.o
    check "$compiler: C: the program is linked without warnings" \
        env CC=$compiler poetcc -trace=atomics -Werror more.o -o "more.$compiler"
    POET_OUTPUT=more.poet POET_KEEP= "./more.$compiler" >more.out
    is "$compiler: C: status and output" "$? $(cat more.out)" "4 10000 6"
    check "$compiler: C: the trace passes poet check" sound more.poet
    for what in lock handler child; do
        is "$compiler: C: $what" "$(between more.poet "$what a" "$what b")" before
    done
    is "$compiler: C: no more events than synchronizations" \
        "$(($(poet dump more.poet | awk '$3 ~ /^atomic/' | wc -l) < 20))" 1
    rm more.poet
    POET_OUTPUT=sizes.poet "./more.$compiler" sizes >more.out
    is "$compiler: C, mixed sizes: status and output" "$? $(cat more.out)" "4 10000 6"
    check "$compiler: C, mixed sizes: the trace passes poet check" sound sizes.poet
    like "$compiler: C, mixed sizes: reported" "$(poet stat sizes.poet)" 'accesses of several sizes'
    rm sizes.poet
    POET_SERVER=$work/none "./more.$compiler" sizes >more.out
    is "$compiler: C, without a server: status and output" "$? $(cat more.out)" "4 10000 6"
done

# ---- what is refused ----
refused() { # refused NAME PATTERN OPTION...
    local program=$1 pattern=$2
    shift 2
    poetcc -trace=atomics "$@" more.c -o refused >refused.out 2>&1
    is "$program: refused" $? 1
    like "$program: refused in a sentence" "$(cat refused.out)" "$pattern"
}
refused "-fsanitize=thread" 'poetcc: -trace=atomics: not supported with -fsanitize=thread .*; use -trace' -fsanitize=thread
refused "-fsanitize=address" 'poetcc: -trace=atomics: not supported with -fsanitize=address .*; use -trace' -fsanitize=address
refused "-static" 'poetcc: -trace=atomics: not supported with -static .*; use -trace' -static
poetcc -trace=atomic more.c -o refused >refused.out 2>&1
is "another word: refused" "$? $(cat refused.out)" \
    "1 poetcc: -trace=atomic: unknown; did you mean -trace, -trace=atomics or -trace=races?"
check "-fsanitize=undefined beside it: compiles" poetcc -trace=atomics -g -fsanitize=undefined more.c -o undefined
is "-fsanitize=undefined beside it: runs" "$(POET_SERVER=$work/none ./undefined)" "10000 6"
done_testing
