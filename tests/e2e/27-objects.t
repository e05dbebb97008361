#!/bin/bash
# Identity and lifetime of objects: objects that share an address are different ones, and no order is claimed between them.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
start_server -q -o runs/

# order_of A B: the order of the first notes with these texts, in the newest trace
note() { poet dump latest | awk -v text="\"$1\"" 'index($0, text) { print $1; exit }'; }
order_of() { poet order latest "$(note "$1")" "$(note "$2")" 2>/dev/null; }
lines_of() { poet dump latest --json | grep -c "\"kind\":\"$1\".*\"hidden\":false"; }
texts() { poet dump latest | grep -c -- "$1"; }

# ---- two objects at one address without an init call: two threads, one after the other without a traced order ----
cat >again.c <<'C'
#define _GNU_SOURCE
#include <poet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static union { pthread_mutex_t m; pthread_rwlock_t l; } room;
static pthread_mutex_t stays = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn;
static int locks;
static void make(void)
{
    if (locks) room.l = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    else room.m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
static void visit(const char *text, int writes)
{
    if (!locks) pthread_mutex_lock(&room.m);
    else if (writes) pthread_rwlock_wrlock(&room.l);
    else pthread_rwlock_rdlock(&room.l);
    poet_text("%s", text);
    if (locks) pthread_rwlock_unlock(&room.l);
    else pthread_mutex_unlock(&room.m);
}
static void *first(void *a)
{
    make();
    visit("first", 1);
    visit("first again", 1);
    pthread_mutex_lock(&stays);
    poet_text("stays first");
    pthread_mutex_unlock(&stays);
    turn = 1;
    return a;
}
static void *second(void *a)
{
    while (turn < 1) { }
    make();
    visit("second", 1);
    turn = 2;
    return a;
}
static void *third(void *a)
{
    while (turn < 2) { }
    visit("third", 0);
    pthread_mutex_lock(&stays);
    poet_text("stays last");
    pthread_mutex_unlock(&stays);
    return a;
}
int main(int argc, char **argv)
{
    (void)argv;
    locks = argc > 1;
    pthread_t t[3];
    void *(*f[3])(void *) = {first, second, third};
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, f[i], NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -g again.c -o again
cc -g -I "$B/include" again.c -o plain -L "$B/lib" -lpoet -pthread -Wl,-rpath,"$B/lib"
cat >again.cc <<'C'
#include <atomic>
#include <mutex>
#include <new>
#include <poet.h>
#include <shared_mutex>
#include <thread>
alignas(64) static char room[128];
static std::atomic<int> turn;
template <class M> static void visit(const char *text, int mine, bool make)
{
    while (turn < mine) { }
    M *m = make ? new (room) M : reinterpret_cast<M *>(room);
    {
        std::lock_guard<M> guard(*m);
        poet_text("%s", text);
    }
    turn = mine + 1;
}
int main(int argc, char **)
{
    auto f = argc > 1 ? visit<std::shared_mutex> : visit<std::mutex>;
    std::thread a(f, "first", 0, true), b(f, "second", 1, true), c(f, "third", 2, false);
    a.join();
    b.join();
    c.join();
}
C
poetcc++ -trace -std=c++17 -g again.cc -o again++
two_lives() { # NAME KIND
    check "$1 at a reused address: the trace is sound" sound latest
    is "$1 at a reused address: two objects" "$(lines_of "$2")" "$3"
    is "$1 at a reused address: nothing orders the sections of both" "$(order_of first second)" concurrent
    is "$1 at a reused address: the new one orders its own sections" "$(order_of second third)" before
}
./again && two_lives "a mutex" mutex 3
is "a mutex that stays allocated is one object" "$(order_of "stays first" "stays last")" before
./again locks && two_lives "a read-write lock" rwlock 2
poet record -o mutex.poet -- ./plain && until_true finished mutex.poet
is "poet record: mutexes at a reused address are different objects" "$(poet dump mutex.poet --json | grep -c '"kind":"mutex".*"hidden":false')" 3
./again++ && two_lives "a std::mutex" mutex 2
./again++ shared && two_lives "a std::shared_mutex" rwlock 2

# A recursive mutex on a stack frame that is left while it is locked, and entered again.
cat >frames.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
__attribute__((noinline)) static void frame(int depth)
{
    volatile char pad[64];
    pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pad[0] = (char)depth;
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    if (depth) pthread_mutex_unlock(&m);
}
int main(void)
{
    frame(0);
    frame(1);
    return 0;
}
C
poetcc -trace -g frames.c -o frames && ./frames
check "a recursive mutex that was never unlocked: the trace is sound" sound latest
is "a recursive mutex in a new frame is another object" "$(lines_of mutex)" 2
is "a recursive mutex in a new frame is acquired as an outermost one" "$(poet dump latest | grep -c ' acquired ')" 2

# The flag of an initializer.
cat >once.c <<'C'
#include <pthread.h>
#include <poet.h>
#include <stdatomic.h>
static pthread_once_t flag = PTHREAD_ONCE_INIT;
static atomic_int turn;
static void init(void) { }
static void *first(void *a) { poet_text("first"); pthread_once(&flag, init); turn = 1; return a; }
static void *second(void *a)
{
    while (!turn) { }
    flag = PTHREAD_ONCE_INIT;
    poet_text("second begins");
    pthread_once(&flag, init);
    poet_text("second");
    turn = 2;
    while (turn < 3) { }
    return a;
}
static void *third(void *a) { while (turn < 2) { } pthread_once(&flag, init); poet_text("third"); turn = 3; return a; }
int main(void)
{
    void *(*f[3])(void *) = {first, second, third};
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, f[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g once.c -o once && ./once
check "a pthread_once_t that is reset: the trace is sound" sound latest
is "a pthread_once_t that is reset: the second initializer is concurrent with the first" "$(order_of first second)" concurrent
is "a pthread_once_t that is reset: callers are after the second initializer" "$(order_of "second begins" third)" before

# ---- a post that fails orders nothing ----
cat >full.c <<'C'
#include <errno.h>
#include <limits.h>
#include <poet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static sem_t s;
static atomic_int turn;
static int bad;
static void *posts(void *a)
{
    poet_text("before");
    errno = 0;
    if (sem_post(&s) != -1 || errno != EOVERFLOW) bad = 1;
    turn = 1;
    return a;
}
static void *takes(void *a) { while (!turn) { } sem_wait(&s); poet_text("after"); turn = 2; return a; }
static void *gives(void *a) { while (turn < 2) { } poet_text("given"); if (sem_post(&s)) bad = 1; turn = 3; return a; }
static void *gets(void *a) { while (turn < 3) { } sem_wait(&s); poet_text("got"); return a; }
int main(void)
{
    void *(*f[4])(void *) = {posts, takes, gives, gets};
    pthread_t t[4];
    sem_init(&s, 0, SEM_VALUE_MAX);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return bad;
}
C
poetcc -trace -g full.c -o full
check "one sem_post fails, another one succeeds" ./full
check "failed sem_post: the trace is sound" sound latest
is "failed sem_post: it orders nothing" "$(order_of before after)" concurrent
is "failed sem_post: the failure is recorded" "$(poet dump latest | grep -c ' acquire_failed ')" 1
is "successful sem_post: it is before the wait" "$(order_of given got)" before

# ---- rounds of a barrier with untraced participants ----
cat >crowd.c <<'C'
#include <poet.h>
#include <pthread.h>
static pthread_barrier_t b;
static void *seen(void *a) { pthread_barrier_wait(&b); return a; }
static void *unseen(void *a) { poet_trace_off(); pthread_barrier_wait(&b); return a; }
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&b, 0, 2);
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[0], 0, seen, 0);
        pthread_create(&t[1], 0, i == 1 ? unseen : seen, 0);
        for (int k = 0; k < 2; k++) pthread_join(t[k], 0);
    }
    return 0;
}
C
poetcc -trace -g crowd.c -o crowd && ./crowd
check "an untraced participant of a barrier: the trace is sound" sound latest
is "an untraced participant of a barrier: that round has no group, which is reported" "$(texts 'other participants are unknown')" 1
is "an untraced participant of a barrier: the other rounds have groups" "$(poet dump latest --json | grep -o '"group":[0-9][0-9]*' | sort | uniq -c | awk '{ print $1 }' | xargs)" "2 2"

