#!/bin/bash
# poet record -m samples: functions of a program that was not compiled for it get the CPU time that the program itself
# measures for them, within the stated error; waits are in the same tree, exactly, and all rows of a thread add up to its
# lifetime. No call is interrupted, and the program does not see the signal.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >burn.h <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static volatile unsigned long sink;
static inline double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
#define BURN(ms)                                                                                   \
    for (double end = cpu_ms() + (ms); cpu_ms() < end;)                                            \
        for (int i = 0; i < 200000; i++)                                                           \
            sink += i;
C

# ---- shares of functions, optimized and without frame pointers ----
cat >share.c <<'C'
#include "burn.h"
#define FUNCTION __attribute__((noinline, noclone)) static void
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
FUNCTION three(void) { BURN(600) sink++; }
FUNCTION one(void) { BURN(200) sink++; }
FUNCTION locked(void)
{
    pthread_mutex_lock(&m);
    BURN(100)
    pthread_mutex_unlock(&m);
}
FUNCTION deep(int n)
{
    if (n)
        deep(n - 1);
    else
        BURN(200)
    sink++;
}
static void *work(void *p)
{
    locked();
    one();
    three();
    deep(30);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, work, 0);
    BURN(50)
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
C
gcc -O2 -fomit-frame-pointer -g share.c -o share
check "the program ends" timeout 120 poet record -m samples=997 -o share.poet -- ./share
order_ends share.poet
poet calls --json share.poet >flat.json
# near FUNCTION MS: whether it has that CPU time in total, within three times the error
near() { json "row(\"$1\") | (.total_ns - $2e6 | fabs) < 3 * .error_ns + 10e6" flat.json; }
is "three has its CPU time" "$(near three 600)" true
is "one has a third of it" "$(near one 200)" true
is "a recursive function has its time once" "$(near deep 200)" true
is "a wait is there with its calls" "$(json 'row("acquire").calls' flat.json)" 1
is "it has no samples and no error" "$(json 'row("acquire") | cells(.samples, .error_ns)' flat.json)" "- -"
is "functions have no number of calls" "$(json '[rows | select(.samples != null) | .calls] | unique | .[]' flat.json)" null
is "hardly any stack is not whole" \
    "$(json '[rows | select(.function == "(callers not known)") | .total_ns] | add // 0 | . < 50e6' flat.json)" true
like "the sampled CPU time is that of the program" "$(poet calls share.poet)" '^note: total .* ms on a CPU \([0-9]+ samples, one in'

# ---- on and off the CPU: one tree for each thread ----
poet calls --wall --json share.poet >wall.json
is "the rows of all threads add up to their lifetimes" "$(json '([outer_rows.total_ns] | add) - ([inner_rows.self_ns // 0] | add) | fabs < 1000' wall.json)" true
is "the wait is below the function that waits" \
    "$(json '[inner_rows.function | sub(" .*"; "")] | .[index("locked"):] | index("acquire") != null' wall.json)" true
is "time off the CPU is named" "$(json '[inner_rows | select(.function == "(off CPU, no traced wait)")] | length > 0' wall.json)" true
check "a flame graph as a page" poet calls --wall share.poet -o wall.html
like "it has the waits" "$(cat wall.html)" 'acquire'
poet calls -f folded share.poet >folded
like "folded stacks" "$(cat folded)" '^work[^;]*;three[^;]* [0-9]+$'

# ---- nothing is interrupted ----
cat >interrupted.c <<'C'
#include "burn.h"
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>
static int failed;
static void check(const char *name, long result)
{
    if (result < 0 && errno == EINTR && ++failed)
        printf("%s: EINTR\n", name);
    errno = 0;
}
int main(void)
{
    int queue = epoll_create1(0), ends[2];
    struct timespec brief = {0, 20000}, at;
    struct epoll_event event;
    sigset_t none, one;
    sem_t sem;
    sem_init(&sem, 0, 0);
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigprocmask(SIG_BLOCK, &one, 0);
    if (pipe(ends))
        return 2;
    struct pollfd ready = {ends[0], POLLIN, 0};
    for (double end = cpu_ms() + 700; cpu_ms() < end;) {
        for (int i = 0; i < 3000; i++)
            sink += i;
        check("nanosleep", nanosleep(&brief, 0));
        check("poll", poll(&ready, 1, 1));
        check("ppoll", ppoll(&ready, 1, &brief, &none));
        check("select", select(0, 0, 0, 0, &(struct timeval){0, 20}));
        check("pselect", pselect(0, 0, 0, 0, &brief, &none));
        check("epoll_wait", epoll_wait(queue, &event, 1, 1));
        check("epoll_pwait", epoll_pwait(queue, &event, 1, 0, &none));
        check("sigtimedwait", sigtimedwait(&one, 0, &brief));
        check("usleep", usleep(20));
        clock_gettime(CLOCK_REALTIME, &at);
        check("sem_timedwait", sem_timedwait(&sem, &at));
    }
    printf("%d interrupted\n", failed);
    return failed;
}
C
gcc -O2 interrupted.c -o interrupted
is "no call returns EINTR" "$(timeout 300 poet record -m samples=10000 -o interrupted.poet -- ./interrupted)" "0 interrupted"
like "it was sampled" "$(poet calls interrupted.poet)" '^note: total .* \([1-9][0-9]* samples'

