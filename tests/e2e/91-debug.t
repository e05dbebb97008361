#!/bin/bash
# poet debug stops gdb before given events, in the thread that performs them, with its locals.
# POET_STOPS: the number of events and of traces ("20 10": 200 stops).
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e
command -v gdb >/dev/null || { skip "gdb is not installed"; done_testing; exit; }
poetcc -trace -g -O1 "$here/stops.c" -o stops
record() { # record FILE PROGRAM...
    rm -f "$1"
    POET_OUTPUT=$1 timeout 60 "${@:2}"
    until_true finished "$1"
}
set -- ${POET_STOPS:-10 3}
for i in $(seq "$2"); do
    record stops.poet ./stops
    timeout 500 python3 "$here/stops.py" stops.poet "$1" "$i" >said 2>&1
    is "trace $i: debug stops at thread, place and locals of the event, $1 times" "$(cat said)" "$1 of $1"
done

# ---- stepping by events, stops at cuts, and breakpoints ----
debug() { # debug EVENT COMMAND...
    local words=() event=$1
    for word in "${@:2}"; do words+=(-x "$word"); done
    timeout 120 poet debug stops.poet "$event" -o again.poet --batch "${words[@]}" </dev/null >said 2>&1
}
dump() { poet dump --json stops.poet; }
debug 1:2 "poet next" "poet next" "poet step" "poet where"
is "debug: poet next and poet step stop before an event" "$(grep -c 'is about to perform .* of [0-9]* events performed$' said)" 4
is "debug: each stop has one more performed event" "$(sed -nE 's/.*; ([0-9]+) of .*/\1/p' said | head -3 | sort -n | awk 'NR > 1 && $1 != last + 1 { bad = 1 } { last = $1 } END { print NR, bad + 0 }')" "3 0"
is "debug: poet where lists all threads and marks the selected one" "$(grep -c '^[* ] T:' said) $(grep -c '^\* T:' said)" "5 1"

