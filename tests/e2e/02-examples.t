#!/bin/bash
# Each example program prints its untraced result, and its trace is sound; poet blocked reports the deadlock of one.
. "$(dirname "$0")/lib.sh"
start_server -o traces/ -q

run_example() { # NAME OUTPUT
    check "$1 compiles" compile "$1"
    is "$1 prints the result of an untraced run" "$(./"$1" 2>&1)" "$2"
    check "$1: the trace is sound" sound latest
    check "$1: poet export writes a PDF" poet export latest -o "$1.pdf"
    like "$1: the PDF has no Type 3 font" "$(pdffonts "$1.pdf" | grep -c 'Type 3')" "^0$"
}
run_example prodcons "sum of 10 items: 45"
run_example buffer "sum: 72"
run_example philosophers "meals: 15"
run_example list "nodes: 12"
run_example stages "blocks: 12"
# ten times as slow, so that the time at which a thread gets a CPU does not matter
sed 's/ms \* 1000000/ms * 10000000/' "$root/examples/stages.c" >slow-stages.c
poetcc -trace -g slow-stages.c -o slow-stages && ./slow-stages >/dev/null
until_true finished latest
like "poet report names the bottleneck thread of stages" "$(poet report --all latest)" "bottleneck thread: other threads wait mostly for it +T:packer +CV:"
run_example dating "sum of phone numbers: 906"
like "poet dump has the name of a named thread" "$(poet dump --json unix:$XDG_RUNTIME_DIR/poet.sock#philosophers)" '"name":"phil 3"'
like "poet dump has the text of a named event" "$(poet dump latest)" '"10[0-2] dates 20[0-2]"'

run_example actors "seven times round"
like "an actor runs on one thread at a time and is idle in between" "$(poet show latest | grep '^A:ada')" "●━+■━+○.*━● +●━+■"
like "messages between actors are message events with a partner" "$(poet dump latest)" 'receive +A:bob .*<> [0-9]'

run_example tasks "14"
is "tasks of a library: each message is received after it was sent" \
    "$(poet dump --json latest | json '[.[] | select(.type? == "receive") | .partner] | length, (map(select(. != null)) | length)' | paste -sd' ')" "8 8"
is "a task that waits for a message is blocked" \
    "$(poet states --json latest | json '[.[].row | select(.thread? | strings | test("add|square")) | .blocked_ns] | map(select(. > 0)) | length')" 2
if echo '#include <boost/context/fiber.hpp>' | c++ -x c++ -fsyntax-only - 2>/dev/null; then
    check "fibers compiles" poetcc++ -trace -g -Wall -Wextra -Werror "$root/examples/fibers.cpp" -lboost_context -o fibers
    is "fibers prints the result of an untraced run" "$(./fibers 2>&1)" "3 3"
    check "fibers: the trace is sound" sound latest
    is "fibers: each message is received after it was sent" "$(poet dump latest | grep -c 'receive .*<>')" 6
else
    skip "Boost.Context is not installed"
fi

check "deadlock.c compiles" compile deadlock
./deadlock &
program=$!
blocked() { poet blocked latest >live && grep -q "^DEADLOCK:" live && grep -q "^T:main" live; } # the main thread joins one of them
check "poet blocked reports the deadlock in a live run" until_true blocked
answer=$(poet blocked latest)
like "blocked: alice requests knives, with the source line" "$answer" "T:alice requests M:knives at deadlock.c:12"
like "blocked: bob requests forks, with the source line" "$answer" "T:bob requests M:forks at deadlock.c:20"
like "blocked: alice holds forks, with the event of the acquisition" "$answer" "held by T:alice, acquired at deadlock.c:10 \(event"
like "blocked: bob holds knives, with the event of the acquisition" "$answer" "held by T:bob, acquired at deadlock.c:18 \(event"
like "blocked: the deadlock cycle has a headline" "$answer" "^DEADLOCK: "
like "blocked: the cycle lists alice's wait, the holder and its acquisition" "$answer" \
    "^    T:alice waits for M:knives, held by T:bob \(acquired at event [0-9]+:[0-9]+\)"
like "blocked: the cycle lists bob's wait, the holder and its acquisition" "$answer" "^    T:bob waits for M:forks, held by T:alice \(acquired at event [0-9]+:[0-9]+\)"
kill -KILL $program
wait $program 2>/dev/null
check "after SIGKILL the run is finished" until_true finished latest
said() { grep -vE '^    for '; } # the length of the wait differs between a live and an ended run
is "after SIGKILL poet blocked prints the same diagnosis" "$(poet blocked latest | said)" "$(printf '%s' "$answer" | said)"
like "blocked --labels address adds addresses of threads and objects" "$(poet blocked latest --labels address)" \
    "^    T:alice \(0x[0-9a-f]+\) waits for M:knives \(0x[0-9a-f]+\), held by T:bob \(0x[0-9a-f]+\) \(acquired at event [0-9]+:[0-9]+\)"
is "blocked: the first line is the deadlock" "$(poet blocked latest | head -n 1)" "DEADLOCK: 2 threads wait for each other"
like "blocked --json: labels have addresses" "$(poet blocked latest --json)" '"label":"T:alice \(0x'
like "blocked --json has the cycles" "$(poet blocked latest --json)" '"cycles":\[\[\{"line"'
like "poet show marks the blocked lock request" "$(poet show latest)" "requests M:(knives|forks)"
stop_server

# Programs that one traced program starts belong to its run.
cat >parent.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, nothing, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) { execl("./prodcons", "prodcons", "3", (char *)NULL); _exit(1); }
    while (wait(NULL) > 0) ;
    return 0;
}
C
poetcc -trace parent.c -o parent
start_server -o tree/ -q
check "a traced program starts two traced programs" ./parent
is "a program and the two it starts are one run" "$(poet runs | wc -l)" 1
check "the run of three programs is sound" sound latest
is "poet stat lists the three programs of the run" "$(poet stat latest | grep -c '^program ')" 3
is "ENDPOINT#NAME selects a run by name" "$(poet stat "unix:$XDG_RUNTIME_DIR/poet.sock#parent" | head -n 1)" "run             parent"
cat >stays.c <<'C'
#include <pthread.h>
#include <stdio.h>
static void *nothing(void *a) { return a; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, nothing, NULL);
    pthread_join(t, NULL);
    return getchar() != EOF;
}
C
poetcc -trace stays.c -o stays
mkfifo stay
POET_RUN=together ./stays <stay & a=$!
POET_RUN=together ./stays <stay & b=$!
exec 5>stay
programs() { poet stat "unix:$XDG_RUNTIME_DIR/poet.sock#together" | grep -c '^program '; }
both() { [ "$(programs)" = 2 ]; }
until_true both
exec 5>&-
wait $a $b
is "programs started separately join one run by POET_RUN" "$(programs)" 2
stop_server
./parent >/dev/null 2>note
is "without a server three programs write one trace file" "$(ls parent.*.poet prodcons.*.poet 2>/dev/null | wc -l)" 1
check "without a server the trace of three programs is sound" sound "$(trace_of parent)"
is "without a server the trace has all three programs" "$(poet stat "$(trace_of parent)" | grep -c '^program ')" 3
is "without a server three programs print one line of notice" "$(wc -l <note)" 1
done_testing
