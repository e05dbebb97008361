#!/bin/bash
# The viewer's analysis pane: tables of states, waits and the critical path, the selection shared with the diagram, and
# overlays on the diagram.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
. "$root/tests/e2e/display.sh"

# Three threads in a ring: each waits for the previous one at one place, and none posts before the next one waits.
cat >ring.c <<'C'
#define _GNU_SOURCE
#include "asleep.h"
#include <semaphore.h>
static sem_t s[3];
static struct sleeper at[3];
static void nap(int ms)
{
    struct timespec t = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void receive(int i)
{
    about_to_wait(&at[i]);
    sem_wait(&s[i]);
}
static void *one(void *a)
{
    pthread_setname_np(pthread_self(), "one");
    nap(60);
    receive(1);
    until_asleep(&at[2], 1);
    nap(120);
    sem_post(&s[2]);
    return a;
}
static void *two(void *a)
{
    pthread_setname_np(pthread_self(), "two");
    nap(75);
    receive(2);
    until_asleep(&at[0], 1);
    nap(105);
    sem_post(&s[0]);
    return a;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 3; i++) sem_init(&s[i], 0, 0);
    pthread_create(&t[0], 0, one, 0);
    pthread_create(&t[1], 0, two, 0);
    until_asleep(&at[1], 1);
    nap(150);
    sem_post(&s[1]);
    nap(90);
    receive(0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
}
C
poetcc -trace -g ring.c -o ring
POET_OUTPUT=ring.poet ./ring
until_true finished ring.poet

expected() { # PRESET COLUMNS: the table as the pane shows it
    poet $1 ring.poet --csv | python3 "$root/tests/e2e/pane-table.py" "$2"
}
got() { tail -n +2 "$1" | sed 's/^\*//'; }
wait_of() { # the waits of a thread at a place, as JSON
    poet waits ring.poet --by wait --json | grep '"depth":0' | grep "\"location\":\"receive" | grep "\"thread\":\"T:$1\""
}
until=$(wait_of main | sed 's/.*"end_event":"\([0-9:]*\)".*/\1/')
all=$(poet waits ring.poet --by wait --json |
    json '.[] | select((.row.location // "") | startswith("receive")) | .row.end_event, .event' | sort -u | tr '\n' ' ')
cause=$(poet waits ring.poet --why "$until" --json | sed -n 's/.*"depth":0.*"event":"\([0-9:]*\)".*/\1/p' | tail -n 1)

# ---- the pane's contents, and the effects of a selection ----
cat >script <<E
action start
action show-states
state table states
action select-row 1
state highlights marks
action show-waits
state table waits
action select-row 0
state highlights marks
action activate-row
state selection told
action undo
state selection told
action show-path
state table path
action select-row 0
action select $until
state wait-cause
state status
action wait-cause
state selection told
state overlay before
action critical-path
action tint-waits
state overlay order
image thick.png
action time 7
state overlay time
action show-states
state bands bands
measure memory
quit
E
timeout 100 poet view ring.poet --script script >log 2>&1
is "the tab of states equals poet states" "$(got states)" \
    "$(expected states thread,created_ns,runnable_ns,running_ns,blocked_ns,other_off_cpu_ns,exited_ns,lifetime_ns)"
is "the tab of waits equals poet waits" "$(got waits)" \
    "$(expected waits 'waited_ns|attributed_ns,share,count,location|segment,type|direct,object|thread,cause,unblocked_at')"
is "the tab of the critical path equals poet path" "$(got path)" \
    "$(expected path segment,critical_path_ns,share,total_ns,imbalance_ns,slack_ns)"
like "selecting a thread's row marks its line and its first event" "$(sed -n 1p marks)" "^events ([0-9]+):[0-9]+ lines \\1$"
is "selecting a row of three waits marks their starts and ends" \
    "$(sed -n 2p marks | sed 's/ lines.*//; s/events//' | tr -s ' ' '\n' | sed '/^$/d' | sort -u | tr '\n' ' ')" "$all"
like "Enter selects the longest wait of a row" "$(sed -n 1p told)" " selected [1-9][0-9]*:[0-9]* "
like "undo clears that selection" "$(sed -n 2p told)" " selected none "
waited=$(wait_of main | sed 's/.*"waited_ns":\([0-9]*\).*/\1/' | awk '{ printf "%.1f", $1 / 1e6 }')
said=$(sed -n 's/^reason: //p' log)
like "the details line describes a wait in one sentence" "$said" "^waited $waited ms for T:two: .*ms, .*ms.*; compared since "
like "the sentence names the thread that was waited for" "$said" "T:one "
like "the status line has the sentence of the wait" "$(grep '^said:' log)" "waited [0-9.]* ms for T:two"
like "a button selects the cause of the wait" "$(sed -n 3p told)" " selected $cause "
is "without an overlay the diagram is plain" "$(cat before)" ""
is "the overlay of the critical path goes from thread to thread" "$(grep -c ^hop order)" 3
is "the overlay of the critical path by time has the same hops" "$(grep -c ^hop time)" 3
is "the overlay tints waits by class" "$(grep -c '^wait rendezvous' order)" \
    "$(poet waits ring.poet --by wait --json | grep -c '"wait_class":"rendezvous"')"
is "state bands have a row per thread" "$(cut -d' ' -f3 bands | tr '\n' ' ')" "T:main T:one T:two "
like "state bands have the states" "$(grep T:two bands)" "running [1-9][0-9.]* blocked [1-9]"
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "the viewer logs no message" quiet

# ---- by keyboard only ----
rounds() {
    for i in $(seq 600); do
        printf 'await go%d\nstate table table%d\nstate overlay over%d\nstate selection told\nawait read%d\n' $i $i $i $i
    done
    echo quit
}
round=0
looks() { # the viewer has written a new answer, and it contains this
    [ $round -gt 0 ] && touch read$round
    round=$((round + 1))
    before=$(wc -l <told)
    touch go$round
    until_true told_more
    "$@"
}
told_more() { [ "$(wc -l <told)" -gt "$before" ]; }
tells() { tail -n 1 told | grep -q -- "$1"; }
key() { xdotool key --window "$w" "$@"; }
by_key() { # by_key NAME KEY CONDITION...: presses the key, again if it was lost
    name=$1 pressed=$2
    shift 2
    again key $pressed -- looks "$@" && ok "$name" || not_ok "$name" "$(tail -n 1 told)"
}
{ echo 'action start'; rounds; } >script
: >told
poet view ring.poet --script script >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the viewer opens a window" until_true shown '^ring$'
w=$(window '^ring$')
focus '^ring$'
by_key "F6 opens the pane at its last tab" F6 tells ' drawer states '
selects() { grep -q '^\*' table$round; }
by_key "Down selects a row" Down selects
by_key "Enter selects the event of a row" Return tells ' selected [1-9]'
by_key "undo clears the selection" ctrl+z tells ' selected none '
by_key "a mnemonic opens a tab" alt+a tells ' drawer waits '
drawn() { grep -q '^hop' over$round; }
by_key "x toggles the overlay of the critical path" x drawn
by_key "Escape closes the pane" Escape tells ' drawer none '
kill $viewer
wait $viewer 2>/dev/null

# ---- accessibility (AT-SPI) ----
launcher=/usr/libexec/at-spi-bus-launcher
# ---- predictions ----
poetcc -trace -g "$root/tests/e2e/predict/bad_two.c" -o two
POET_OUTPUT=two.poet ./two
until_true finished two.poet
poet predict --json two.poet >predicted.json
python3 - >wanted <<'P'
import json
rows = [line["row"] for line in map(json.loads, open("predicted.json")) if "row" in line]
first = next(i for i, row in enumerate(rows) if row["kind"] == "lock-order-inversion")
parts = [rows[first + 1], rows[first + 2]]
key = lambda e: list(map(int, e.split(":")))
print(first)
print(*sorted((p[e] for p in parts for e in ("event", "second_event")), key=key))
print(*sorted((parts[0][e] for e in ("event", "second_event")), key=key))
print(parts[0]["event"])
P
mapfile -t wanted <wanted
printf '%s\n' 'action show-predict' 'state table could' "action select-row ${wanted[0]}" 'state highlights could-all' "action select-row $((wanted[0] + 1))" 'state highlights could-one' 'action activate-row' 'state selection could-at' \
    'action show-states' 'action show-predict' 'state selection could-page' quit >script
timeout 100 poet view two.poet --script script >log 2>&1
like "the tab of predictions lists a lock-order inversion" "$(cat could)" '^0	[0-9]+	lock-order-inversion: potential deadlock'
is "a prediction's row marks the events of all its threads" "$(sed 's/^events //; s/ lines.*//' could-all)" "${wanted[1]}"
is "a prediction's sub-row marks the events of one thread" "$(sed 's/^events //; s/ lines.*//' could-one)" "${wanted[2]}"
is "Enter selects the first event of a prediction" "$(awk '{ print $2 }' could-at)" "${wanted[3]}"
like "a key opens the tab of predictions" "$(cat could-page)" ' drawer predict '
is "the viewer logs no CRITICAL or WARNING message" "$(grep -Ec 'CRITICAL|WARNING' log)" 0

if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not available"
    done_testing
    exit
fi
export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1
cat >reader.py <<'P'
from atspi import until, walk

def names(a):
    return [x.get_name() for x in walk(a)]

def cells(a):
    said = names(a)
    return a.get_name() == "Waits" and "semaphore" in said and any(n.startswith("receive (ring.c:") for n in said)

print("table", bool(until(cells)))
print("sentence", bool(until(lambda a: a.get_name().startswith("waited "))))
print("button", bool(until(lambda a: a.get_name() == "Go to waker" and a.get_role_name().endswith("button"))))
P
export launcher
printf 'action show-waits\naction select-row 0\n' >script
timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately &
    until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
    poet view ring.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore reader.py; kill $viewer %1' >said 2>log
is "AT-SPI: the table has a name, and its cells can be read" "$(grep table said)" "table True"
is "AT-SPI: the sentence of a wait can be read" "$(grep sentence said)" "sentence True"
is "AT-SPI: the button to its cause can be found" "$(grep button said)" "button True"
done_testing
