#!/bin/bash
# poet predict reports locks that a signal handler requests and that the thread which it interrupts holds elsewhere, from
# runs in which the signal arrives at another time. Threads that block the signal there, and similar programs, have no finding.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
finding='handler-lock: potential deadlock (a signal handler requests a lock that the interrupted thread holds)'
# build NAME [ARG...]: from handler.c
build() {
    local what=$1
    shift
    poetcc -trace -g handler.c -o "$what" "$@"
}
record() {
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 "./$1" >/dev/null || return 1
    until_true finished "$1.poet"
}
has() {
    is "$1: a finding" "$(poet predict "$1.poet" | grep '^[0-9]' | sed 's/ ([0-9]* occurrences)//')" "1  $finding"
    poet predict "$1.poet" >said
    like "$1: where the lock is held, and requested" "$(cat said)" \
        '^  T:main acquired M:m at section \(handler.c:[0-9]+\) \(event .*\); its signal handler requested M:m at handle \(handler.c:[0-9]+\) \(event'
}
has_none() {
    check "$1: a run passes" record "$1"
    is "$1: no finding" "$(poet predict "$1.poet" | grep '^[0-9]')" ""
}
cat >handler.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t posted;
static volatile int begun, handled;
static sigjmp_buf out;
static void reach(volatile int *what, int n)
{
    while (*what < n)
        nanosleep(&(struct timespec){0, 1000000}, 0);
}
static void mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef PROCMASK
    sigprocmask(how, &set, 0);
#else
    pthread_sigmask(how, &set, 0);
#endif
}
static void handle(int sig)
{
#if defined(SEMAPHORE)
    sem_post(&posted);
#elif defined(TRY)
    if (pthread_mutex_trylock(&m) == 0)
        pthread_mutex_unlock(&m);
#else
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
#endif
    handled = handled + (sig == SIGUSR1);
#ifdef JUMP
    siglongjmp(out, 1);
#endif
}
static void section(void)
{
#ifdef BLOCKED
    mask(SIG_BLOCK);
#endif
#ifdef RECURSIVE
    pthread_mutex_lock(&m);
#endif
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
#ifdef RECURSIVE
    pthread_mutex_unlock(&m);
#endif
#ifdef BLOCKED
    mask(SIG_UNBLOCK);
#endif
}
static pthread_t first;
static void *operator(void *p)
{
    reach(&begun, 1);
    pthread_kill(first, SIGUSR1); /* main is not in its section */
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifdef RECURSIVE
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
#endif
    pthread_mutex_init(&m, &kind);
    sem_init(&posted, 0, 0);
    signal(SIGUSR1, handle);
    first = pthread_self();
#ifdef WAITING
    mask(SIG_BLOCK);
#endif
#ifdef OUTSIDE
    FILE *f = fopen("ready", "w");
    fclose(f);
    reach(&handled, 1);
    section();
    f = fopen("again", "w");
    fclose(f);
    reach(&handled, 2);
    return 0;
#endif
#ifdef AFTER
    section();
#endif
#ifndef OWN
    pthread_create(&t, 0, operator, 0);
#endif
#ifndef AFTER
    section();
#endif
#ifdef WAITING
    mask(SIG_UNBLOCK);
#endif
    if (!sigsetjmp(out, 1)) {
        begun = 1;
#ifdef OWN
        raise(SIGUSR1);
#else
        reach(&handled, 1);
#endif
    }
#ifdef WAITING
    mask(SIG_BLOCK);
#endif
    section();
#ifndef OWN
    pthread_join(t, 0);
#endif
    return 0;
}
C
build plain
check "plain: a run passes" record plain
has plain
like "plain: what sent the signal" "$(cat said)" '^  T:operator sent the signal to T:main at operator \(handler.c:[0-9]+\) \(event'
check "plain: the trace is sound" sound plain.poet
like "the events of the handler are between its begin and its end" "$(poet dump plain.poet | awk '$1 ~ /^1:/ { print $3 }' | paste -sd' ')" \
    ' handler handler_begin acquire lock unlock handler_end acquire lock unlock '
like "poet confirm: the thread is in no section when the signal is sent, as a variable that is not traced ensures" \
    "$(poet confirm --tries 1 plain.poet 1 2>&1)" 'not reproduced in 1 attempt$'
is "--fail-on knows it" "$(poet predict --fail-on handler-lock plain.poet >/dev/null 2>&1; echo $?)" 1
poet record -o recorded.poet -- ./plain >/dev/null 2>&1
cc -g handler.c -o untraced -pthread
check "poet record: a run passes" poet record -o untraced.poet -- ./untraced
until_true finished untraced.poet
has untraced

# Signals of a program that is not traced.
build outside -DOUTSIDE
POET_OUTPUT=outside.poet ./outside &
pids="$pids $!"
own=$!
for file in ready again; do
    until_true test -e $file
    kill -USR1 $own
done
wait $own
is "outside: the run passes" "$?" 0
until_true finished outside.poet
has outside
like "poet confirm says why a signal of another program may not arrive there" \
    "$(poet confirm -q --tries 1 --timeout 2 outside.poet 1 2>&1)" 'not reproduced in 1 attempt.*(: no thread of the program sent the signal|was killed)'

for way in BLOCKED 'BLOCKED -DPROCMASK' WAITING 'WAITING -DPROCMASK' AFTER SEMAPHORE TRY OWN RECURSIVE JUMP; do
    name=$(echo "$way" | tr -d ' -')
    build "$name" -D$way
    has_none "$name"
done
like "the trace says which signals are blocked" "$(poet dump BLOCKED.poet)" 'signal_mask T:main .* "blocks SIGUSR1"'
like "and unblocked" "$(poet dump BLOCKED.poet)" 'signal_mask T:main .* "unblocks SIGUSR1"'
check "the trace with signal masks is sound" sound BLOCKED.poet
done_testing
