#!/bin/bash
# poet attach shows the blocked threads of a hanging program, and the stack of each thread beside its event.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
command -v gdb >/dev/null || { skip "gdb is not installed"; done_testing; exit; }
cat >dead.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *work(void *p)
{
    pthread_mutex_t *first = p ? &a : &b, *second = p ? &b : &a;
    pthread_mutex_lock(first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(second);
    return 0;
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t, 0, work, &a);
    return work(0) != 0;
}
C
poetcc -trace -g dead.c -o dead
blocks() { poet blocked dead.poet 2>/dev/null | grep -q "^DEADLOCK"; }
POET_OUTPUT=dead.poet ./dead & program=$!
pids=$program
until_true blocks
if ! gdb -q -batch -p $program -ex detach >/dev/null 2>said || grep -qi "not permitted" said; then
    skip "gdb is not permitted to attach here"
    done_testing
    exit
fi
poet attach $program >said 2>errors
is "attach exits with 0" "$?" 0
like "attach prints the deadlock" "$(cat said)" '^DEADLOCK: 2 threads wait for each other'
like "attach has the event of the main thread" "$(cat said)" '^T:main, thread 1 \(LWP [0-9]*\): acquire \(event [0-9]*:[0-9]*, dead\.c:10\)'
like "attach has the event of the other thread" "$(cat said)" '^T:work, thread 2 \(LWP [0-9]*\): acquire \(event [0-9]*:[0-9]*, dead\.c:10\)'
is "attach prints the stacks of both threads" "$(grep -c ' work (p=.*dead\.c:10' said)" 2
check "attach leaves the program running" kill -0 $program
is "attach to an invalid process exits with 2" "$(poet attach x 2>/dev/null; echo $?)" 2
is "attach to an untraced process is reported" "$(poet attach -s dead.poet $$ 2>&1 | grep -c 'is not in the run')" 1
done_testing
