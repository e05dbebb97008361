#!/bin/bash
# A program that hangs: who waits for what, and the stack of each thread beside its event, without a replay.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
command -v gdb >/dev/null || { skip "there is no gdb"; done_testing; exit; }
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
    skip "gdb may not attach here"
    done_testing
    exit
fi
poet attach $program >said 2>errors
is "it is attached to" "$?" 0
like "who waits is said" "$(cat said)" '^DEADLOCK: 2 threads wait for each other'
like "of main its event" "$(cat said)" '^T:main, thread 1 \(LWP [0-9]*\): acquire \(event [0-9]*:[0-9]*, dead\.c:10\)'
like "of the other thread, too" "$(cat said)" '^T:work, thread 2 \(LWP [0-9]*\): acquire \(event [0-9]*:[0-9]*, dead\.c:10\)'
is "and both stacks" "$(grep -c ' work (p=.*dead\.c:10' said)" 2
check "the program goes on" kill -0 $program
is "a process that is none is wrong usage" "$(poet attach x 2>/dev/null; echo $?)" 2
is "one that is not traced is said" "$(poet attach -s dead.poet $$ 2>&1 | grep -c 'is not in the run')" 1
done_testing
