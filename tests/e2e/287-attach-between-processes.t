#!/bin/bash
# poet attach to processes that wait for each other at sockets, queues, file locks, eventfds, System V objects and FIFOs, for a lock
# of a process that was killed, and for objects of the C++ library and of GLib: what is said of each, and nothing
# of processes that can continue.
. "$(dirname "$0")/lib.sh"

cat >between.c <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static char many[1 << 26]; /* more than sockets buffer */
static int to[2], back[2], correct;
static void meet(int child)
{
    char c = 0;
    if (write(child ? back[1] : to[1], &c, 1) != 1 || read(child ? to[0] : back[0], &c, 1) != 1)
        _exit(1);
}
static void ends(int s[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&at, sizeof at);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&at, &n);
    s[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect(s[0], (struct sockaddr *)&at, sizeof at);
    s[1] = accept(listener, NULL, NULL);
    close(listener);
}
/* In a correct program the child has something else to do. */
static void busy(int child)
{
    while (correct && child)
        sigsuspend(&(sigset_t){0});
}
static void tcp(int s[2], int child)
{
    close(s[!child]);
    busy(child);
    recv(s[child], many, 1, 0); // both read
}
static void timeout(int s[2], int child)
{
    struct timeval long_time = {1000000, 0};
    setsockopt(s[child], SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof long_time);
    recv(s[child], many, 1, 0);
}
static void both_write(int s[2], int child)
{
    close(s[!child]);
    busy(child);
    for (size_t at = 0; at < sizeof many;) /* a stop ends a call that has sent a part */
        at += send(s[child], many + at, sizeof many - at, 0); // both write
}
static mqd_t queues[2];
static void open_queues(int unlinked)
{
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    for (int i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "/poet%d-%d", getpid(), i);
        queues[i] = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
        if (unlinked)
            mq_unlink(name);
    }
}
static void queue(int child)
{
    busy(child);
    for (;;)
        mq_send(queues[child], "job", 4, 0); // the queue is full
}
static void locks(int child)
{
    static const char *const names[] = {"index", "data"};
    flock(open(names[child], O_CREAT | O_RDWR, 0600), LOCK_EX);
    meet(child);
    busy(child);
    flock(open(names[!child], O_CREAT | O_RDWR, 0600), LOCK_EX); // the other file
}
static void again(void)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(open("ledger", O_CREAT | O_RDWR, 0600), F_OFD_SETLKW, &all);
    fcntl(open("ledger", O_CREAT | O_RDWR, 0600), F_OFD_SETLKW, &all); // its own lock
}
static int events[2];
static void *take(void *p)
{
    uint64_t n;
    return read(events[1], &n, sizeof n) < 0 ? p : NULL; // the thread takes
}
static void event(void)
{
    uint64_t n;
    pthread_t t;
    events[0] = eventfd(0, 0);
    events[1] = eventfd(0, 0);
    pthread_create(&t, NULL, take, NULL);
    if (read(events[0], &n, sizeof n) < 0) // main takes
        return;
}
/* It lives on until the test removes it. */
static int kept(int id, const char *kind)
{
    FILE *f = fopen("kept", "a");
    fprintf(f, "%s %d\n", kind, id);
    fclose(f);
    return id;
}
static void semaphore(int set, int child)
{
    struct sembuf first = {(unsigned short)child, -1, 0}, second = {(unsigned short)!child, -1, 0};
    semop(set, &first, 1);
    meet(child);
    semop(set, &second, 1); // the other unit
}
static void message(void)
{
    struct { long type; char text[8]; } m = {1, "reply"};
    int id = kept(msgget(IPC_PRIVATE, 0600), "-q");
    msgsnd(id, &m, sizeof m.text, 0);
    msgrcv(id, &m, sizeof m.text, 2, 0); // another type
}
static void dead(int robust)
{
    pthread_mutexattr_t kind;
    pthread_mutex_t *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    if (robust)
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(m, &kind);
    if (fork() == 0) {
        pthread_mutex_lock(m);
        raise(SIGKILL);
    }
    wait(NULL);
    pthread_mutex_lock(m); // of a dead process
    pause();
}
int main(int argc, char **argv)
{
    const char *how = argv[1];
    int s[2] = {0}, set = 0;
    correct = argc == 3;
    if (pipe(to) || pipe(back))
        return 1;
    if (!strcmp(how, "tcp") || !strcmp(how, "timeout") || !strcmp(how, "window"))
        ends(s);
    if (!strcmp(how, "local"))
        socketpair(AF_UNIX, SOCK_STREAM, 0, s);
    if (!strcmp(how, "queue") || !strcmp(how, "named"))
        open_queues(*how == 'q');
    if (!strcmp(how, "semaphore")) {
        set = kept(semget(IPC_PRIVATE, 2, 0600), "-s");
        semctl(set, 0, SETVAL, 1);
        semctl(set, 1, SETVAL, 1);
    }
    if (!strcmp(how, "again"))
        again();
    if (!strcmp(how, "event"))
        event();
    if (!strcmp(how, "message"))
        message();
    if (!strcmp(how, "dead") || !strcmp(how, "robust"))
        dead(*how == 'r');
    if (!strcmp(how, "fifo")) {
        mkfifo("way", 0600);
        return open("way", O_WRONLY); // no reader
    }
    int child = fork() == 0;
    if (!strcmp(how, "tcp"))
        tcp(s, child);
    if (!strcmp(how, "timeout"))
        timeout(s, child);
    if (!strcmp(how, "window") || !strcmp(how, "local"))
        both_write(s, child);
    if (!strcmp(how, "queue") || !strcmp(how, "named"))
        queue(child);
    if (!strcmp(how, "locks"))
        locks(child);
    if (!strcmp(how, "semaphore"))
        semaphore(set, child);
    return 0;
}
C
cc -g -pthread between.c -o between -lrt
cat >library.cpp <<'C'
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <latch>
#include <semaphore>
#include <thread>
#include <unistd.h>
static std::latch ready(2);
static std::barrier<> phase(2);
static std::counting_semaphore<4> units(0);
static std::atomic<int> state{0}, waits{0};
static bool asleep(int thread)
{
    char name[64], text[512] = "";
    snprintf(name, sizeof name, "/proc/self/task/%d/syscall", thread);
    FILE *f = fopen(name, "r");
    if (f) {
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
    }
    return strncmp(text, "202 ", 4) == 0; // futex
}
int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];
    if (!strcmp(how, "latch"))
        ready.arrive_and_wait(); // latch
    if (!strcmp(how, "barrier"))
        phase.arrive_and_wait(); // barrier
    if (!strcmp(how, "units"))
        units.acquire(); // units
    if (!strcmp(how, "store")) {
        std::thread t([] {
            waits = gettid();
            state.wait(0); // state
        });
        while (!asleep(waits))
            std::this_thread::yield();
        state = 1; // and does not notify
        t.join();
    }
}
C
g++ -std=c++20 -g -O1 -pthread library.cpp -o library # (a thread that is not stopped has no frame pointer)
cat >objects.c <<'C'
#include <glib.h>
static GMutex first, second;
static GAsyncQueue *met;
static gpointer takes(gpointer p)
{
    g_mutex_lock(&second);
    g_async_queue_push(met, &met);
    g_mutex_lock(&first); // the thread requests first
    return p;
}
int main(void)
{
    met = g_async_queue_new();
    g_mutex_lock(&first);
    g_thread_new("takes", takes, NULL);
    g_async_queue_pop(met);
    g_mutex_lock(&second); // main requests second
    return 0;
}
C
cc -g objects.c -o objects $(pkg-config --cflags --libs glib-2.0)

