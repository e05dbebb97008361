#!/bin/bash
# Programs that are sampled run as they do otherwise: small stacks, alternate stacks of signal handlers, exceptions and jumps,
# many brief threads, cancelled waits, coroutines, system calls forbidden by a filter.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >burn.h <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static inline void burn(double ms)
{
    struct timespec t;
    double now, end = 0;
    do {
        for (int i = 0; i < 20000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = t.tv_sec * 1e3 + t.tv_nsec / 1e6;
        end = end ? end : now + ms;
    } while (now < end);
}
C
cat >stacks.c <<'C'
#include "burn.h"
#include <limits.h>
#include <setjmp.h>
#include <ucontext.h>
static char other[64 << 10], stack[64 << 10];
static sigjmp_buf back;
static ucontext_t here, there;
static void coroutine(void)
{
    burn(50);
    swapcontext(&there, &here);
}
static void handle(int s)
{
    burn(50);
    siglongjmp(back, s);
}
static void *small(void *p)
{
    burn(100);
    return p;
}
int main(void)
{
    pthread_attr_t a;
    pthread_t t;
    stack_t alternate = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction act = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
    printf("%d", pthread_create(&t, &a, small, 0));
    printf(" %d\n", pthread_join(t, 0));
    sigaltstack(&alternate, 0);
    sigfillset(&act.sa_mask);
    sigaction(SIGUSR1, &act, 0);
    for (int i = 0; i < 3; i++)
        if (!sigsetjmp(back, 1))
            raise(SIGUSR1);
        else
            printf("jumped %d\n", i);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    puts("resumed");
    return 0;
}
C
cat >thrown.cc <<'C'
#include "burn.h"
static int thrown;
static void deep(int n)
{
    if (n)
        deep(n - 1);
    burn(0.05);
    throw n;
    sink++;
}
int main()
{
    for (int i = 0; i < 3000; i++)
        try {
            deep(50);
        } catch (int) {
            thrown++;
        }
    printf("%d thrown\n", thrown);
}
C
cat >threads.c <<'C'
#include "burn.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int count;
static void *brief(void *p)
{
    burn(0.2);
    pthread_mutex_lock(&m);
    count++;
    pthread_mutex_unlock(&m);
    return p;
}
static void release(void *p) { pthread_mutex_unlock(p); }
static void *waiter(void *p)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(release, &m);
    count++;
    for (;;)
        pthread_cond_wait(&never, &m);
    pthread_cleanup_pop(0);
    return p;
}
int main(void)
{
    pthread_t t[8];
    void *result;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 8; i++)
            pthread_create(&t[i], 0, brief, 0);
        for (int i = 0; i < 8; i++)
            pthread_join(t[i], 0);
    }
    pthread_create(&t[0], 0, waiter, 0);
    pthread_cancel(t[0]);
    pthread_join(t[0], &result);
    printf("%d %d\n", count >= 400, result == PTHREAD_CANCELED);
    return 0;
}
C
cat >filtered.c <<'C'
#include "burn.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
static void *work(void *p)
{
    burn(100);
    return p;
}
int main(void)
{
    pthread_t t;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_timer_create, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_timer_settime, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_timer_delete, 1, 0),
        BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    burn(100);
    printf("%d %d\n", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    burn(100);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    puts("done");
    return 0;
}
C
# same NAME SAMPLES: what it prints, and its status, are those of a run without Poet, and it has such a number of samples
same() {
    wanted=$("./$1"; echo "status $?")
    got=$(timeout 200 poet record -m samples=2000 -o "$1.poet" -- "./$1"; echo "status $?")
    is "$1 runs as it does otherwise" "$got" "$wanted"
    order_ends "$1.poet"
    check "$1: the trace is sound" sound "$1.poet"
    like "$1 is sampled" "$(poet calls "$1.poet")" "^note: total .* \($2 samples"
}
for program in stacks threads filtered; do gcc -O2 -g -w "$program.c" -o "$program"; done
g++ -O2 -g -w thrown.cc -o thrown
for program in stacks thrown filtered; do same "$program" '[1-9][0-9]*'; done
same threads '[0-9]+'
like "threads that were too brief for a sample are counted" "$(poet calls threads.poet)" '^note: (39|40)[0-9] further threads ended without a sample'
is "a coroutine has its function" "$(poet calls --json stacks.poet | json '[row("coroutine")] | length')" 1
is "no samples once a filter forbids timers" "$(poet calls --json filtered.poet | json 'total.cpu_ns < 160e6')" true
timeout 60 poet record -m samples=100 -o true.poet -- true
order_ends true.poet
like "a program that is too brief for a sample: why there is none" "$(poet calls true.poet)" 'note: no thread was running when a sample was due'
done_testing