# ---- signals by untraced threads ----
echo '#include <pthread.h>
void hidden_signal(pthread_cond_t *c) { pthread_cond_signal(c); }' >hidden.c
cc -shared -fPIC hidden.c -o libhidden.so
cat >hands.c <<'C'
#include <poet.h>
#include <pthread.h>
void hidden_signal(pthread_cond_t *);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waits, go, both;
static void *waiter(void *a)
{
    pthread_mutex_lock(&m);
    waits = 1;
    while (!go) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    both = argc > 1;
    pthread_create(&t, 0, waiter, 0);
    for (int ready = 0; !ready;) { pthread_mutex_lock(&m); ready = waits; pthread_mutex_unlock(&m); }
    pthread_mutex_lock(&m);
    go = 1;
    hidden_signal(&c);
    if (both) pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
C
poetcc -trace -g hands.c -o hands -L. -lhidden -Wl,-rpath,"$work"
./hands
check "an untraced signal: the trace is sound" sound latest
is "an untraced signal: the wake-up reports that its signaler is not traced" "$(texts 'signaler not traced')" 1
./hands both
check "an untraced and a traced signal: the trace is sound" sound latest
is "an untraced and a traced signal: the wake-up reports several possible signals" "$(texts 'several signals are possible')" 1

# ---- a handler during a wait, a killed owner, the last destructor of a thread ----
cat >handler.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
static sem_t s;
static pthread_t main_thread;
static atomic_int joining;
static void handle(int n) { int e = errno; (void)n; sem_post(&s); errno = e; }
static void *sends(void *a)
{
    while (!joining) { }
    for (int i = 0; i < 50; i++) { pthread_kill(main_thread, SIGUSR1); while (sem_wait(&s)) { } }
    return a;
}
int main(void)
{
    pthread_t t;
    main_thread = pthread_self();
    sem_init(&s, 0, 0);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, 0);
    pthread_create(&t, 0, sends, 0);
    joining = 1;
    pthread_join(t, 0);
    return 0;
}
C
poetcc -trace -g handler.c -o handler && ./handler
check "handlers that post during a join: the trace is sound" sound latest

