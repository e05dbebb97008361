#!/bin/bash
# Requests of tasks, which are recorded whether or not they have to wait: a wait is only one that had to.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
poetcc -trace -g -c "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
record() { # record PROGRAM: one processor; its waits
    poetcc -trace -g "$root/examples/ucpp/$1.c" ucpp.o -o "$1" || exit 1
    POET_OUTPUT=$1.poet UCPP_SCHEDULE=fifo "./$1" >/dev/null
    until_true finished "$1.poet"
    poet waits --by wait --json "$1.poet" >"$1.json"
}
operations() { json 'rows | .type // empty' "$1.json" | sort | uniq -c | tr -s ' \n' ' '; }
record fibonacci
is 'members of objects that are new, or were left: no wait' "$(operations fibonacci)" ' 1 awaits end '
is 'the calls are in the trace' "$(poet dump --json fibonacci.poet | grep -c '"type":"petition"')" 8
record semaphores
is 'a wait on a condition is one; calls of free monitors are none' "$(operations semaphores)" ' 1 awaits end 1 wait '
record inside
is "a call of a task that accepts it later is a wait; a task's calls of its own members are none" \
    "$(operations inside)" ' 1 accept 1 awaits end 1 petition '
for program in fibonacci semaphores inside; do
    is "$program: no time of a wait is unattributed" "$(poet waits --json "$program.poet" | json 'total | .unattributed_ns')" 0
done

# ---- semaphores and locks that are not monitors ----
cat >units.c <<'C'
#include <poet.h>
#include <stdio.h>
#include <unistd.h>
POET_RUNTIME("ucpp");
static poet_line_t tasks[2], semaphore, lock;
static poet_type_t type(const char *name) { return poet_type(name, NULL); }
static void in(int task) { poet_task_switch(tasks[task]); }
static void pass(void)
{
    poet_event(0, type("P"), semaphore, 0);
    usleep(1000);
    poet_pair(0, type("passed"), semaphore, type("lowered"), NULL);
}
static void increase(void)
{
    static const char *const none[] = {NULL};
    poet_pair(0, type("V"), semaphore, poet_type("increased", none), NULL);
}
int main(void)
{
    for (int i = 0; i < 2; i++) {
        tasks[i] = poet_task("task", i ? "b" : "a", NULL);
        in(i);
        poet_event(0, type("create"), 0, 0);
        poet_event(0, type("start"), 0, 0);
    }
    semaphore = poet_line("semaphore", "units", NULL, POET_SHARED);
    lock = poet_line("lock", "lock", NULL, 0);
    in(0);
    pass();         /* a unit that was there */
    in(1);
    poet_event(0, type("P"), semaphore, 0);
    usleep(1000);
    in(0);
    increase();
    in(1);
    poet_pair(0, type("passed"), semaphore, type("lowered"), NULL); /* a unit that came */
    for (int i = 0; i < 2; i++) { /* a new lock; one that the task released */
        poet_event(0, type("acquire"), lock, 0);
        usleep(1000);
        poet_pair(0, type("lock"), lock, type("acquired"), NULL);
        poet_pair(0, type("unlock"), lock, type("released"), NULL);
    }
    in(0);
    poet_event(0, type("acquire"), lock, 0);
    poet_pair(0, type("lock"), lock, type("acquired"), NULL);
    in(1);
    poet_event(0, type("acquire"), lock, 0);
    usleep(1000);
    in(0);
    poet_pair(0, type("unlock"), lock, type("released"), NULL);
    in(1);
    poet_pair(0, type("lock"), lock, type("acquired"), NULL); /* one that another task held */
    poet_pair(0, type("unlock"), lock, type("released"), NULL);
    for (int i = 0; i < 2; i++) {
        in(i);
        poet_event(0, type("end"), 0, POET_CLOSES);
    }
    poet_task_switch(0);
    return 0;
}
C
poetcc -trace -g units.c -o units
POET_OUTPUT=units.poet ./units
until_true finished units.poet
poet waits --by wait --json units.poet >units.json
is 'semaphores and locks: only the requests that had to wait are waits' \
    "$(json 'rows | select(.type) | "\(.type) \(.thread)"' units.json | sort | xargs)" 'P T:b acquire T:b'
is 'semaphores and locks: no time of a wait is unattributed' "$(poet waits --json units.poet | json 'total | .unattributed_ns')" 0
done_testing
