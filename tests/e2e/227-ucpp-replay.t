#!/bin/bash
# poet replay of tasks: a runtime whose threads run other tasks while one waits for its turn, and real µC++.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$PWD/cache
sources=$root/tests/e2e/ucpp

cat >turn.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
POET_RUNTIME("ucpp");
static poet_line_t tasks[2], monitor;
static atomic_int first, left, entered, inside;
static char order[3];
static poet_type_t type(const char *name) { return poet_type(name, 0); }
static void *call(void *p)
{
    int me = p != 0;
    for (int i = 0; me != first && !left && i < 200000; i++)
        sched_yield();
    poet_task_switch(tasks[me]);
    poet_event(tasks[me], type("petition"), monitor, 0);
    while (!poet_replay_is_turn(monitor, type("entered")))
        sched_yield();
    while (atomic_exchange(&inside, 1))
        sched_yield();
    poet_pair(tasks[me], type("enter"), monitor, type("entered"), 0);
    order[entered++] = "ab"[me];
    poet_pair(tasks[me], type("left"), monitor, type("leave"), 0);
    inside = 0;
    left = 1;
    poet_event(tasks[me], type("end"), 0, 0);
    poet_task_switch(0);
    return p;
}
int main(int argc, char **argv)
{
    pthread_t threads[2];
    poet_line_t self = poet_task("task", "main", 0);
    poet_task_switch(self);
    poet_event(self, type("create"), 0, 0);
    poet_event(self, type("start"), 0, 0);
    monitor = poet_line("monitor", "m", 0, 0);
    poet_event(monitor, type("create"), 0, 0);
    first = argc > 1 && argv[1][0] == 'b';
    for (int i = 0; i < 2; i++) {
        tasks[i] = poet_task("task", i ? "b" : "a", 0);
        poet_event(tasks[i], type("create"), 0, 0);
    }
    poet_task_switch(0);
    for (int i = 0; i < 2; i++) {
        poet_task_switch(tasks[i]);
        poet_event(tasks[i], type("start"), 0, 0);
        poet_task_switch(0);
        pthread_create(&threads[i], 0, call, i ? &threads[1] : 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%s\n", order);
    return 0;
}
C
poetcc -trace -g -Wall -Wextra -Werror turn.c -o turn || exit 1
is "the task that is to be first is first" "$(POET_QUIET=1 POET_OUTPUT=turn.poet ./turn b)" ba
until_true finished turn.poet
check "poet check accepts the trace" poet check turn.poet
is "in a replay the other one waits until it is its turn" "$(poet replay turn.poet -- ./turn a 2>err)" ba
like "and nothing differs" "$(cat err)" "no divergence in [0-9]+ events"
is "without a replay it does not wait" "$(POET_SERVER=none ./turn a)" ab

# ---- poet debug: a task that is held keeps its worker thread ----
if ! command -v gdb >/dev/null || ! gdb -batch -ex 'python print("yes")' 2>&1 | grep -qx yes; then
    can_debug=
    skip "no gdb with Python (Debian: gdb)"
else
    can_debug=yes
    poetcc -trace -g -I"$root/examples/ucpp" "$root/examples/ucpp/accepting.c" "$root/examples/ucpp/ucpp.c" -o tasks || exit 1
    POET_QUIET=1 POET_OUTPUT=tasks.poet ./tasks
    until_true finished tasks.poet
    POET_QUIET=1 timeout 300 poet debug --batch -x "poet step 3" -x "poet continue" tasks.poet 3:4 </dev/null >said 2>&1
    like "poet debug of tasks on one worker thread: goes to an event of one" "$(cat said)" "^T:Girl is about to perform enter \(3:4"
    like "what is not reached is said" "$(cat said)" "^T:Girl has not reached accepted .*\(2:8"
    like "and which task is held, and needs a worker thread of its own" "$(grep -A1 'is held before' said | paste -sd' ')" \
        "^T:[A-Z][a-z#0-9]* is held before .* and keeps its worker thread, which T:[A-Za-z#0-9]* needs\. poet debug needs a worker thread for each task"
    like "and it continues to the end" "$(cat said)" "^the program exited: ([0-9]+) of \1 events performed"
fi

if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi

# replayed PROGRAM SEED: records it under one order of the ready queue and replays it under another; prints what differs.
replayed() {
    rm -f "$1".poet "$1".again.poet
    POET_QUIET=1 POET_OUTPUT=$1.poet TEST_SCHEDULE=random TEST_SEED=$2 timeout 60 "./$1" >recorded 2>/dev/null || echo "$1: status"
    until_true finished "$1.poet"
    TEST_SCHEDULE=random TEST_SEED=$(($2 + 100)) timeout 120 poet replay "$1.poet" >again 2>err || echo "$1: $(cat err)"
    grep -q "no divergence in" err && cmp recorded again
}
for kernel in "-nomulti -debug" "-nomulti -nodebug -O2" "-multi -nodebug -O2 -DPROCESSORS=4"; do
    wrong=$(for program in accepting waiting semaphores fibonacci kernelsem turns; do
        # shellcheck disable=SC2086
        CXX=u++ poetcc++ -trace -quiet -fno-access-control $kernel "$sources/schedule.cc" "$sources/$program.cc" -o "$program" 2>err || cat err
        for seed in 1 2 3; do
            replayed "$program" "$seed"
        done
    done)
    is "real µC++, $kernel: six programs, 3 orders of the ready queue each, are replayed under another order" "$wrong" ""
done
if [ "$can_debug" ]; then
    echo 'unsigned int uDefaultProcessors() { return 9; }' >processors.cc
    CXX=u++ poetcc++ -trace -quiet -multi -debug "$sources/accepting.cc" processors.cc -o debugged 2>err || cat err
    POET_QUIET=1 POET_OUTPUT=debugged.poet ./debugged >/dev/null
    until_true finished debugged.poet
    POET_QUIET=1 timeout 300 poet debug --batch -x "poet next" -x "poet step" -x "poet continue" debugged.poet 3:4 </dev/null >said 2>&1
    is "real µC++ with a processor for each task: poet debug goes from event to event" \
        "$(grep -o '^T:Girl is about to perform [a-z]*\|^the program exited' said | xargs)" \
        "T:Girl is about to perform enter T:Girl is about to perform entered T:Girl is about to perform accept the program exited"
fi
done_testing
