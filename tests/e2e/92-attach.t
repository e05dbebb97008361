#!/bin/bash
# poet attach shows the blocked threads of a hanging program, and the stack of each thread beside its event.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
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
poet attach $program >said 2>errors
status=$?
if grep -q "not permitted" errors; then
    skip "ptrace is not permitted here"
    done_testing
    exit
fi
is "attach exits with 0" "$status" 0
like "attach prints the deadlock" "$(cat said)" '^DEADLOCK: 2 threads wait for each other'
like "attach has the event of the main thread" "$(cat said)" "^T:main \(LWP $program\): requests M:[ab], event [0-9]*:[0-9]*"
like "attach has the event of the other thread" "$(cat said)" '^T:work \(LWP [0-9]*\): requests M:[ab], event [0-9]*:[0-9]*'
is "attach prints the stacks of both threads" "$(grep -c '^#.* work (dead\.c:10)' said)" 2
check "attach leaves the program running" kill -0 $program
is "attach to an invalid process exits with 2" "$(poet attach x 2>/dev/null; echo $?)" 2
is "attach --source: a process that is not in the run is reported" \
    "$(poet attach -s dead.poet $$ 2>&1 | grep -c 'is not in the run')" 1
is "attach --json has the run, and what is known from outside" \
    "$(poet attach --json $program | json '.[0] | .cycles[0][0].event != null, .outside.cycles[0][0].event, (.threads | length)' | tr '\n' ' ')" \
    "true null 2 "
kill $program
wait $program 2>/dev/null

# ---- a runtime's threads of the system are not its tasks ----
cat >tasks.c <<'C'
#include <poet.h>
#include <unistd.h>
POET_RUNTIME("ucpp");
int main(void)
{
    poet_line_t task = poet_task("task", "main", NULL);
    poet_task_switch(task);
    poet_event(task, poet_type("create", NULL), 0, 0);
    poet_event(task, poet_type("start", NULL), 0, 0);
    poet_event(task, poet_type("sleep", NULL), 0, 0);
    poet_task_switch(0);
    pause();
}
C
poetcc -trace -g tasks.c -o tasks || exit 1
POET_OUTPUT=tasks.poet ./tasks &
program=$!
shows_both() { poet attach $program >said 2>&1 && grep -q '^T:main sleeps' said && grep -q 'asleep in signal' said; }
if until_true shows_both; then ok "attach shows the task, and the thread of the system"; else not_ok "attach shows the task, and the thread of the system: $(cat said)"; fi
like "a thread of the system is not called as the task" "$(cat said)" "^system thread main \(LWP $program\): asleep in signal, not in the trace"
kill $program
done_testing
