#!/bin/bash
# Side effects of tracing: limits on descriptors, messages of each process of a tree, threads that end by exec,
# and jumps of the system clock.
. "$(dirname "$0")/lib.sh"

cat >fills.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
/* How many files can be opened, in a process and in its child, and what the limits are meanwhile. */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void fill(const char *name)
{
    struct rlimit limit;
    int opened = 0;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    getrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0)
        opened++;
    printf("%s opened %d of %lu, %lu\n", name, opened, limit.rlim_cur, limit.rlim_max);
    fflush(stdout);
}
int main(void)
{
    if (fork() == 0) {
        fill("child");
        return 0;
    }
    wait(NULL);
    fill("parent");
    return 0;
}
C
gcc -pthread fills.c -o fills
poetcc -trace fills.c -o traced
start_server -o o/ -q
for most in 40 1024; do
    hard=$(ulimit -Hn)
    if [ "$hard" != unlimited ] && [ "$hard" -lt 1100 ]; then
        skip "the hard limit on descriptors is $hard"
        continue
    fi
    name="with at most $most descriptors"
    (ulimit -Sn $most; ./fills >want)
    (ulimit -Sn $most; ./traced >got 2>err)
    is "$name: a program can open as many files as without Poet" "$(cat got err)" "$(cat want)"
    until_true finished latest
    is "$name: both processes are recorded" "$(poet dump latest | grep -c unlock)" 2
done
stop_server

# A tree of processes that cannot reach their server: the first process prints the message, once.
poetcc -trace -x c - -o tree <<'C'
#include <stdlib.h>
int main(int argc, char **argv) { return argc > 1 ? system(argv[1]) : 0; }
C
POET_MAX_STALL_MS=soon POET_SERVER=unix:$work/none.sock ./tree "./tree; ./tree './tree; ./tree'" 2>err
is "process tree: disabled tracing is reported once" "$(grep -c "tracing disabled" err)" 1
is "process tree: an invalid variable is reported once" "$(grep -c POET_MAX_STALL_MS err)" 1
POET_SERVER=unix:$work/none.sock ./tree "POET_SERVER=unix:$work/other.sock ./tree" 2>err
is "process tree: a message with another reason is printed as well" "$(grep -c "tracing disabled" err)" 2
POET_MAX_STALL_MS=soon POET_SERVER=unix:$work/none.sock ./tree "poet record -o again.poet -- ./tree" 2>err
is "process tree: a program that is recorded prints its own warnings" "$(grep -c POET_MAX_STALL_MS err)" 2

# exec ends all threads of a program, whatever they wait for.
poetcc -trace -g -x c - -o becomes <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t waits;
static void *waiter(void *a)
{
    pthread_mutex_lock(&m);
    sem_post(&waits);
    for (;;)
        pthread_cond_wait(&never, &m);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t;
    sem_init(&waits, 0, 0);
    pthread_create(&t, NULL, waiter, NULL);
    sem_wait(&waits);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    if (argc < 2)
        execl(argv[0], argv[0], "again", NULL);
    pthread_join(t, NULL);
    return 0;
}
C
start_server -o e/ -q
./becomes &
becomes=$!
pids="$pids $becomes"
hangs() { poet blocked latest | grep -q 'HANG: '; }
until_true hangs
is "after exec: a thread of the new program is listed as waiting" \
    "$(poet blocked latest | grep -c 'waits to join T:waiter')" 1
is "after exec: only the thread of the old program is listed as waiting at exit" \
    "$(poet blocked latest | sed -n '/^waiting at exit/,$p' | grep -c 'T:waiter.* waits on')" 1
kill -KILL $becomes
wait $becomes 2>/dev/null
until_true finished latest
poet blocked latest >blocked
is "killed after exec: the hang of the new program is reported, the old one waits at exit" \
    "$(grep -c 'HANG: ' blocked) $(sed -n '/^waiting at exit/,$p' blocked | grep -c 'T:waiter.* waits on')" "1 1"
stop_server

# The clock of the machine is set an hour ahead while the program waits.
cat >jumps.c <<'C'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* A wall clock that is an hour ahead once a file exists. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    long result = syscall(SYS_clock_gettime, clock, t);
    if (clock == CLOCK_REALTIME && access(JUMPED, F_OK) == 0)
        t->tv_sec += 3600;
    return (int)result;
}
C
gcc -shared -fPIC -DJUMPED="\"$work/jumped\"" jumps.c -o jumps.so
LD_PRELOAD=$work/jumps.so poet server -o j/ -q &
server=$!
pids="$pids $server"
until_true poet runs
./becomes again &
becomes=$!
pids="$pids $becomes"
hangs_here() { poet blocked j/becomes-*.poet | grep -q 'HANG: '; }
until_true hangs_here
touch jumped
is "clock jump: wait times do not grow" \
    "$(poet blocked latest | grep -Ec 'for [0-9.]+ (us|ms|s), event')" 2
kill -KILL $becomes
wait $becomes 2>/dev/null
until_true finished j/becomes-*.poet
is "clock jump: the end of the run is that of its programs" \
    "$(poet blocked j/becomes-*.poet | grep -Ec 'for [0-9.]+ (us|ms|s) \(until the end of the trace\), event')" 2
rm jumped
stop_server
done_testing
