#!/bin/bash
# What keeps threads waiting, by kind: a lock that was held at a fork, one that a signal handler requests, semaphores that
# are used as locks, read locks, full pipes. poet blocked and poet report name it; corrected programs have no hang.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# build NAME [ARG...]: NAME, and NAME-fixed with the correction
build() {
    local what=$1
    shift
    poetcc -trace -g "$what.c" -o "$what" "$@" && poetcc -trace -g -DFIXED "$what.c" -o "$what-fixed" "$@"
}
# hangs NAME PATTERN...: records NAME until lines of poet blocked match each pattern; then kills it and its children
hangs() {
    local what=$1 pattern
    shift
    POET_OUTPUT=$what.poet "./$what" >/dev/null 2>&1 &
    program=$!
    pids="$pids $program"
    says() {
        poet blocked "$what.poet" >said 2>/dev/null
        for pattern; do grep -Eq -- "$pattern" said || return 1; done
    }
    check "$what: poet blocked says what keeps the threads waiting" until_true says "$@" || cat said
    like "$what: poet report says that the program still runs" "$(poet report "$what.poet" 2>/dev/null)" \
        '^the file is still being written; later activity is unknown$'
    kill -STOP $(own_processes "$what") # none sees the end of another one
    kill -KILL $(own_processes "$what")
    wait $program 2>/dev/null
    until_true finished "$what.poet"
    poet blocked "$what.poet" >said
    for pattern; do like "$what, killed: poet blocked says it, too" "$(cat said)" "$pattern"; done
}
# has_none NAME: the corrected program ends, and its trace has no hang
has_none() {
    POET_OUTPUT=$1.poet timeout 100 "./$1" >/dev/null 2>&1
    is "$1: the program ends" "$?" 0
    until_true finished "$1.poet"
    is "$1: poet blocked reports no hang" "$(poet blocked "$1.poet")" "no thread is blocked"
    is "$1: poet report has no hangs" "$(poet report "$1.poet" | grep -Ec 'Deadlocks and hangs|HANG')" 0
}

# ---- fork ----
cat >forked.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static sem_t has, forked;
static void *allocating(void *p)
{
    pthread_mutex_lock(&pool); /* line 9 */
    sem_post(&has);
    sem_wait(&forked);
    pthread_mutex_unlock(&pool);
    return p;
}
#ifdef FIXED
static void prepare(void) { sem_post(&forked); pthread_mutex_lock(&pool); }
static void after(void) { pthread_mutex_unlock(&pool); }
#endif
int main(void)
{
    pthread_t t;
    sem_init(&has, 0, 0);
    sem_init(&forked, 0, 0);
    pthread_create(&t, 0, allocating, 0);
    sem_wait(&has);
#ifdef FIXED
    pthread_atfork(prepare, after, after);
#endif
    pid_t child = fork();
    if (!child) {
        pthread_mutex_lock(&pool); /* line 31 */
        pthread_mutex_unlock(&pool);
        _exit(0);
    }
    sem_post(&forked);
    waitpid(child, 0, 0);
    return pthread_join(t, 0);
}
C
build forked
hangs forked '^HANG: M:pool.* was held by T:allocating at the fork \(event [0-9:]+\), and that thread is not in the child: its waiters will never resume' \
    '^T:main\[[0-9]+\] requests M:pool.* at forked.c:31' '^    held at the fork by T:allocating, which is not in the child, acquired at forked.c:9'
is "poet blocked --json: how the lock is held" "$(poet blocked --json forked.poet | grep -o '"how":"fork"')" '"how":"fork"'
like "poet report: the wait never ends" "$(poet report forked.poet | tr -s ' \n' ' ')" \
    'T:main\[[0-9]+\] waits for M:pool(#2)? at main \(forked.c:31\), held by T:allocating, acquired at allocating \(forked.c:9\)'
has_none forked-fixed

# ---- signal handler ----
cat >handler.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static sem_t inside, sent;
static void write_line(void)
{
    pthread_mutex_lock(&journal); /* line 8 */
    pthread_mutex_unlock(&journal);
}
static void on_signal(int s)
{
    (void)s;
#ifndef FIXED
    write_line();
#endif
    sem_post(&sent);
}
static void *writer(void *p)
{
    pthread_mutex_lock(&journal); /* line 21 */
    sem_post(&inside);
    while (sem_wait(&sent) != 0)
        ;
    pthread_mutex_unlock(&journal);
    return p;
}
int main(void)
{
    pthread_t t;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, 0);
    sem_init(&inside, 0, 0);
    sem_init(&sent, 0, 0);
    pthread_create(&t, 0, writer, 0);
    sem_wait(&inside);
    pthread_kill(t, SIGUSR1);
    return pthread_join(t, 0);
}
C
build handler
hangs handler '^DEADLOCK: a thread waits for itself' \
    '^    T:writer waits for M:journal in the handler of SIGUSR1 \(sent by T:main at event [0-9:]+\), held by T:writer \(acquired at event [0-9:]+\) when the signal interrupted it' \
    '^T:writer requests M:journal at handler.c:8' '^    held by T:writer, acquired at handler.c:21'
