#!/bin/bash
# A lock that processes share, of a holder that has ended: a process that was killed, one that exited, a thread that ended. That its waiters
# never resume is said by poet blocked and poet report, live and after the end; nothing if the mutex is robust, or the holder lives.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >dies.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static struct area {
    pthread_mutex_t lock;
    int value;
} *area;
static const char *how;
static void update(void)
{
    pthread_mutex_lock(&area->lock); // the owner acquires
    area->value++;
    if (!strcmp(how, "killed") || !strcmp(how, "robust"))
        raise(SIGKILL);
    if (!strcmp(how, "exits"))
        _exit(0);
    if (!strcmp(how, "lives"))
        for (;;)
            sigsuspend(&(sigset_t){0});
    pthread_mutex_unlock(&area->lock);
}
static void *ends(void *p)
{
    pthread_mutex_lock(&area->lock); // the owner ends
    pthread_exit(p);
}
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static void *reads(void *p)
{
    sigset_t none;
    if (!strcmp(how, "forked-read"))
        pthread_rwlock_rdlock(&table); // it reads
    else
        pthread_rwlock_wrlock(&table); // it writes
    if (!strcmp(how, "forked-free"))
        pthread_rwlock_unlock(&table);
    __atomic_store_n(&area->value, 1, __ATOMIC_SEQ_CST);
    sigemptyset(&none);
    while (strcmp(how, "forked-free"))
        sigsuspend(&none);
    return p;
}
static void *reads_briefly(void *p)
{
    pthread_rwlock_rdlock(&table);
    pthread_rwlock_unlock(&table);
    return p;
}
static int forks(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, reads, NULL);
    while (!__atomic_load_n(&area->value, __ATOMIC_SEQ_CST))
        ;
    if (strcmp(how, "forked-write")) { /* a reader that has left is none */
        pthread_create(&u, NULL, reads_briefly, NULL);
        pthread_join(u, NULL);
    }
    if (fork() == 0) {
        pthread_rwlock_wrlock(&table); // the child requests
        _exit(0);
    }
    return wait(NULL) < 0;
}
static void inspect(void)
{
    if (pthread_mutex_lock(&area->lock) == EOWNERDEAD) // main requests
        pthread_mutex_consistent(&area->lock);
    pthread_mutex_unlock(&area->lock);
}
int main(int argc, char **argv)
{
    pthread_mutexattr_t kind;
    pthread_t t;
    how = argv[argc - 1];
    area = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    if (!strcmp(how, "robust"))
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&area->lock, &kind);
    if (!strncmp(how, "forked", 6))
        return forks();
    if (!strcmp(how, "thread")) {
        pthread_create(&t, NULL, ends, NULL);
        pthread_join(t, NULL);
    } else {
        pid_t child = fork();
        if (child == 0) {
            update();
            _exit(0);
        }
        if (strcmp(how, "lives"))
            waitpid(child, NULL, 0);
        else
            while (!*(volatile int *)&area->value)
                ;
    }
    inspect();
    return 0;
}
C
cc -g -pthread dies.c -o dies-record
poetcc -trace -processes -g dies.c -o dies-traced
at() { echo "dies.c:$(grep -n "// $1" dies.c | cut -d: -f1)"; }
run() { # run PROGRAM HOW
    case $1 in
    *-record) poet record -o "$1-$2.poet" -- "./$1" "$2" ;;
    *) POET_OUTPUT=$1-$2.poet "./$1" "$2" ;;
    esac
}
says() { # says FILE PATTERN...
    local file=$1 pattern
    shift
    poet blocked "$file" >said 2>/dev/null
    for pattern; do grep -Eq -- "$pattern" said || return 1; done
}
owner='T:main\[[0-9]+\]'
hangs() { # hangs HOW OWNER PLACE
    for program in dies-record dies-traced; do
        file=$program-$1.poet
        run $program $1 >/dev/null 2>&1 &
        pids="$pids $!"
        set -- "$1" "$2" "$3" "^HANG: M:area->lock is held by $2, which has exited: its waiters will never resume" \
            "^T:main requests M:area->lock at $(at 'main requests')" "^    held by $2, acquired at $(at "$3")"
        check "$program $1: live" until_true says $file "$4" "$5" "$6" || cat said
        kill -KILL $(own_processes $program) 2>/dev/null
        until_true finished $file
        check "$program $1: after the end" says $file "$4" "$5" "$6" || cat said
        like "$program $1: the report" "$(poet report $file 2>/dev/null)" '^  HANG: 1 thread will never resume'
    done
}
hangs killed "$owner" 'the owner acquires'
hangs exits "$owner" 'the owner acquires'
hangs thread T:ends 'the owner ends'
# A read-write lock that a thread held at a fork.
for program in dies-record dies-traced; do
    run $program forked-write >/dev/null 2>&1 &
    pids="$pids $!"
    check "$program: a lock held at a fork for writing" until_true says $program-forked-write.poet \
        '^HANG: RW:table(#2)? was held by T:reads at the fork \(event [0-9:]+\), and that thread is not in the child: its waiters will never resume' \
        "^$owner requests RW:table(#2)? at $(at 'the child requests')" "^    held at the fork by T:reads, which is not in the child, acquired at $(at 'it writes')" || cat said
    run $program forked-read >/dev/null 2>&1 &
    pids="$pids $!"
    check "$program: a lock held at a fork for reading, which another thread has left" until_true says $program-forked-read.poet \
        '^HANG: RW:table(#2)? was held by T:reads at the fork \(event [0-9:]+\), and that thread is not in the child: its waiters will never resume' \
        "^$owner requests RW:table(#2)? at $(at 'the child requests')" "^    held at the fork by T:reads, which is not in the child, acquired at $(at 'it reads')" || cat said
    kill -KILL $(own_processes $program) 2>/dev/null
    run $program forked-free >/dev/null 2>&1
    is "$program: a lock that is free at a fork: the program ends" $? 0
    until_true finished $program-forked-free.poet
    is "$program: no hang" "$(poet blocked $program-forked-free.poet | grep -E 'HANG|DEADLOCK|never')" ""
