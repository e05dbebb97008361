#!/bin/bash
# A system thread that acts for several groups of workers in turn, as a runtime on one kernel thread does: what has run in
# a group remains there, and many changes send no messages.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >groups.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
POET_RUNTIME("ucpp");
static poet_line_t task;
static int rounds;
static const char *const groups[] = {"left", "right", "middle"};
/* A turn lasts longer than a step of the clock: one that begins and ends at the same time has no duration. */
static void run_task(void)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 500);
}
static void *carry(void *p)
{
    for (int i = 0; i < 3 * rounds; i++) {
        poet_worker_thread("P", groups[i % 3]);
        if (i % 3 == 2) /* nothing runs there */
            continue;
        poet_task_switch(task);
        run_task();
        if (i % 30 == 0) {
            poet_event(0, poet_type("signal", 0), 0, 0);
            poet_worker_thread("P", "inside"); /* while the task is on it */
            run_task();
            poet_event(0, poet_type("signal", 0), 0, 0);
        }
        poet_task_switch(0);
    }
    return p;
}
int main(int argc, char **argv)
{
    pthread_t t;
    rounds = atoi(argv[1]);
    task = poet_task("task", "t", 0);
    poet_task_switch(task);
    poet_event(task, poet_type("create", 0), 0, 0);
    poet_event(task, poet_type("start", 0), 0, 0);
    poet_task_switch(0);
    pthread_create(&t, 0, carry, 0);
    pthread_join(t, 0);
    for (int i = 0; argc > 2 && i < 100; i++) { /* more names than a thread may have workers */
        char name[16];
        snprintf(name, sizeof name, "W%d", i);
        poet_worker_thread(name, "pool");
        poet_task_switch(task);
        run_task();
        poet_task_switch(0);
    }
    poet_task_switch(task);
    poet_event(0, poet_type("end", 0), 0, 0);
    poet_event(task, poet_type("delete", 0), 0, POET_CLOSES);
    poet_task_release(task);
    return 0;
}
C
poetcc -trace -O1 -g -Wall -Wextra -Werror groups.c -o groups || exit 1
intervals() { # FILE: what ran in each group
    poet states --by cluster --json "$1" | python3 -c '
import json, sys
rows = [json.loads(text).get("row", {}) for text in sys.stdin]
print(*("{cluster}:{intervals}".format(**row) for row in rows if row.get("threads")))'
}
messages() { # ROUNDS: what a run sends and writes, with its server
    strace -f -e trace=sendmsg,sendto,write,writev -xx -s 8 -o calls env POET_OUTPUT=counted.poet ./groups "$1"
    until_true finished counted.poet
    grep -c . calls
}
POET_OUTPUT=groups.poet ./groups 100
until_true finished groups.poet
check "poet check accepts the trace" poet check groups.poet
is "each group has what ran there, also what was on the thread when that changed" "$(intervals groups.poet | tr ' ' '\n' | grep -v None | sort | xargs)" \
    "inside:10 left:100 right:100"
POET_OUTPUT=many.poet ./groups 3 many
until_true finished many.poet
check "more names than a thread may have workers: poet check accepts the trace" poet check many.poet
is "all intervals are there" "$(poet states --by cluster --json many.poet | json '.[] | .total? | objects | .intervals')" 109
if command -v strace >/dev/null; then
    few=$(messages 10)
    is "ten times as many changes make no more system calls" "$(($(messages 1000) < few + 1000))" 1
else
    skip "strace is not installed"
fi
done_testing