like "poet report: the handler is noted" "$(poet report handler.poet | tr '\n' ' ')" 'in the handler of SIGUSR1'
has_none handler-fixed
# A thread that requests a lock after its handler has returned, or was left by a jump, is in no handler.
cat >returned.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf out;
static void returns(int s) { (void)s; }
static void jumps(int s) { (void)s; siglongjmp(out, 1); }
int main(void)
{
    signal(SIGUSR1, returns);
    signal(SIGUSR2, jumps);
    pthread_mutex_lock(&journal);
    pthread_kill(pthread_self(), SIGUSR1);
    if (!sigsetjmp(out, 1))
        pthread_kill(pthread_self(), SIGUSR2);
    return pthread_mutex_lock(&journal);
}
C
poetcc -trace -g returned.c -o returned
hangs returned '^    T:main waits for M:journal, held by T:main \(acquired at event [0-9:]+\)$'

# ---- semaphores as locks ----
cat >units.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t state, sent;
static pthread_barrier_t both;
static void *sends(void *p)
{
#ifdef FIXED
    pthread_barrier_wait(&both);
    sem_wait(&state);
    sem_wait(&sent);
#else
    sem_wait(&sent); /* line 12 */
    pthread_barrier_wait(&both);
    sem_wait(&state); /* line 14 */
#endif
    sem_post(&state);
    sem_post(&sent);
    return p;
}
static void *checks(void *p)
{
    sem_wait(&state); /* line 22 */
    pthread_barrier_wait(&both);
    sem_wait(&sent); /* line 24 */
    sem_post(&sent);
    sem_post(&state);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, 0, 2);
    sem_init(&state, 0, 1);
    sem_init(&sent, 0, 1);
    pthread_create(&t[0], 0, sends, 0);
    pthread_create(&t[1], 0, checks, 0);
    pthread_join(t[0], 0);
    return pthread_join(t[1], 0);
}
C
build units
hangs units '^DEADLOCK: 2 threads wait for each other' \
    '^    T:sends waits for Sem:state, last unit acquired by T:checks, which has not posted it \(acquired at event [0-9:]+\)' \
    '^    T:checks waits for Sem:sent, last unit acquired by T:sends, which has not posted it' \
    '^T:sends waits on Sem:state at units.c:14' '^    last unit acquired by T:sends, which has not posted it, acquired at units.c:12'
has_none units-fixed

# ---- read-write locks ----
cat >readers.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static pthread_rwlock_t chain;
static atomic_int has;
static void *reads(void *p)
{
    pthread_rwlock_rdlock(&chain); /* line 9 */
    has = 1;
    while (pthread_rwlock_tryrdlock(&chain) == 0) { /* until the writer waits */
        pthread_rwlock_unlock(&chain);
        usleep(1000);
    }
#ifndef FIXED
    pthread_rwlock_rdlock(&chain); /* line 16 */
    pthread_rwlock_unlock(&chain);
#endif
    pthread_rwlock_unlock(&chain);
    return p;
}
static void *writes(void *p)
{
    while (!has)
        usleep(100);
    pthread_rwlock_wrlock(&chain); /* line 26 */
    pthread_rwlock_unlock(&chain);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&chain, &kind);
    pthread_create(&t[0], 0, reads, 0);
    pthread_create(&t[1], 0, writes, 0);
    pthread_join(t[0], 0);
    return pthread_join(t[1], 0);
}
C
build readers
hangs readers '^DEADLOCK: 2 threads wait for each other' \
    '^    T:reads waits for RW:chain, queued behind the waiting writer T:writes \(requested at event [0-9:]+\)' \
    '^    T:writes waits for RW:chain, read-locked by T:reads' '^T:reads requests RW:chain at readers.c:16' \
    '^    queued behind the waiting writer T:writes, requested at readers.c:26' '^    read-locked by T:reads, acquired at readers.c:9'
is "readers: poet report names no holder of the thread that a waiting writer blocks" \
    "$(poet report readers.poet --json | json 'table("hangs") | rows | "\(.thread) \(.held_by)"' | sort)" \
    "T:main null
