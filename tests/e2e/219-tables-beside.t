#!/bin/bash
# The viewer's tables of threads, of one thread's states, of callees and of heap blocks show what the commands print,
# from the file and while the program runs.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
. "$root/tests/e2e/display.sh"

# A thread that creates another one; main waits for both until a file says that it may end.
cat >family.c <<'C'
#define _GNU_SOURCE
#include "asleep.h"
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct sleeper waiter;
static __attribute__((noinline)) void *keep(size_t n) { return malloc(n); }
static __attribute__((noinline)) void *deep(int n) { return n ? deep(n - 1) : keep(100); }
static void *child(void *a)
{
    pthread_setname_np(pthread_self(), "child");
    about_to_wait(&waiter);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return a;
}
static void *parent(void *a)
{
    pthread_t t;
    pthread_setname_np(pthread_self(), "parent");
    for (size_t i = 1; i <= 3; i++) keep(i * 10);
    deep(40);
    pthread_create(&t, 0, child, a);
    pthread_join(t, 0);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, parent, 0);
    until_asleep(&waiter, 1);
    while (argc > 1 && access(argv[1], F_OK) != 0) pause_a_moment();
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
}
C
poetcc -trace -profile -g family.c -o family
POET_OUTPUT=family.poet ./family
until_true finished family.poet
names() { head -n 1 "$1" | tr '\t' '\n' | sed 1d | paste -sd,; }
# rows COLUMNS: rows of a command's JSON as the viewer shows them: depth, and cells of these columns
rows() { python3 "$root/tests/e2e/shown-rows.py" "$1"; }
same() { # NAME FILE COMMAND...: the table in FILE is what the command prints
    name=$1 file=$2
    shift 2
    is "$name" "$(tail -n +2 "$file" | sed 's/^\*//')" "$("$@" --json | rows "$(names "$file")")"
}
poet dump family.poet --json >dump.json
read -r locks at <<<"$(json '(.[] | select(.kind == "thread" and .name == "child").line) as $child | .[] | select(.type == "acquire" and .thread == $child) | "\(.event) \(.time_ns)"' dump.json)"
cat >script <<E
action show-threads
state table tree
action select-row 2
state highlights marks
action threads-form counts
state table counts
action threads-form tree
action threads-to-event
state table tree.all
action select $locks
state table tree.then
action threads-to-event
action show-states
state aside none
action select-row 0
state aside main
action select 1:1
action select $locks
state aside child
action show-calls
action calls-shape callees
state table callees
action calls-by-thread
state table callees.threads
quit
E
timeout 100 poet view family.poet --script script >log 2>&1
same "the tab Threads is the creation tree of poet states" tree poet states family.poet --created
like "a thread's row highlights its line and its creator's" "$(cat marks)" "^events [0-9]+:[0-9]+ lines 2 4|^events [0-9]+:[0-9]+ lines [0-9]+ [0-9]+$"
same "the tab Threads has the numbers of threads over time" counts poet states family.poet --tasks
is "without a selected event, all of the run is shown" "$(cat tree.all)" "$(cat tree)"
same "up to the selected event, the threads are as they were then" tree.then poet states family.poet --created --to "$((at + 1))ns"
like "a thread that waits for a lock is blocked then" "$(grep T:child tree.then)" "	blocked	child \(family.c:[0-9]+\)	M:m"
halves() { # FILE: what is beside the table: a title, two tables
    awk -v file="$1" 'NR == 1 { print > (file ".title"); next } /^\t/ { n++ } { print > (file "." n) }' "$1"
}
halves child
halves main
like "the states beside the table are those of the selected event's thread" "$(cat child.title)" "^T:child: [1-9][0-9]* state intervals$"
same "the time per state of a thread is that of poet states --by state" child.1 poet states family.poet --by state --threads child
same "the intervals of a thread are those of poet states --list" child.2 poet states family.poet --list --threads child
is "without a selected row there is nothing beside the table" "$(cat none)" ""
is "the interval at the selected event is selected" "$(grep -c '^\*' child.2)" 1
like "the states beside the table are those of a selected row" "$(cat main.title)" "^T:main: "
same "the intervals of another thread" main.2 poet states family.poet --list --threads "$(sed 's/^T:\(.*\): .*/\1/' main.title)"
same "the table of callees is that of poet calls --graph" callees poet calls family.poet --graph
is "it has calls, and eleven figures of them" "$(names callees)" "function,calls,total_ns,function_share,cpu_ns,self_mean_ns,mean_ns,min_ns,max_ns,cpu_mean_ns,cpu_min_ns,cpu_max_ns,cycle"
like "it has the callees below their callers" "$(cat callees)" "^1	keep"
like "it has them by thread" "$(cat callees.threads)" "^0	T:parent"
is "the viewer logs no message" "$(grep -Ec 'CRITICAL|WARNING' log)" 0

