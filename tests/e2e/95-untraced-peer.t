#!/bin/bash
# poet replay reports a divergence if a thread that the trace does not contain uses a lock of the program.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e

# Threads created in plain.c are in no trace. (No thread of the trace is named "stranger".)
cat >plain.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
extern void *visit(void *);
static atomic_int gone;
static void *begin(void *p)
{
    prctl(PR_SET_NAME, "stranger");
    visit(p);
    atomic_store(&gone, 1);
    return p;
}
void let_in(void)
{
    pthread_t t;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&t, &a, begin, 0) == 0)
        while (!atomic_load(&gone))
            sched_yield();
}
C
cat >guest.c <<'C'
#include <pthread.h>
#include <stdlib.h>
extern void let_in(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *visit(void *p)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return p;
}
static void *work(void *p)
{
    for (int i = 0; i < 5; i++)
        visit(p);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    visit(0);
    int when = argc > 1 ? atoi(argv[1]) : 0;
    if (when == 1)
        let_in();
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    if (when == 2)
        let_in();
    return 0;
}
C
cc -c plain.c && poetcc -trace -g -c guest.c && poetcc -trace guest.o plain.o -o guest
POET_OUTPUT=guest.poet ./guest
until_true finished guest.poet
replay() {
    rm -f again.poet
    timeout 60 poet replay guest.poet -o again.poet "$@" 2>said
    status=$?
    until_true finished again.poet
}
replay ./guest 0
is "replay without an untraced thread is equal" "$status $(python3 "$here/same.py" guest.poet again.poet | tr -d 0-9)" "0 the same:  events"
replay ./guest 1
is "replay with an untraced thread at the lock exits with 1" "$status" 1
like "replay with an untraced thread at the lock reports it" "$(cat said)" \
    'divergence: T:work reached [a-z]* on M:m \(event [0-9:]*, guest\.c:[0-9]*\) as number [0-9]* on M:m: a thread that is not in the trace was there first; [0-9]* of [0-9]* events were replayed'
check "replay with an untraced thread runs to the end" test "$(poet stat --json again.poet | grep -c '"finished":true')" = 1
is "replay with an untraced thread: the trace is sound" "$(poet check again.poet >/dev/null 2>&1; echo $?)" 0
replay -q ./guest 2
like "an untraced thread after all events is not a divergence, but reported" "$status $(cat said)" \
    '^0 poet replay: no divergence in [0-9]+ events \([0-9]+ additional records?\)$'

# An untraced thread that is joined is not taken for another one.
cat >made.c <<'C'
#include <pthread.h>
static void *begin(void *p) { return p; }
int make(pthread_t *t) { return pthread_create(t, 0, begin, 0); }
C
cat >join.c <<'C'
#include <pthread.h>
extern int make(pthread_t *);
static void *work(void *p) { return p; }
int main(int argc, char **argv)
{
    pthread_t t, u;
    pthread_create(&t, 0, work, 0);
    if (argc > 1 && make(&u) == 0)
        pthread_join(u, 0);
    return argv && pthread_join(t, 0);
}
C
cc -c made.c && poetcc -trace -g -c join.c && poetcc -trace join.o made.o -o join
again() { # again TRACE WORD...: replays the program with these arguments
    rm -f again.poet
    timeout 60 poet replay "$1" -o again.poet ./join "${@:2}" 2>said
    status=$?
    until_true finished again.poet
}
rm -f alone.poet both.poet
POET_OUTPUT=alone.poet ./join
POET_OUTPUT=both.poet ./join both
until_true finished alone.poet
until_true finished both.poet
again alone.poet both
like "a join of an untraced thread instead of a traced one is a divergence" "$status $(cat said)" \
    '^1 poet replay: divergence: T:main performed join on another line, recorded was join on T:work \(event 1:2, join\.c:10\);'
again both.poet
like "a join of a traced thread instead of an untraced one is a divergence" "$status $(cat said)" \
    '^1 poet replay: divergence: T:main performed join on T:work, recorded was join on T:main \(event 1:2, join\.c:9\);'
again both.poet both
is "a join of the same untraced thread is not a divergence" "$status $(tr -d 0-9 <said)" "0 poet replay: no divergence in  events"
done_testing