T:reads null
T:writes T:reads"
has_none readers-fixed
cat >upgrade.c <<'C'
#include <pthread.h>
static pthread_rwlock_t cache = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static void *looks(void *p)
{
    pthread_rwlock_rdlock(&cache);
    pthread_barrier_wait(&both);
#ifdef FIXED
    pthread_rwlock_unlock(&cache);
#endif
    pthread_rwlock_wrlock(&cache); /* line 11 */
    pthread_rwlock_unlock(&cache);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, 0, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, looks, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
C
build upgrade
hangs upgrade 'waits for RW:cache, read-locked by T:looks.* \(acquired at event [0-9:]+\): a read lock cannot be upgraded' \
    '^T:looks.* requests RW:cache at upgrade.c:11'
has_none upgrade-fixed

# ---- pipes ----
cat >pipes.c <<'C'
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    static char block[8192];
    int down[2], up[2];
    if (pipe(down) || pipe(up))
        return 1;
    pid_t child = fork();
    if (!child) {
        ssize_t n;
        close(down[1]);
        close(up[0]);
        while ((n = read(down[0], block, 4096)) > 0)
            if (write(up[1], block, (size_t)n) != n) /* line 17 */
                exit(1);
        exit(0);
    }
    close(down[0]);
    close(up[1]);
    for (int i = 0; i < 64; i++) {
        if (write(down[1], block, sizeof block) < 0) /* line 24 */
            return 1;
#ifdef FIXED
        for (size_t got = 0; got < sizeof block;)
            got += (size_t)read(up[0], block, sizeof block - got);
#endif
    }
    close(down[1]);
    while (read(up[0], block, 4096) > 0)
        ;
    return waitpid(child, 0, 0) != child;
}
C
build pipes -processes
hangs pipes '^DEADLOCK: 2 threads wait for each other' \
    '^    T:main waits for buffer space in S:pipe.*, which only T:main\[[0-9]+\] can read \(last read at event [0-9:]+\)' \
    '^    T:main\[[0-9]+\] waits for buffer space in S:pipe.*, which only T:main can read' \
    '^T:main waits for buffer space in S:pipe.* at pipes.c:24' '^T:main\[[0-9]+\] waits for buffer space in S:pipe.* at pipes.c:17'
has_none pipes-fixed
cat >empty.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    char c = 0;
    int down[2], up[2];
    if (pipe(down) || pipe(up))
        return 1;
    pid_t child = fork();
    if (!child) {
        close(down[1]);
        for (int i = 0; i < 3; i++)
            if (read(down[0], &c, 1) != 1 || write(up[1], &c, 1) != 1)
                return 1;
        return 0;
    }
    close(up[1]);
#ifdef FIXED
    int rounds = 3;
#else
    int rounds = 1;
#endif
    for (int i = 0; i < rounds; i++)
        if (write(down[1], &c, 1) != 1 || read(up[0], &c, 1) != 1)
            return 1;
#ifndef FIXED
    if (read(up[0], &c, 1) != 1) /* line 27 */
        return 1;
#endif
    return waitpid(child, 0, 0) != child;
}
C
build empty -processes
hangs empty '^DEADLOCK: 2 threads wait for each other' \
    '^    T:main waits for bytes from S:pipe.*, which only T:main\[[0-9]+\] can write' \
    '^    T:main\[[0-9]+\] waits for bytes from S:pipe.*, which only T:main can write' '^T:main waits for bytes from S:pipe.* at empty.c:27'
has_none empty-fixed

# Nothing is concluded if a process that is not in the trace may write.
cat >sleeps.c <<'C'
#include <unistd.h>
int main(void) { return pause(); }
C
gcc -static sleeps.c -o sleeps
cat >helper.c <<'C'
#include <unistd.h>
int main(void)
{
    int up[2];
    char c;
    if (pipe(up))
        return 1;
    if (!fork())
        return execl("./sleeps", "sleeps", (char *)0);
    close(up[1]);
    return read(up[0], &c, 1) != 1;
}
C
cat >fifo.c <<'C'
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
    char c;
    int fd = mkfifo("bytes", 0600) == 0 ? open("bytes", O_RDWR) : -1;
    return fd < 0 || read(fd, &c, 1) != 1;
}
C
for program in helper fifo; do
    poetcc -trace -processes -g $program.c -o $program
    POET_OUTPUT=$program.poet ./$program &
    pids="$pids $!"
    reads() { poet blocked $program.poet >said 2>/dev/null; grep -q '^T:main waits for bytes from S:' said; }
    check "$program: poet blocked lists the reader" until_true reads
    is "$program: poet blocked reports no hang" "$(grep -Ec 'HANG|DEADLOCK|never' said)" 0
done
done_testing