request=$(dump | python3 -c '
import json, sys
all = list(map(json.loads, sys.stdin))
first = next(l["line"] for l in all if l.get("name") == "work")
events = [e for e in all if e.get("thread") == first and "event" in e]
print(next(e["event"] for e in events if e["type"] == "acquire" and e["site"] == "stops.c:26"))')
debug "$request" "poet over" "poet over" "poet where"
is "debug: poet over skips a mutex and a semaphore" "$(sed -nE 's/^T:.* is about to perform (.*) \(.*(stops\.c:[0-9]+).*/\2/p' said | xargs)" \
    "stops.c:26 stops.c:31 stops.c:33"
like "debug: after poet over the thread is outside of the call" "$(grep '^\* ' said)" 'is about to perform [a-z]* .*\('"${request%:*}"':[0-9]+, stops\.c:33\)'

debug 1:1 "poet break stops.c:26 thread T:work#2 arrival 7" "poet continue" "info locals" "poet view" "poet blocked"
like "debug: a breakpoint at the seventh arrival of a thread at a place" "$(cat said)" 'T:work#2 is about to perform .*stops\.c:26\)'
like "debug: at the seventh arrival the variable has its value" "$(cat said)" '^turn = 6$'
like "debug: poet view prints the diagram" "$(cat said)" 'T:work'

cut=$(dump | python3 -c '
import json, sys
events = [json.loads(l) for l in sys.stdin]
taker = next(e["line"] for e in events if e.get("name") == "take")
of = [e for e in events if e.get("type") == "acquire" and e["thread"] == taker]
print(of[len(of) // 2]["event"])')
debug 1:2 "poet to $cut" "info locals" "poet continue" "poet next"
like "debug: a cut stops every thread at its event" "$(cat said)" "is about to perform acquire .*\($cut, stops\.c:46\)"
like "debug: poet continue runs to the end" "$(cat said)" 'the program exited: ([0-9]+) of \1 events performed'
like "debug: after the end a command says that the program has exited" "$(cat said)" 'has exited and the recorded schedule is finished; start poet debug again'
is "debug: the order is that of the trace" "$(until_true finished again.poet; python3 "$here/same.py" stops.poet again.poet | tr -d 0-9 | tr -s ' ')" "the same: events"
debug 1:2 "poet until 99:1" "poet until x" "poet break nowhere.c:1"
is "debug: missing events and places are reported" "$(grep -cE 'no event 99:1|expected LINE:NUMBER|no event at this call site' said)" 3
is "debug of a missing event exits with 1" "$(poet debug stops.poet 99:1 2>/dev/null; echo $?)" 1
is "debug without a trace exits with 2" "$(poet debug 2>/dev/null; echo $?)" 2
is "debug --gdb with a missing file is reported" "$(poet debug --gdb=./nix stops.poet 1:2 2>&1 | grep -c 'nix: No such file')" 1

# ---- the text of each kind of divergence ----
cat >ends.py <<'P'
import struct, sys
sys.path.insert(0, sys.argv[1])
import poet_run as p
class Ended(p.Run):
    def __init__(self, reason, by):
        self.labels, self.count, self.map = ["", "T:main", "T:other", "M:m"], [0, 1, 1, 0], bytearray(4096)
        struct.pack_into("<I", self.map, p.HEAD_STATE, 1)
        struct.pack_into("<IIQIII", self.map, p.HEAD_END, reason, 1, 0, 3, 7, by)
        self.map[p.HEAD_END + 28:p.HEAD_END + 32] = b"read"
    def describe(self, thread, k): return "lock"
for reason in range(6): print(Ended(reason, 2).divergence())
print(Ended(p.END_TIMEOUT, 0).divergence())
P
is "debug names each kind of divergence" "$(python3 ends.py "$root/clients/gdb")" "T:main performed read on M:m, recorded was lock
T:main is waiting for event 7 on M:m before lock; T:other should perform it, but is blocked, too
T:main is waiting for event 7 on M:m before lock; T:other should perform it but has not reached it
T:main reached lock as number 7 on M:m: a thread that is not in the trace was there first
T:main called read (2), which is not the recorded call, before lock
T:main received event 7 of M:m, which is not the recorded one, for lock
T:main is waiting for event 7 on M:m before lock; an unknown thread should perform it but has not reached it"

# ---- the viewer's breakpoints, and an unmodified program ----
echo "stops.c:50 arrival 3" >stops.poet-breaks
debug 1:1 "poet breaks" "poet continue" "info locals"
like "debug sets the viewer's breakpoints" "$(cat said)" '^1: stops\.c:50 arrival 3 '
like "debug stops at the viewer's breakpoints" "$(cat said)" '^turn = 2$'
rm stops.poet-breaks
gcc -g -O1 "$here/stops.c" -o plain -pthread
rm -f stops.poet
poet record -q -o stops.poet -- ./plain 2>/dev/null || poet record -o stops.poet -- ./plain
until_true finished stops.poet
timeout 200 python3 "$here/stops.py" stops.poet 5 7 >said 2>&1
is "debug of an unmodified program stops at its events" "$(cat said)" "5 of 5"

# ---- a task that has changed its thread ----
cat >moved.c <<'C'
#include <poet.h>
#include <pthread.h>
POET_RUNTIME("ucpp");
static poet_line_t task;
static void mark(const char *type) { poet_event(task, poet_type(type, NULL), 0, 0); }
static void *carry(void *number)
{
    poet_task_switch(task);
    mark(number ? "signal" : "start");
    poet_task_switch(0);
    return number;
}
int main(void)
{
    pthread_t thread;
    task = poet_task("task", "t", NULL);
    poet_task_switch(task);
    mark("create");
    poet_task_switch(0);
    for (long i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, carry, (void *)i);
        pthread_join(thread, NULL);
    }
    return 0;
}
C
poetcc -trace -g -O0 moved.c -o moved || exit 1
record moved.poet ./moved
timeout 120 poet debug moved.poet 1:4 --batch -x "up-silently" -x "p number" -- ./moved </dev/null >said 2>&1
like "debug stops in the thread on which a task is now" "$(cat said)" '= \(void \*\) 0x2$'

# ---- a long run ----
poetcc -trace -g -O1 "$here/stops.c" -o stops
record stops.poet ./stops "${POET_STOPS_TURNS:-2000}"
timeout 500 python3 "$here/stops.py" stops.poet 5 1 >said 2>&1
is "debug of a long run stops at distant events" "$(cat said)" "5 of 5"
done_testing