start() {
    setsid "$@" & program=$!
    pids="$pids $program"
}
# ends: kills what start() started, with its children
ends() { kill -KILL $(own_processes "$1") 2>/dev/null; wait $program 2>/dev/null; }
at() { echo "$1:$(grep -n "// $2" "$1" | cut -d: -f1)"; }
says() {
    local pattern
    poet attach $program >said 2>&1
    for pattern; do grep -Eq -- "$pattern" said || return 1; done
}
# hangs HOW PATTERN...: poet attach says each of the patterns of ./between HOW
hangs() {
    local how=$1
    shift
    start ./between "$how"
    check "$how: what keeps it waiting" until_true says "$@" || cat said
    ends between
}

hangs tcp '^DEADLOCK: 2 threads wait for each other' \
    '^    T:main waits for bytes from S:socket [0-9]+, its other end is only of T:main \(between [0-9]+\)' \
    '^    T:main \(between [0-9]+\) waits for bytes from S:socket [0-9]+, its other end is only of T:main$' \
    "^T:main waits for bytes from S:socket [0-9]+ at $(at between.c 'both read')"
hangs tcp "^T:main \(between [0-9]+\) waits for bytes from S:socket [0-9]+ at $(at between.c 'both read')" \
    '^    thread [0-9]+ of process [0-9]+'
hangs window '^DEADLOCK: 2 threads wait for each other' \
    "^T:main waits for buffer space in S:socket [0-9]+ at $(at between.c 'both write')"
hangs local '^DEADLOCK: 2 threads wait for each other' \
    "^T:main waits for buffer space in S:socket [0-9]+ at $(at between.c 'both write')"
hangs queue '^DEADLOCK: 2 threads wait for each other' \
    '^    T:main waits for buffer space in Q:/poet[0-9]+-0, read only by T:main \(between [0-9]+\)' \
    "^T:main waits for buffer space in Q:/poet[0-9]+-0 at $(at between.c 'the queue is full')"
start ./between named
check "named: another process could open a queue that has a name" until_true says '^DEADLOCK: 2 threads' \
    '^    uncertain: another process could open Q:/poet[0-9]+-0'
rm -f /dev/mqueue/poet$program-*
ends between
hangs locks '^DEADLOCK: 2 threads wait for each other' '^    T:main requests F:/.*/data, locked by T:main \(between [0-9]+\)' \
    '^    T:main \(between [0-9]+\) requests F:/.*/index, locked by T:main$' \
    "^T:main requests F:/.*/data at $(at between.c 'the other file')"
hangs again '^DEADLOCK: a thread waits for itself' '^    T:main requests F:/.*/ledger, locked by T:main' \
    "^T:main requests F:/.*/ledger at $(at between.c 'its own lock')"
hangs event '^DEADLOCK: 2 threads wait for each other' '^    T:main waits for bytes from E:eventfd [0-9]+, written only by T:take' \
    "^T:take waits for bytes from E:eventfd [0-9]+ at $(at between.c 'the thread takes')"
hangs dead '^HANG: M:0x[0-9a-f]+ is held by thread [0-9]+, which has exited, according to glibc.s mutex: its waiters will never resume' \
    "^T:main requests M:0x[0-9a-f]+ at $(at between.c 'of a dead process')"

# ---- what may continue: no diagnosis ----
# waits HOW PATTERN [ARG]: poet attach lists the wait, and concludes nothing
waits() {
    start ./between "$1" $3
    check "$1${3:+, correct}: it is listed" until_true says "$2" || cat said
    is "$1${3:+, correct}: no diagnosis" "$(grep -E 'HANG|DEADLOCK|never resume' said)" ""
    ends between
}
waits tcp '^T:main waits for bytes from S:socket' correct
waits window '^T:main waits for buffer space in S:socket' correct
waits local '^T:main waits for buffer space in S:socket' correct
waits queue '^T:main waits for buffer space in Q:/poet' correct
waits locks '^    locked by T:main \(between [0-9]+\)' correct
waits timeout '^T:main waits for bytes from S:socket [0-9]+ at between.c:[0-9]+ \(with timeout\)'
waits robust '^    T:main in signal'
waits fifo "^T:main waits for a reader of S:way at $(at between.c 'no reader')"
waits message "^    for a message of type 2; it has 1 of other types, last sent by process [0-9]+"
waits semaphore '^    its value is 0; last changed by process [0-9]+'
like "semaphore: which one, and where" "$(cat said)" \
    "^T:main requests Sem:semaphore 1 of set [0-9]+ at $(at between.c 'the other unit')"

while read -r kind id; do ipcrm "$kind" "$id"; done <kept

# ---- libraries ----
# library PROGRAM HOW PATTERN...
library() {
    local program_name=$1 how=$2
    shift 2
    start ./"$program_name" "$how"
    check "$how: what it waits for" until_true says "$@" || cat said
    ends "$program_name"
}
library library latch '^HANG: the only thread' "^    T:main waits for a latch ready \(0x[0-9a-f]+\) at $(at library.cpp latch)"
library library barrier '^HANG: the only thread' "^    T:main waits for a barrier 0x[0-9a-f]+ at $(at library.cpp barrier)"
library library units '^HANG: the only thread' "^    T:main waits for a semaphore units \(0x[0-9a-f]+\) at $(at library.cpp units)"
library library store '^HANG: all 2 threads' "waits for an atomic variable state \(0x[0-9a-f]+\) at $(at library.cpp state)" \
    '^        its value has changed since, and no thread has woken the waiter'
start ./library store
until_true says 'no thread has woken the waiter'
check "a wait for a value that has changed is not ended by poet attach" says 'no thread has woken the waiter'
ends library
library objects glib '^HANG: all 2 threads' "T:takes in futex 0x[0-9a-f]+ \(first\) at $(at objects.c 'the thread requests first')" \
    "T:main in futex 0x[0-9a-f]+ \(second\) at $(at objects.c 'main requests second')"
done_testing