done
# From a run that passed: the hang is predicted, and confirmed.
cat >passes.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static void *writes(void *p)
{
    pthread_rwlock_wrlock(&table);
    pthread_rwlock_unlock(&table);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    pthread_create(&t, NULL, writes, NULL);
    if (argc > 1)
        pthread_join(t, NULL);
    if (fork() == 0) {
        pthread_rwlock_rdlock(&table);
        pthread_rwlock_unlock(&table);
        _exit(0);
    }
    if (argc == 1)
        pthread_join(t, NULL);
    return wait(NULL) < 0;
}
C
cc -g -pthread passes.c -o passes
passed() { timeout 20 poet record -o passes.poet -- ./passes >/dev/null 2>&1; }
check "a run passes" until_true passed
like "the hang is predicted" "$(poet predict passes.poet)" '^1  fork-with-lock: the child requests a lock that another thread can hold at the fork'
check "it is confirmed" timeout 300 poet confirm passes.poet
poet record -o joins.poet -- ./passes first >/dev/null 2>&1
is "not if the thread has ended before" "$(poet predict joins.poet | grep fork-with-lock)" ""

for program in dies-record dies-traced; do
    run $program robust >/dev/null 2>&1
    is "$program robust: the program ends" $? 0
    until_true finished $program-robust.poet
    is "$program robust: no hang" "$(poet blocked $program-robust.poet | grep -E 'HANG|DEADLOCK|never')" ""
    run $program lives >/dev/null 2>&1 &
    pids="$pids $!"
    check "$program lives: main waits" until_true says $program-lives.poet "^T:main requests M:area->lock at $(at 'main requests')" || cat said
    is "$program lives: nothing is concluded" "$(grep -E 'HANG|DEADLOCK|never' said)" ""
    for process in $(own_processes $program); do stop_process $process; done
    kill -KILL $(own_processes $program) 2>/dev/null
    until_true finished $program-lives.poet
    is "$program lives: nor after both were killed" "$(poet blocked $program-lives.poet | grep -E 'HANG|DEADLOCK|never')" ""
done
done_testing
