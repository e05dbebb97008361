#!/bin/bash
# poet attach to processes that Poet did not start: deadlocks and hangs by kind, no diagnosis of correct programs, and
# no effect on the process.
. "$(dirname "$0")/lib.sh"

cat >hangs.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
pthread_t worker;
static pthread_mutex_t forks = PTHREAD_MUTEX_INITIALIZER, knives = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static char many[1 << 20];
static int to[2], from[2];
static void *alice(void *p)
{
    pthread_mutex_lock(&forks);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&knives); // alice requests knives
    return p;
}
static void *bob(void *p)
{
    pthread_mutex_lock(&knives);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&forks); // bob requests forks
    return p;
}
static void *writer(void *p)
{
    pthread_rwlock_wrlock(&table);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&forks);
    return p;
}
static void *reader(void *p)
{
    pthread_mutex_lock(&forks);
    pthread_barrier_wait(&both);
    pthread_rwlock_rdlock(&table);
    return p;
}
static void *holds_stream(void *p)
{
    flockfile(stdout);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&forks);
    return p;
}
static void *prints(void *p)
{
    pthread_mutex_lock(&forks);
    pthread_barrier_wait(&both);
    putchar('x');
    return p;
}
static void *exits_with_lock(void *p) { pthread_mutex_lock(&forks); return p; }
static void *loads(void *p) { pthread_barrier_wait(&both); dlopen("libm.so.6", RTLD_NOW); return p; }
static void *holds(void *p)
{
    pthread_mutex_lock(&forks);
    pthread_barrier_wait(&both);
    for (;;) pause();
    return p;
}
void unload_waits(void) { pthread_barrier_wait(&both); pthread_join(worker, 0); }
static int two(void *(*a)(void *), void *(*b)(void *))
{
    pthread_t s, t;
    pthread_create(&s, 0, a, 0);
    pthread_create(&t, 0, b, 0);
    pthread_join(s, 0); // main joins
    return pthread_join(t, 0);
}
static int again(void) { pthread_mutex_lock(&forks); return pthread_mutex_lock(&forks); }
static int exited(void)
{
    pthread_t t;
    pthread_create(&t, 0, exits_with_lock, 0);
    pthread_join(t, 0);
    return pthread_mutex_lock(&forks);
}
static int loader(void)
{
    void *plugin = dlopen("./plugin.so", RTLD_NOW);
    pthread_create(&worker, 0, loads, 0);
    return dlclose(plugin);
}
static int forked(void)
{
    pthread_t t;
    pthread_create(&t, 0, holds, 0);
    pthread_barrier_wait(&both);
    if (fork() == 0)
        return pthread_mutex_lock(&forks);
    return wait(0);
}
static int pipes(void)
{
    if (pipe(to) || pipe(from)) return 1;
    int child = fork() == 0, in = child ? to[0] : from[0], out = child ? from[1] : to[1];
    close(child ? to[1] : to[0]);
    close(child ? from[0] : from[1]);
    return write(out, many, sizeof many) == read(in, many, sizeof many); // both pipes are full
}
static int piped_wait(void)
{
    if (pipe(to)) return 1;
    int child = fork();
    close(child ? to[1] : to[0]);
    return child ? waitpid(child, 0, 0) : write(to[1], many, sizeof many) < 0;
}
int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    pthread_barrier_init(&both, 0, 2);
    if (!strcmp(which, "mutexes")) return two(alice, bob);
    if (!strcmp(which, "rwlock")) return two(writer, reader);
    if (!strcmp(which, "stream")) return two(holds_stream, prints);
    if (!strcmp(which, "again")) return again();
    if (!strcmp(which, "exited")) return exited();
    if (!strcmp(which, "loader")) return loader();
    if (!strcmp(which, "forked")) return forked();
    if (!strcmp(which, "pipes")) return pipes();
    return piped_wait();
}
C
cat >plugin.c <<'C'
void unload_waits(void);
__attribute__((destructor)) static void end(void) { unload_waits(); }
C
# Everything at which correct programs wait, and two processes that answer each other.
cat >waits.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t three;
static sem_t units, kept;
static int in[2], to[2], from[2];
static void *pool(void *p) { pthread_mutex_lock(&m); for (;;) pthread_cond_wait(&work, &m); return p; }
static void *timed(void *p)
{
    struct timespec end = {4000000000, 0};
    pthread_mutex_lock(&m);
    for (;;) pthread_cond_timedwait(&work, &m, &end);
    return p;
}
static void *unit(void *p) { sem_wait(&units); return p; }
static void *arrives(void *p) { pthread_barrier_wait(&three); return p; }
static void *reads(void *p) { char c; return read(in[0], &c, 1) < 0 ? p : 0; }
static void *keeps(void *p) { pthread_rwlock_rdlock(&table); sem_post(&kept); for (;;) pause(); return p; }
static void *writes(void *p) { pthread_rwlock_wrlock(&table); return p; }
static void *loop(void *p)
{
    struct epoll_event e;
    int fd = epoll_create1(0);
    for (;;) epoll_wait(fd, &e, 1, -1);
    return p;
}
static void *polls(void *p) { poll(0, 0, -1); return p; }
static void *asks(void *p)
{
    char c = 0;
    while (write(to[1], &c, 1) == 1 && read(from[0], &c, 1) == 1) ;
    return p;
}
int main(void)
{
    void *(*run[])(void *) = {pool, pool, pool, timed, unit, arrives, arrives, reads, loop, polls, asks};
    pthread_t t;
    sem_init(&units, 0, 0);
    sem_init(&kept, 0, 0);
    pthread_barrier_init(&three, 0, 3);
    if (pipe(in) || pipe(to) || pipe(from)) return 1;
    if (fork() == 0) {
        char c;
        close(in[1]);
        close(to[1]);
        close(from[0]);
        while (read(to[0], &c, 1) == 1 && write(from[1], &c, 1) == 1) ;
        return 0;
    }
    close(to[0]);
    close(from[1]);
    for (unsigned i = 0; i < sizeof run / sizeof *run; i++) pthread_create(&t, 0, run[i], 0);
    pthread_create(&t, 0, keeps, 0);
    sem_wait(&kept);
    pthread_create(&t, 0, writes, 0);
    return pthread_join(t, 0);
}
C
# Calls that a stop with a signal would end: it exits with 1 if one ends.
cat >calls.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static char many[1 << 20];
static int to[2], in[2], sockets[2];
static volatile int ended;
static void *waits(void *p) { struct epoll_event e; epoll_wait(epoll_create1(0), &e, 1, -1); ended = 1; return p; }
static void *writes(void *p) { ended |= write(to[1], many, sizeof many) != sizeof many; return p; }
static void *reads(void *p) { char c; ended |= read(in[0], &c, 1) != 1; return p; }
static void *polls(void *p) { poll(0, 0, 100000000); ended = 1; return p; }
static void *sleeps(void *p) { struct timespec t = {100000, 0}; nanosleep(&t, 0); ended = 1; return p; }
static void *receives(void *p)
{
    char c;
    struct timeval t = {100000, 0};
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    ended |= recv(sockets[0], &c, 1, 0) != 1;
    return p;
}
static void *signals(void *p)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwaitinfo(&set, 0);
    ended = 1;
    return p;
}
int main(void)
{
    void *(*run[])(void *) = {waits, writes, reads, polls, sleeps, receives, signals};
    pthread_t t;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    if (pipe(to) || pipe(in) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets)) return 2;
    for (unsigned i = 0; i < sizeof run / sizeof *run; i++) pthread_create(&t, 0, run[i], 0);
    getchar(); /* until its standard input is closed */
    return ended;
}
C
cat >threads.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void *deep(void *p)
{
    volatile char pad[30000];
    pad[0] = 0;
    for (;;) pause();
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 32u << 20);
    for (int i = 0; i < 500; i++) if (pthread_create(&t, &a, deep, 0)) return 1;
    for (;;) pause();
}
C
for p in hangs waits calls threads; do gcc -g -pthread -rdynamic $p.c -o $p -ldl; done
gcc -g -shared -fPIC plugin.c -o plugin.so
# at TEXT: prints the place of the line with the comment
at() { echo "hangs\\.c:$(grep -n "// $1" hangs.c | cut -d: -f1)"; }

# diagnosed PID PATTERN: leaves the text of poet attach in `said`
diagnosed() { poet attach "$1" >said 2>errors; grep -Eq "$2" said; }
# start PROGRAM [ARGUMENT]: starts it in the background, its PID in `program`
start() { "./$1" ${2:+"$2"} >/dev/null 2>&1 </dev/null & program=$!; pids="$pids $program"; }
end() { kill -KILL $program 2>/dev/null; wait $program 2>/dev/null; }
# end_children: ends those of the program; they may have gone with what they waited for
end_children() { for child in $(cat /proc/$program/task/$program/children); do kill -KILL $child 2>/dev/null; done; }

start hangs mutexes
poet attach $program >said 2>errors
if grep -q "not permitted" errors; then
    skip "ptrace is not permitted here"
    done_testing
    exit
fi
two='^DEADLOCK: 2 threads wait for each other'
check "mutexes: a deadlock" until_true diagnosed $program "$two"
like "mutexes: the edge says on what it is based" "$(cat said)" "^    T:alice waits for M:knives, held by T:bob \(according to glibc's mutex\)"
like "mutexes: the line of the application" "$(cat said)" "^T:alice requests M:knives at $(at 'alice requests knives')\$"
like "mutexes: the holder" "$(cat said)" "^    held by T:alice, according to glibc's mutex"
like "mutexes: main waits for one of them" "$(cat said)" "^T:main waits to join T:alice at $(at 'main joins')\$"
like "mutexes: the chain" "$(cat said)" '^    T:alice is itself blocked on M:knives and will never resume'
like "mutexes: the stack of a thread" "$(grep -A12 '^T:bob (LWP' said)" "^#[0-9]+ +bob \($(at 'bob requests forks')\)"
poet attach --json $program >said.json
expect said.json <<'E'
json: the members of poet blocked | .[0] | has("blocked"), has("asleep"), has("cycles"), has("diagnoses"), .live => true true true true true
json: the cycle | .[0].cycles[0] | map(.waits_for.label) | sort | join(" ") => M:forks M:knives
json: holders have no event | .[0].blocked[] | select(.thread.label == "T:alice") | .held_by[0].label, .held_by[0].acquired_event, .type, .outcome => T:bob null acquire never
json: stacks are complete | .[0].threads | map(.incomplete == null) | all => true
E
like "json: every thread was stopped for a time that is said" "$(json '.[0].stopped_ns > 0' said.json)" true
end
strip -o stripped hangs
cp hangs unnamed && strip -g unnamed
for p in stripped unnamed; do
    start $p mutexes
    check "$p: a deadlock" until_true diagnosed $program "$two"
    end
done
if gcc -static -pthread hangs.c -o fixed 2>/dev/null; then
    start fixed mutexes
    check "static: a deadlock" until_true diagnosed $program "$two"
    end
    strip fixed
    start fixed mutexes
    check "static and stripped: a deadlock" until_true diagnosed $program "$two"
    like "static and stripped: the owner is only what it looks like" "$(cat said)" "held by T:fixed.*, according to what looks like glibc's mutex"
    end
else
    skip "no static libraries"
fi

start hangs rwlock
check "rwlock: a deadlock" until_true diagnosed $program "$two"
like "rwlock: the mode and the writer" "$(cat said)" "^    T:reader waits for RW:table for reading, held by T:writer \(according to glibc's read-write lock\)"
end
start hangs stream
check "lock of a stream: a deadlock" until_true diagnosed $program "T:prints waits for M:[^ ]*, held by T:holds_stream"
end
start hangs again
check "a thread waits for itself" until_true diagnosed $program "^DEADLOCK: a thread waits for itself"
end
start hangs exited
check "the owner has exited" until_true diagnosed $program "^HANG: M:forks is held by thread [0-9]+, which is not a thread of this process, according to glibc's mutex: its waiters will never resume"
end
start hangs loader
check "the loader's lock: a deadlock" until_true diagnosed $program "T:loads waits for M:loader lock, held by T:main"
end
start hangs forked
child_waits() { child=$(cat /proc/$program/task/$program/children) && diagnosed $child "^HANG: M:forks is held by thread [0-9]+ of the parent process $program since the fork"; }
check "a lock that was held at the fork" until_true child_waits
like "its parent hangs as well, but not by a lock" "$(poet attach $program)" '^T:main waits for the end of any child process'
end_children
end
start hangs pipes
check "both pipes are full: a deadlock" until_true diagnosed $program "T:main waits for buffer space in S:pipe [0-9]+, read only by T:main \(hangs [0-9]+\)"
like "both pipes are full: the line" "$(cat said)" "^T:main waits for buffer space in S:pipe [0-9]+ at $(at 'both pipes')"
end_children
end
start hangs piped_wait
check "wait for a child that fills a pipe: a deadlock" until_true diagnosed $program "T:main waits for the end of process [0-9]+ \(hangs\)"
end_children
end

# ---- correct programs ----
start waits
check "correct: all of its threads wait" until_true diagnosed $program '^T:writes requests RW:table for writing'
like "correct: a barrier counts arrivals" "$(cat said)" "^    2 of 3 threads have arrived, according to glibc's barrier"
like "correct: readers are counted" "$(cat said)" '^    held by 1 reader, which glibc does not store'
like "correct: equal waits are one" "$(cat said)" 'thread [0-9]+; and 2 more threads at the same place'
like "correct: what is asleep for other reasons" "$(cat said)" '^    T:loop in epoll_wait at waits\.c:'
none=0
for i in 1 2 3 4 5 6 7 8 9 10; do
    poet attach $program | grep -Eq 'DEADLOCK|HANG|never resume' && none=1
    poet attach $(cat /proc/$program/task/$program/children) | grep -Eq 'DEADLOCK|HANG|never resume' && none=1
done
is "correct: no diagnosis, also of processes that answer each other" $none 0
end

# ---- effects ----
mkfifo input
./calls <input & program=$!
pids="$pids $program"
exec 9>input
blocked_in() { poet attach --json $program | json '.[0].threads | length' | grep -qx 8; }
check "system calls: all threads wait" until_true blocked_in
for i in 1 2 3 4 5; do poet attach $program >said; done
like "system calls: the call after several stops" "$(cat said)" '^    T:polls in poll at calls\.c:'
like "system calls: a thread that must not be stopped has its line" "$(cat said)" '^    T:waits in epoll_wait at calls\.c:'
exec 9>&-
wait $program
is "system calls: none was interrupted" "$?" 0
start threads
many() { poet attach --json $program >said.json && [ "$(json '.[0].threads | map(select(.incomplete == null)) | length' said.json)" = 501 ]; }
check "500 threads with stacks of 32 MB: all stacks" until_true many
check "500 threads: equal stacks are one" until_true diagnosed $program '^T:deep \(LWP [0-9]+\), .* and 49[0-9] more: asleep in signal'
check "500 threads: equal sleepers are one" until_true diagnosed $program '^    T:deep in signal at threads.c:7; and 499 more threads at the same place'
end

# ---- processes that cannot be read ----
sleep 1000 & program=$!
pids="$pids $program"
kill -STOP $program
stopped() { poet attach $program | grep -q '^1 thread is stopped by a signal or a debugger'; }
check "a stopped process stays stopped" until_true stopped
is "a stopped process stays stopped: its state" "$(sed 's/.*) //; s/ .*//' /proc/$program/stat)" T
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ -r "$B/bin/poet" ]; then
    cp -rL "$B/bin/poet" "$work/poet-copy" && chmod 755 "$work" "$work/poet-copy"
    setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_RUNTIME_DIR=/tmp LD_LIBRARY_PATH="$B/lib" ./poet-copy attach $program >said 2>&1
    is "another user's process: the exit status" "$?" 1
    like "another user's process: the message says so" "$(cat said)" "not permitted to trace process $program: it belongs to another user"
else
    skip "not root"
fi
kill -KILL $program
is "no such process" "$(poet attach 99999999 2>&1; echo $?)" "poet attach: 99999999: no such process
1"
done_testing
