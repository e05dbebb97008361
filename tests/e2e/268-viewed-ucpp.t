#!/bin/bash
# The displays of µProfiler in the viewer, of tasks: by creation, one task's states, From and To of calls, heap blocks.
# They show what the commands print, of tasks of a runtime and of real µC++.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
. "$root/tests/e2e/display.sh"

cat >tasks.c <<'C'
#include "ucpp.h"
#include <stdlib.h>
#include <time.h>
static struct object cell;
static void visit(void)
{
    struct object *from = enter(&cell, 1);
    yield();
    leave(&cell, from);
}
static void worker(void *unused)
{
    char *volatile kept = malloc(100);
    visit();
    yield();
    (void)kept;
    (void)unused;
}
static void prepare(void) /* the tasks were created, and run later */
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec++;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}
void uc_main(void)
{
    struct object tasks[3];
    monitor_make(&cell, "cell");
    for (int i = 0; i < 3; i++)
        task_make(&tasks[i], "worker", worker, NULL);
    prepare();
    for (int i = 0; i < 3; i++)
        object_delete(&tasks[i]);
    object_delete(&cell);
}
C
cat >real.cc <<'C'
#include <ctime>
_Monitor cell {
  public:
    void visit() { uBaseTask::yield(); }
};
_Task worker {
    cell &c;
    char *kept;
    void main()
    {
        kept = new char[100];
        c.visit();
        yield();
    }
  public:
    worker(cell &c) : c(c), kept(nullptr) {}
};
unsigned int uDefaultPreemption() { return 0; }
static void prepare()
{
    timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec++;
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}
int main()
{
    cell c;
    worker *w[3];
    for (auto &each : w)
        each = new worker(c);
    prepare();
    for (auto each : w)
        delete each;
}
C
programs=tasks
poetcc -trace -c -g -I "$root/examples/ucpp" "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
poetcc -profile -g -I "$root/examples/ucpp" tasks.c ucpp.o -o tasks || exit 1
if command -v u++ >/dev/null; then
    CXX=u++ poetcc++ -profile -quiet real.cc -o real || exit 1
    programs="tasks real"
else
    skip "u++ (µC++ 7) is not installed"
fi

names() { head -n 1 "$1" | tr '\t' '\n' | sed 1d | paste -sd,; }
same() { # NAME FILE COMMAND...: the table in FILE is what the command prints
    local name=$1 file=$2
    shift 2
    [ -s "$file" ] || not_ok "$program: $name: there is a table"
    is "$program: $name" "$(tail -n +2 "$file" | sed 's/^\*//')" \
        "$("$@" --json | python3 "$root/tests/e2e/shown-rows.py" "$(names "$file")")"
}
declare -A callers=([tasks]="Function visit Called by worker \\(tasks.c:[0-9]+\\)" [real]="Function worker::main [0-9]") # main has none
for program in $programs; do
    mkdir $program.of
    cd $program.of || exit 1
    poet record -m calls,memory -o $program.poet ../$program 2>err
    until_true finished $program.poet
    # an event of a member's call, which is recorded in a function that another one called
    read -r enters task <<<"$(poet dump $program.poet --json | json '.[] | select(.type? == "enter") | "\(.event) \(.thread)"' | head -n 1)"
    cat >script <<E
action time 6
action fit
action tint-waits
state selection drawn
state overview-bands bands
action show-threads
state table tree
action threads-form counts
state table counts
action time 0
action go $enters
state panel event
action show-states
state table states
action select-row 1
action select 1:1
action select $enters
state aside one
action show-calls
action calls-shape callees
action calls-by-thread
state table callees
action show-memory
action memory-form blocks
state table blocks
quit
E
    timeout 300 poet view $program.poet --script script >log 2>&1
    is "$program: the viewer ends" $? 0
    same "tasks by creator" tree poet states $program.poet --created
    same "numbers of tasks at each creation" counts poet states $program.poet --tasks
    is "three tasks are created before one starts" "$(awk -F'\t' '/T:worker/ { print $4, $5, $6, $7, $8 }' counts | paste -sd,)" \
        "2 1 0 0 2,3 1 0 0 3,4 1 0 0 4"
    awk 'NR == 1 { next } /^\t/ { n++ } { print > ("one." n) }' one
    same "the time per state of a task" one.1 poet states $program.poet --by state --threads "$task"
    same "its states" one.2 poet states $program.poet --list --threads "$task"
    same "From and To by task" callees poet calls $program.poet --graph --by thread
    is "nine figures of each" "$(names callees)" \
        "function,calls,total_ns,function_share,cpu_ns,self_mean_ns,mean_ns,min_ns,max_ns,cpu_mean_ns,cpu_min_ns,cpu_max_ns,cycle"
    same "heap blocks by task" blocks poet memory $program.poet --each
    is "of three tasks, with address and sizes" "$(grep -c '	T:worker[#23]*	100	[0-9]*	0x' blocks)" 3
    like "a task that has not started is created" "$(grep 'measured T:worker' bands)" " created 0\.[0-9]*[1-9]"
    like "the callers of the function in which an event is" "$(tr -s ' \n' ' ' <event)" "${callers[$program]}"
    cd ..
done
done_testing
