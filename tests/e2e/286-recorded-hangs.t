#!/bin/bash
# Hangs of programs that are compiled with -trace, and of the same under poet record: joins in exit handlers, signal handlers,
# destructors and initializers, a shared lock that two threads upgrade, a latch, file locks of two processes. What
# poet blocked says of each, by kind, thread, object, line and reason; nothing of the corrected programs.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >joins.cpp <<'C'
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static std::mutex registry;
static std::shared_mutex cache;
static std::once_flag config;
static std::latch ready(3), both(2);
static pthread_t worker;
static sem_t held;
static bool fixed;
static int live;

// ---- an exit handler joins a thread that needs a lock which the exiting thread holds ----
static void *work(void *p)
{
    sem_wait(&held);
    pthread_mutex_lock(&state); // work requests state
    pthread_mutex_unlock(&state);
    return p;
}
static void shut_down() { pthread_join(worker, nullptr); } // exit joins
static void *fatal(void *)
{
    pthread_mutex_lock(&state); // fatal acquires state
    sem_post(&held);
    if (fixed)
        pthread_mutex_unlock(&state);
    exit(0);
}
static void exits()
{
    pthread_t t;
    atexit(shut_down);
    pthread_create(&worker, nullptr, work, nullptr);
    pthread_create(&t, nullptr, fatal, nullptr);
    pthread_join(t, nullptr);
}

// ---- a signal handler joins a thread that needs a lock which the interrupted code holds ----
static void terminate(int)
{
    if (!fixed)
        pthread_join(worker, nullptr); // the handler joins
}
static void handles()
{
    signal(SIGTERM, terminate);
    pthread_create(&worker, nullptr, work, nullptr);
    pthread_mutex_lock(&state); // main acquires state
    sem_post(&held);
    pthread_kill(pthread_self(), SIGTERM);
    pthread_mutex_unlock(&state);
    if (fixed)
        pthread_join(worker, nullptr);
}

// ---- the destructor of a thread-local object needs a lock that the joining thread holds ----
struct session {
    session() { live++; }
    ~session()
    {
        registry.lock(); // the destructor requests
        live--;
        registry.unlock();
    }
};
static thread_local session mine;
static void destroys()
{
    if (!fixed)
        registry.lock(); // main acquires registry
    std::thread t([] { (void)&mine; });
    t.join(); // main joins it
    if (!fixed)
        registry.unlock();
}

// ---- an initializer joins a thread that needs what is being initialized ----
static void load();
static void setting() { std::call_once(config, load); } // setting requests
static void load()
{
    std::thread parser([] {
        if (!fixed)
            setting();
    });
    parser.join(); // load joins
}

// ---- two readers upgrade their lock ----
static void look()
{
    cache.lock_shared(); // look acquires
    both.arrive_and_wait();
    if (fixed)
        cache.unlock_shared();
    cache.lock(); // look requests
    cache.unlock();
}
static void upgrades()
{
    std::thread a(look), b(look);
    a.join();
    b.join();
}

// ---- one of three services does not count down ----
static void serve(int number)
{
    if (fixed || number)
        ready.count_down();
}
static void counts()
{
    std::thread a(serve, 0), b(serve, 1), c(serve, 2);
    a.join(), b.join(), c.join();
    ready.wait(); // main waits for ready
}
int main(int argc, char **argv)
{
    const char *how = argv[1];
    fixed = argc == 3;
    sem_init(&held, 0, 0);
    if (!strcmp(how, "exits"))
        exits();
    if (!strcmp(how, "handles"))
        handles();
    if (!strcmp(how, "destroys"))
        destroys();
    if (!strcmp(how, "initializes"))
        setting();
    if (!strcmp(how, "upgrades"))
        upgrades();
    if (!strcmp(how, "counts"))
        counts();
}
C
cat >files.c <<'C'
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
static int to[2], back[2];
static void meet(int out, int in)
{
    char c = 0;
    if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
        _exit(1);
}
static void change(int first, int second, int out, int in, int fixed)
{
    flock(first, LOCK_EX);
    if (!fixed)
        meet(out, in);
    flock(second, LOCK_EX); // the second file
    flock(second, LOCK_UN);
    flock(first, LOCK_UN);
}
int main(int argc, char **argv)
{
    int fixed = argc == 3;
    (void)argv;
    if (pipe(to) || pipe(back))
        return 1;
    int child = fork() == 0;
    int index = open("index", O_CREAT | O_RDWR, 0600), data = open("data", O_CREAT | O_RDWR, 0600);
    if (child && !fixed)
        change(data, index, back[1], to[0], fixed);
    else
        change(index, data, to[1], back[0], fixed);
    return child ? 0 : wait(0) < 0;
}
C
g++ -std=c++20 -g -pthread joins.cpp -o joins-record
poetcc++ -trace -std=c++20 -g joins.cpp -o joins-traced
cc -g files.c -o files-record
poetcc -trace -processes -g files.c -o files-traced