# ---- the program's own signals ----
cat >signals.c <<'C'
#include "burn.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t got;
static void handle(int s) { got = s; }
static int count(const sigset_t *set)
{
    int n = 0;
    for (int s = 1; s < 65; s++)
        n += sigismember(set, s) == 1;
    return n;
}
int main(int argc, char **argv)
{
    sigset_t all, old;
    struct sigaction is;
    struct timespec now = {0, 0};
    int handlers = 0, status;
    for (int s = 1; s < 65; s++)
        handlers += sigaction(s, 0, &is) == 0 && is.sa_handler != SIG_DFL && is.sa_handler != SIG_IGN;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    printf("%d handlers, %d blocked\n", handlers, count(&old));
    BURN(50)
    pthread_sigmask(SIG_BLOCK, 0, &old);
    printf("%d blocked, ", count(&old));
    sigpending(&old);
    printf("%d pending, sigtimedwait: %d\n", count(&old), sigtimedwait(&all, 0, &now));
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    printf("%d were blocked\n", count(&old));
    fflush(stdout);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++) {
        pid_t child = fork();
        if (!child) {
            raise(s);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != s)
            printf("%d does not end a process\n", s);
    }
    BURN(50)
    for (int s = SIGRTMIN; argc > 1 && s <= SIGRTMAX; s++) {
        signal(s, handle);
        raise(s);
        if (got != s)
            printf("%d is lost\n", s);
    }
    BURN(50)
    return 0;
}
C
gcc -O2 signals.c -o signals
./signals own >plain.txt
timeout 100 poet record -m samples=997 -o signals.poet -- ./signals own >sampled.txt 2>said.txt
is "the program sees its own signals only" "$(cat sampled.txt)" "$(cat plain.txt)"
unset POET_QUIET
timeout 100 poet record -m samples=997 -o signals.poet -- ./signals own >/dev/null 2>said.txt
like "it is said that sampling ends" "$(cat said.txt)" 'samples: the program uses signal 63; no more samples are taken'

# ---- children, libraries, restricted processes ----
cat >forks.c <<'C'
#include "burn.h"
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void in_child(void) { BURN(200) sink++; }
int main(void)
{
    pid_t child = fork();
    if (!child) {
        pthread_mutex_lock(&m);
        in_child();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return 0;
}
C
gcc -O2 -g forks.c -o forks
check "a program that forks" timeout 100 poet record -m samples=997 -o forks.poet -- ./forks
order_ends forks.poet
is "a child is sampled" "$(poet calls --json forks.poet | json 'row("in_child").total_ns > 100e6')" true

cat >started.c <<'C'
#include "burn.h"
__attribute__((noinline)) static void *burns(void *a) { BURN(100) sink++; return a; }
void start(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, burns, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
C
echo 'void start(void); int main(void) { start(); return 0; }' >starts.c
gcc -O2 -g -shared -fPIC started.c -o libstarted.so && gcc -g starts.c -L. -lstarted -Wl,-rpath,"$PWD" -o starts
like "it is said how many threads of libraries are not sampled" "$(timeout 100 poet record -m samples=997 -o starts.poet -- ./starts 2>&1)" \
    'threads started by libraries: 2; not sampled before their first recorded call .*poet record --libraries'
like "with --libraries they are" "$(timeout 100 poet record --libraries -m samples=997 -o starts.poet -- ./starts 2>&1; poet calls starts.poet)" '^burns '

# ---- options ----
like "samples and calls exclude each other" "$(poet record -m samples=99,calls -- true 2>&1)" 'samples and calls exclude each other'
for wrong in samples=0 samples=10001 samples= samples=x; do
    like "$wrong is refused" "$(poet record -m $wrong -- true 2>&1)" "$wrong: unknown measurement; valid: .*samples=1 to samples=10000"
done
cat >samples.conf <<'C'
statistical = { samples = 500; };
C
check "a file says so, too" poet check samples.conf
timeout 100 poet record -m samples.conf -o file.poet -- ./forks
order_ends file.poet
is "it is followed" "$(poet calls --json file.poet | json 'sum(rows.samples // 0) > 5')" true
done_testing
