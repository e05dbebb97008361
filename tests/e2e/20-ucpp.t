#!/bin/bash
# µC++-like tasks, monitors and coroutines: a runtime of its own threads, traced through poet.h alone, and the
# lines that six programs on it must give under any schedule.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
programs="semaphores accepting waiting coroutines fibonacci inside"
runs=${POET_TEST_RUNS:-1000}
export POET_QUIET=1

check "ucpp.conf is valid" poet check "$root/config/ucpp.conf"
check "ucpp-trace.conf, with the marks of µC++, is valid" poet check "$root/config/ucpp-trace.conf"
poetcc -trace -g -Wall -Wextra -Werror -c "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1

for program in $programs; do
    poetcc -trace -g -Wall -Wextra -Werror "$root/examples/ucpp/$program.c" ucpp.o -o "$program" || exit 1
    check "$program: runs untraced" env POET_SERVER=none "./$program"
    POET_OUTPUT="$program.poet" "./$program" || not_ok "$program exits with 0"
    until_true finished "$program.poet"
    check "$program: poet check accepts the trace" poet check "$program.poet"
    poet export "$program.poet" -o "$program.txt" --labels name --no-title
    is "$program: the diagram is that of tests/golden" "$(cat "$program.txt")" "$(cat "$root/tests/golden/ucpp-$program.txt")"
    for schedule in fifo lifo random; do
        POET_OUTPUT=$program-$schedule.poet UCPP_RUNS=$runs UCPP_SEED=1 UCPP_SCHEDULE=$schedule \
            timeout 600 "./$program" || not_ok "$program exits with 0, $schedule"
        until_true finished "$program-$schedule.poet"
        like "$program: $runs runs, $schedule" \
            "$(poet dump --json "$program-$schedule.poet" | python3 "$root/tests/e2e/ucpp.py" "$program" 2>&1)" \
            "^$runs runs"
    done
    check "$program: poet check accepts a trace of a random schedule" poet check "$program-random.poet"
    rm -f "$program"-*.poet
done
places=$(poet dump --json accepting.poet | json '.[] | select(.type? == ("petition", "enter", "accept", "leave", "start")) | .site')
is "events are where the program called the runtime; only the task main starts in the runtime" \
    "$(echo "$places" | sed 's/:.*//' | sort | uniq -c | tr -s ' ')" " 32 accepting.c
 1 ucpp.c"
# ---- what the six programs leave out: monitors that call each other back, coroutines that resume each other, ... ----
poetcc -trace -g -Wall -Wextra -Werror -I"$root/examples/ucpp" "$root/tests/e2e/ucpp-stress.c" ucpp.o -o stress || exit 1
for schedule in fifo lifo random; do
    is "stress program with all primitives, $schedule" "$(POET_OUTPUT=stress-$schedule.poet UCPP_RUNS=100 UCPP_SEED=5 UCPP_SCHEDULE=$schedule \
        timeout 600 ./stress; echo $?)" 0
    until_true finished "stress-$schedule.poet"
    check "stress program: poet check accepts the trace, $schedule" poet check "stress-$schedule.poet"
done

# The script that checks lines rejects wrong ones.
poet dump --json waiting.poet | sed 's/"signal"/"accept"/' >changed
check "ucpp.py rejects a changed mark" sh -c "! python3 '$root/tests/e2e/ucpp.py' waiting <changed"

# ---- a task that moves from one kernel thread to another ----
cat >moves.c <<'C'
#include <poet.h>
#include <pthread.h>
POET_RUNTIME("ucpp");
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static poet_line_t tasks[2];
static void *carry(void *p)
{
    int me = p != 0;
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        while (turn != me)
            pthread_cond_wait(&turned, &lock);
        poet_task_switch(tasks[i % 2]); /* both tasks run on both threads, in turn */
        poet_event(0, poet_type("signal", 0), 0, 0);
        poet_text("round %d", i);
        poet_task_switch(0);
        poet_text("nobody says this");
        turn = !me;
        pthread_cond_signal(&turned);
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        tasks[i] = poet_task("task", i ? "b" : "a", 0);
        poet_task_switch(tasks[i]);
        poet_event(tasks[i], poet_type("create", 0), 0, 0);
        poet_event(tasks[i], poet_type("start", 0), 0, 0);
    }
    poet_task_switch(0);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, carry, i ? &t[1] : 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    for (int i = 0; i < 2; i++) {
        poet_task_switch(tasks[i]);
        poet_event(0, poet_type("end", 0), 0, 0);
        poet_event(tasks[i], poet_type("delete", 0), 0, POET_CLOSES);
        poet_task_release(tasks[i]);
    }
    poet_text("nor this");
    return 0;
}
C
poetcc -trace -g moves.c -o moves
POET_OUTPUT=moves.poet ./moves
until_true finished moves.poet
is "two tasks on two threads are two lines" "$(poet stat moves.poet | sed -n 's/^lines *//p')" 2
is "each task's line has its events in their order" \
    "$(poet dump --json moves.poet | sed -n 's/.*"event":"1:.*"annotations":\["\(.*\)"\].*/\1/p' | tr '\n' ' ')" \
    "$(for i in $(seq 0 2 48); do printf 'round %d round %d ' "$i" "$i"; done)"
is "events of two tasks without synchronization are concurrent" "$(poet order moves.poet 1:9 2:90; poet order moves.poet 1:100 2:3)" "concurrent
concurrent"
poetcc -trace -g -static moves.c -o moves-static
check "a static program with tasks runs" env POET_OUTPUT=static.poet ./moves-static
until_true finished static.poet
is "a static program with tasks has the same number of events" "$(poet stat static.poet | grep events)" "$(poet stat moves.poet | grep events)"
done_testing