# ---- a thread with more intervals than are listed at once ----
cat >turns.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t s[2];
static void *turns(void *other)
{
    for (int i = 0; i < 8000; i++) sem_wait(&s[other != 0]), sem_post(&s[other == 0]);
    return 0;
}
int main(void)
{
    pthread_t t;
    sem_init(&s[0], 0, 1);
    sem_init(&s[1], 0, 0);
    pthread_create(&t, 0, turns, s);
    turns(0);
    pthread_join(t, 0);
}
C
poetcc -trace -g turns.c -o turns
POET_OUTPUT=turns.poet ./turns
order_ends turns.poet
last=$(poet dump turns.poet --json | json '.[] | select(.type == "exit" and .thread == 1).event')
printf 'action time 0; action end\naction show-states\naction select-row 0\nstate aside first\naction go %s\nstate aside last\naction go 1:1\nstate aside again\nquit\n' "$last" >script
timeout 200 poet view turns.poet --script script >log 2>&1
is "of many intervals the first are listed" "$(head -n 1 first)" "T:main: the first 5000 state intervals"
like "an event after them lists others" "$(head -n 1 last)" "^T:main: [0-9]+ state intervals? from [0-9.]+ ms on$"
is "the interval at that event is selected" "$(grep -c '^\*' last)" 1
is "an event before these lists the first again" "$(head -n 1 again)" "T:main: the first 5000 state intervals"

# ---- tasks of a library that deletes them without an event of their end ----
poetcc -trace -g "$root/examples/tasks.c" -o tasks
POET_OUTPUT=tasks.poet ./tasks >/dev/null
until_true finished tasks.poet
like "a task that was deleted has ended" "$(poet states --created tasks.poet)" "3 created, 3 started, 3 ended, 3 deleted; 0 executing"

# ---- heap blocks ----
gcc -g family.c -o plain -pthread
poet record -m memory -o heap.poet -- ./plain
deepest=$(poet memory heap.poet --by block --json | json '[.[] | select(.row)] | map(.row.unfreed_bytes) | index(100)')
cat >script <<E
action show-memory
state table sites
state aside nothing
action memory-form blocks
state table blocks
action select-row $deepest
state aside stack
quit
E
timeout 100 poet view heap.poet --script script >log 2>&1
same "the tab Memory has the allocation sites" sites poet memory heap.poet
is "without a selected row it shows no stack" "$(cat nothing)" ""
same "the tab Memory has the blocks that were not freed" blocks poet memory heap.poet --by block
is "the blocks have addresses and both sizes" "$(names blocks)" "function,thread,unfreed_bytes,usable,address,allocated_ns"
like "the stack of a block names it" "$(head -n 1 stack)" "^Call stack of 0x[0-9a-f]+$"
like "the stack begins at the allocation" "$(sed -n 2p stack)" "^#0  keep \(family.c:[0-9]+\)$"
is "the stack has up to 32 calls" "$(grep -c '^#' stack)" 32
is "the viewer logs no message about blocks" "$(grep -Ec 'CRITICAL|WARNING' log)" 0

# ---- live ----
cat >asleep.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    pthread_mutex_lock(&m);
    pause();
}
C
poetcc -trace -g asleep.c -o asleep
start_server -o live.poet -q
./family end &
program=$!
pids="$pids $program"
blocked() { poet states --created latest | grep -Eq 'T:child .*blocked'; }
until_true blocked
cat >script <<E
action show-threads
state table live
await shown
finished
state table after
quit
E
timeout 300 poet view "unix:$XDG_RUNTIME_DIR/poet.sock" --script script >log 2>&1 &
viewer=$!
pids="$pids $viewer"
until_true test -s live
like "live: a thread is blocked now, and where" "$(grep T:child live)" "^2	T:child	blocked	child \(family.c:[0-9]+\)	M:m	"
touch end shown
wait $viewer
like "live: it has ended, and was joined" "$(grep T:child after)" "^2	T:child				[0-9.]+(	[0-9.]+){4}$"
./asleep &
program=$!
pids="$pids $program"
asleep() { poet states --created latest --json | json 'rows | "\(.state) \(.location)"' | grep -qx 'off-CPU (other) main (asleep.c:6)'; }
check "live: a thread that sleeps in a call that is not traced is off-CPU, after its last event" until_true asleep
kill $program
stop_server

# ---- accessibility (AT-SPI) ----
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not available"
    done_testing
    exit
fi
export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1 launcher
cat >reader.py <<'P'
from atspi import until

for name in ("Time per state of the thread", "State intervals of the thread", "Close the states of the thread"):
    print(name, bool(until(lambda a: a.get_name() == name)))
print("chart", bool(until(lambda a: a.get_name().endswith(" state intervals") and a.get_role_name() != "label")))
P
printf 'action show-states\naction select-row 0\n' >script
timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately &
    until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
    poet view family.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore reader.py; kill $viewer %1' >said 2>log
is "AT-SPI: the tables and the chart beside the table have names" "$(grep True said)" "Time per state of the thread True
State intervals of the thread True
Close the states of the thread True
chart True"
done_testing