cat >killed.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    pthread_mutex_t *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(m, &a);
    pid_t child = fork();
    if (child == 0) { pthread_mutex_lock(m); kill(getpid(), SIGKILL); }
    waitpid(child, 0, 0);
    if (pthread_mutex_lock(m) != EOWNERDEAD) return 1;
    pthread_mutex_consistent(m);
    pthread_mutex_unlock(m);
    return 0;
}
C
poetcc -trace -g killed.c -o killed
check "a process that owns a mutex is killed" ./killed
check "killed mutex owner: the trace is sound" sound latest
is "killed mutex owner: the next owner reports that the previous one died" "$(texts 'owner died')" 1

# ---- however busy the server is, the end of one process is not recorded before what another did before it ----
cp killed outlived
loops=
for n in 1 2 3 4; do
    while :; do :; done &
    loops="$loops $!"
done
pids="$pids $loops"
rounds=
for n in 1 2 3 4 5 6; do
    for m in 1 2 3 4 5 6 7 8; do ./outlived; done &
    rounds="$rounds $!"
done
wait $rounds
kill $loops
for trace in runs/outlived*.poet; do sound "$trace" >>checked 2>&1 || tail -1 checked >>unsound; done
is "killed mutex owners, six at a time: every program has a trace" "$(ls runs/outlived*.poet | wc -l)" 48
is "killed mutex owners, six at a time: no trace lacks an event" "$(head -4 unsound 2>/dev/null)" ""

cat >last.c <<'C'
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
static pthread_key_t key;
static sem_t s;
static int round_number;
static void destroy(void *p)
{
    if (++round_number < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(key, p);
    else sem_post(&s);
}
static void *work(void *a) { pthread_setspecific(key, &key); return a; }
int main(void)
{
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_key_create(&key, destroy);
    pthread_create(&t, 0, work, 0);
    sem_wait(&s);
    pthread_join(t, 0);
    return key > 8;
}
C
poetcc -trace -g last.c -o last
check "a post in the last round of destructors, with one key of the program" ./last
check "a post in the last round of destructors: the trace is sound" sound latest
is "a post in the last round of destructors is recorded" "$(poet dump latest | grep -c ' sem_post ')" 1

# ---- the thread that runs an initializer blocks its waiters ----
cat >stuck.c <<'C'
#include <pthread.h>
static pthread_once_t flag = PTHREAD_ONCE_INIT;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static void init(void) { pthread_barrier_wait(&b); pthread_mutex_lock(&m); }
static void *runs(void *a) { pthread_once(&flag, init); return a; }
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, runs, 0);
    pthread_barrier_wait(&b);
    pthread_once(&flag, init);
    return 0;
}
C
poetcc -trace -g stuck.c -o stuck
./stuck &
stuck=$!
pids="$pids $stuck"
disown "$stuck"
all_wait() { poet blocked latest | grep -q '^DEADLOCK: '; }
check "a deadlock through pthread_once blocks all threads" until_true all_wait
like "blocked: the thread that runs the initializer is the holder" "$(poet blocked latest | grep -A2 '^T:main.*requests O:flag')" \
    'held by T:runs, acquired at stuck.c:6 \(event'
like "blocked: the cycle lists the wait for the initializer" "$(poet blocked latest)" '^    T:main waits for O:flag, held by T:runs'
like "blocked: the cycle lists the wait for the mutex" "$(poet blocked latest)" '^    T:runs waits for M:m, held by T:main'
kill -KILL "$stuck"

stop_server
done_testing