at() { echo "$1:$(grep -n "// $2" "$1" | cut -d: -f1)"; }
run() { # run PROGRAM HOW [fixed]
    case $1 in
    *-record) poet record -o "$1-$2$3.poet" -- "./$1" "$2" $3 ;;
    *) POET_OUTPUT=$1-$2$3.poet "./$1" "$2" $3 ;;
    esac
}
# hangs PROGRAM HOW PATTERN...: in both ways
hangs() {
    local base=$1 how=$2 program pattern
    shift 2
    for program in "$base-record" "$base-traced"; do
        run "$program" "$how" >/dev/null 2>&1 &
        pids="$pids $!"
        says() {
            poet blocked "$program-$how.poet" >said 2>/dev/null
            for pattern; do grep -Eq -- "$pattern" said || return 1; done
        }
        check "$program $how: what keeps the threads waiting" until_true says "$@" || cat said
        kill -KILL $(own_processes "$program") 2>/dev/null
        run "$program" "$how" fixed >/dev/null 2>&1
        is "$program $how, corrected: the program ends" "$?" 0
        until_true finished "$program-${how}fixed.poet"
        is "$program $how, corrected: no hang" "$(poet blocked "$program-${how}fixed.poet" | grep -E 'HANG|DEADLOCK|never')" ""
    done
}
hangs joins exits '^DEADLOCK: 2 threads wait for each other' '^    T:work waits for M:state, held by T:fatal' '^    T:fatal waits for T:work' \
    "^T:work requests M:state at $(at joins.cpp 'work requests')" "^T:fatal waits to join T:work at $(at joins.cpp 'exit joins')" \
    "^    held by T:fatal, acquired at $(at joins.cpp 'fatal acquires')"
hangs joins handles '^DEADLOCK: 2 threads wait for each other' "^T:main waits to join T:work at $(at joins.cpp 'the handler joins')" \
    '^    in terminate' "^    held by T:main, acquired at $(at joins.cpp 'main acquires state')"
hangs joins destroys '^DEADLOCK: 2 threads wait for each other' "^T:destroys.* requests M:registry at $(at joins.cpp 'the destructor')" \
    "^    held by T:main, acquired at $(at joins.cpp 'main acquires registry')" "^T:main waits to join T:destroys.* at $(at joins.cpp 'main joins')"
hangs joins initializes '^DEADLOCK: 2 threads wait for each other' '^    T:load.* waits for O:config, held by T:main' \
    "^T:load.* requests O:config at $(at joins.cpp 'setting requests')" "^T:main waits to join T:load.* at $(at joins.cpp 'load joins')"
hangs joins upgrades 'waits for RW:cache, read-locked by T:look.*: a read lock cannot be upgraded' \
    "^T:look.* requests RW:cache at $(at joins.cpp 'look requests')" "^    read-locked by T:look, acquired at $(at joins.cpp 'look acquires')"
hangs joins counts '^HANG: ' "^    T:main waits for a latch ready \(0x[0-9a-f]+\) at $(at joins.cpp 'main waits')"
hangs files locks '^DEADLOCK: 2 threads wait for each other' '^    T:main waits for F:/.*/data, write-locked by T:main\[[0-9]+\]' \
    "^T:main requests F:/.*/data at $(at files.c 'the second file')"
done_testing
