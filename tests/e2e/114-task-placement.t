#!/bin/bash
# Task placement (which worker threads ran a task, and when) in the table of poet states --placement and in
# diagram rows: for a task with known migrations, and for a runtime with several processors and clusters.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >moves.c <<'C'
#include <poet.h>
#include <pthread.h>
POET_RUNTIME("ucpp");
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static poet_line_t task;
static int turn;
static void work(void) { for (volatile int i = 0; i < 20000; i++) { } }
static void *carry(void *p)
{
    long me = (char *)p - (char *)0;
    poet_worker_thread(me ? "second" : "first", me ? "right" : "left");
    for (int k = 0; k < 5; k++) {
        pthread_mutex_lock(&lock);
        while (turn != me) pthread_cond_wait(&passed, &lock);
        pthread_mutex_unlock(&lock);
        poet_task_switch(task);
        poet_event(k || me ? 0 : task, poet_type(k || me ? "note" : "start", 0), 0, 0);
        work();
        poet_event(0, poet_type(k == 4 && me ? "end" : "note", 0), 0, 0);
        if (k == 4 && me) {
            poet_event(task, poet_type("delete", 0), 0, POET_CLOSES);
            poet_task_release(task);
        }
        poet_task_switch(0);
        pthread_mutex_lock(&lock);
        turn = !me;
        pthread_cond_broadcast(&passed);
        pthread_mutex_unlock(&lock);
    }
    return p;
}
int main(void)
{
    pthread_t t[2];
    task = poet_task("task", "mover", 0);
    poet_task_switch(task);
    poet_event(task, poet_type("create", 0), 0, 0);
    poet_task_switch(0);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, carry, (char *)0 + i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g -O1 moves.c -o moves || exit 1
POET_OUTPUT=moves.poet ./moves
until_true finished moves.poet

# ---- the table ----
poet states --placement moves.poet --columns worker,cluster,thread,migrated_from >stays
is "poet states --placement: five intervals on each worker thread, and all but the first came from the other" "$(sed '1,2d; /^total/,$d' stays | tr -s ' ' | sort | uniq -c | sed 's/^ *//')" \
    "4 first left T:mover second
1 first left T:mover worker 1
5 second right T:mover first
1 worker 1 - T:mover -"
poet states --placement moves.poet --csv >stays.csv
# The intervals of a task never overlap, and those of a processor are ordered by time.
intervals() { # intervals FILE: start and duration of each, or which processor's are not ordered
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["thread"] == "" { next }
        { worker = $column["worker"]; from = $column["from_ns"] + 0; took = $column["duration_ns"] + 0 }
        from < end[worker] + 0 { print worker, "goes back"; exit }
        { end[worker] = from + took; printf "%.0f %.0f\n", from, took }' "$1"
}
is "poet states --placement: intervals are ordered and do not overlap" "$(intervals stays.csv | sort -n |
    awk '/goes back/ || $1 < end { wrong = $0 } { end = $1 + $2 } END { print wrong == "" ? NR : "overlap: " wrong }')" 11
is "poet states --placement: as many intervals as poet states --by processor counts" "$(poet states --by processor moves.poet --json | grep -o '"total":{"running_ns":[0-9]*,"intervals":[0-9]*' | sed 's/.*://')" 11
is "poet states --placement with a range: intervals are cut to it" "$(poet states --placement moves.poet --from 1ms --to 1ms --csv | wc -l)" 1
like "poet states --placement of a program without tasks: the message says that there is no such data" "$(poet record -l true >/dev/null 2>&1; poetcc -trace -O1 -x c - -o none <<<'int main(void) { return 0; }'
POET_OUTPUT=none.poet ./none; until_true finished none.poet; poet states --placement none.poet 2>&1)" "no task placement data"

# ---- the diagram ----
poet export moves.poet --time --processors -o moves.txt
is "poet export --processors: rows of clusters and processors follow the thread lines" "$(grep -o '^[A-Z][a-z]*:[a-z]*' moves.txt | awk '!seen[$0]++' | tr '\n' ' ')" \
    "T:mover P:worker Cl:left P:first Cl:right P:second "
like "poet export --processors: each interval is labeled, except one that may be too narrow" "$(grep -c '^P:.*: T:mover for ' moves.txt)" '^1[01]$'
is "poet export without --processors: no rows of processors" "$(poet export moves.poet --time -o without.txt; grep -c '^P:' without.txt)" 0
poet export moves.poet --time --processors -o moves.svg
like "poet export --processors: the PDF contains the names of processors and tasks" "$(poet export moves.poet --time --processors -o moves.pdf; pdftotext moves.pdf - | tr '\n' ' ')" "P:first.*P:second.*task migrates to another worker thread"
like "poet export --processors without --time: the error says that --time is required" "$(poet export moves.poet --processors -o no.pdf 2>&1)" "requires --time"
like "poet export --processors to a web page: the error says that it is not supported" "$(poet export moves.poet --time --processors -o no.html 2>&1)" "not supported in a web page"
like "poet export --processors of a program without tasks: the error says that there is no such data" "$(poet export none.poet --time --processors -o no.pdf 2>&1)" "no task placement data"
check "poet export --processors: vertical, grey and on paper" poet export moves.poet --time --processors --vertical --grayscale -p a4 -o down.pdf

# ---- in the viewer, below the diagram ----
. "$root/tests/e2e/display.sh"
cat >script <<E
action start
action show-states
action time 6
state bands bands
quit
E
timeout 100 poet view moves.poet --script script >log 2>&1
is "the viewer shows rows of processors" "$(grep '^processor' bands | sed 's/, .*//')" "processor worker 1 of none: 1 stays
processor first of left: 5 stays
processor second of right: 5 stays"
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "the viewer prints no warnings" quiet
done_testing
