#!/bin/bash
# A range of time in the viewer: dragged over the ruler or over rows, the tabs of the analysis pane are about it as the
# commands are with --from and --to; cursors; undo, Escape and zoom; the same with the pointer.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

# Two threads take turns at a lock, with more time in it later on.
cat >turns.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void nap(int us)
{
    struct timespec t = {0, us * 1000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void *turn(void *a)
{
    pthread_setname_np(pthread_self(), a);
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&m);
        nap(i < 20 ? 300 : 900);
        pthread_mutex_unlock(&m);
        nap(100);
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, turn, "one");
    pthread_create(&t[1], 0, turn, "two");
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
C
poetcc -trace -g turns.c -o turns
POET_OUTPUT=turns.poet ./turns
until_true finished turns.poet

states=thread,created_ns,runnable_ns,running_ns,blocked_ns,other_off_cpu_ns,exited_ns,lifetime_ns
waits='waited_ns|attributed_ns,share,count,location|segment,type|direct,object|thread,cause,unblocked_at'
expected() { # PRESET COLUMNS OPTION...: the table as the pane shows it
    poet $1 turns.poet --csv "${@:3}" | python3 "$root/tests/e2e/pane-table.py" "$2"
}
got() { tail -n +2 "$1" | sed 's/^\*//'; }
ends() { sed -n 's/^range \([0-9]*\) \([0-9]*\) .*/\1 \2/p' "$1" | tail -n 1; }
range() { ends "$1" | sed 's/\(.*\) \(.*\)/--from \1ns --to \2ns/'; }
lines() { sed -n 's/^range .* lines \([0-9 ]*\) cursors.*/\1/p' "$1" | tail -n 1; }
viewer() { timeout 100 poet view turns.poet --script script >log 2>&1; }
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }

# ---- the overview by time ----
cat >script <<'E'
action show-states
action fit
state overview-bands bands
action drag-range 0.25 0.5
state range dragged
state table states
action show-waits
state table waits
action show-predict
state tab predict
action show-states
action drag-range 0.3 0.6 1-1
state range rows
state table rows.states
action range-threads
state range all
action undo
state range undone
action range 0 0
action drag-range 0.25 0.5
action drag-range 0.5 0.75
state range moved
action range-zoom
state overview-bands zoomed
action undo
action escape
state range cleared
action undo
state range again
action cursor 1000000
action cursor 3500000 second
action range
state range cursors
action range-clear
state range none
quit
E
viewer
strips() { sed -n 's/^strips by time, \([0-9]*\) to \([0-9]*\),.*/\1 \2/p' "$1"; }
is_at() { # is_at FILE SHARE SHARE [PIXELS]: the ends of a range are there, to a pixel, or to so many
    set -- $(strips bands) $(ends "$1") $2 $3 ${4:-1}
    awk -v from=$1 -v to=$2 -v a=$3 -v b=$4 -v first=$5 -v last=$6 -v pixels=$7 'BEGIN {
        least = pixels * (to - from) / 700
        x = from + first * (to - from) - a; y = from + last * (to - from) - b
        exit !(x < least && -x < least && y < least && -y < least) }'
}
check "a drag over the ruler selects the time from one end to the other" is_at dragged 0.25 0.5
like "the range has its ends and its length" "$(tail -n 1 dragged)" "^[0-9.]+ ms – [0-9.]+ ms, [0-9.]+ ms long$"
is "the tab of states equals poet states of the range" "$(got states)" "$(expected states $states $(range dragged))"
is "the tab of waits equals poet waits of the range" "$(got waits)" "$(expected waits "$waits" $(range dragged))"
is "potential bugs are those of the whole run" "$(cat predict)" "predict: No potential bugs found."
is "a drag over a row selects its thread" "$(lines rows | wc -w)" 1
is "the tab of states equals poet states of the range of that thread" "$(got rows.states)" \
    "$(expected states $states $(range rows) --threads $(lines rows))"
is "of all threads: the same time" "$(range all)$(lines all)" "$(range rows)"
is "undo restores the threads of the range" "$(cat undone)" "$(cat rows)"
check "a drag that begins at an end of the range moves that end" is_at moved 0.25 0.75
is "zoom shows the range" "$(strips zoomed)" "$(ends moved)"
is "Escape clears the range" "$(tail -n 1 cleared)" "whole run"
is "undo restores the range" "$(cat again)" "$(cat moved)"
is "two cursors: the range between them" "$(range cursors)" "--from 1000000ns --to 3500000ns"
is "their distance is its length" "$(tail -n 1 cursors)" "1 ms – 3.5 ms, 2.5 ms long"
is "cleared, there are neither cursors nor a range" "$(head -n 1 none)" "range 0 0 lines cursors"
check "the viewer logs no message" quiet

# ---- by order: from the first to the last event in between ----
cat >script <<'E'
action time 0; action end
action start
action show-states
action drag-range 0.1 0.6
state range marks
state table marks.states
action fit
action drag-range 0.3 0.7
state range order
state table order.states
action start
action range
state range visible
quit
E
viewer
poet dump turns.poet --json | json '.[].time_ns // empty' | sort -un >times
are_events() { # each end of the range is at an event; the last one is included
    set -- $(ends "$1")
    grep -qx "$1" times && grep -qx "$(($2 - 1))" times
}
like "in a diagram by order the range says how it was selected" "$(tail -n 1 marks)" ", first to last event in between$"
check "by order the ends of a range are events" are_events marks
is "by order: the tab of states equals poet states of the range" "$(got marks.states)" "$(expected states $states $(range marks))"
check "in an overview by order the ends of a range are events" are_events order
is "in an overview by order: the tab of states equals poet states of the range" "$(got order.states)" \
    "$(expected states $states $(range order))"
check "without cursors and selected events: what is visible" are_events visible
check "the viewer logs no message by order" quiet

# ---- with the pointer ----
rm bands
printf '%s\n' 'action drawer' 'action fit' 'state overview-bands bands' 'state rows canvas' 'state positions spots' 'await dragging' \
    'state range pointer' 'state selection pane' 'state table pointer.states' 'await escaped' 'state range after' \
    'await rowed' 'state range row' quit >script
poet view turns.poet --script script >log 2>&1 &
until_true test -s spots
until_true shown turns
w=$(window turns)
spot() { sed -n "s/^$1 //p" spots | tail -n 1; }
until_true still turns
before=$(picture turns)
is_changed() { [ "$(picture turns)" != "$before" ]; }
xdotool windowfocus "$w" mousemove --window "$w" $(spot "ruler quarter") mousedown 1 mousemove_relative -- 30 0 \
    mousemove --window "$w" $(spot "ruler middle") mousemove_relative -- 1 0 mouseup 1
until_true is_changed
until_true still turns
touch dragging
until_true test -s pointer.states
# The window has a border of some pixels where there is no window manager.
check "the pointer selects from where it was pressed to where it was released" is_at pointer 0.25 0.5 8
like "the analysis pane opens for it" "$(cat pane)" " drawer states"
is "the tab of states equals poet states of that range" "$(got pointer.states)" "$(expected states $states $(range pointer))"
before=$(picture turns)
xdotool key Escape
until_true is_changed
until_true still turns
touch escaped
until_true test -s after
is "the key Escape clears it" "$(tail -n 1 after)" "whole run"
# Over a row, with Shift: the thread of this row.
place() { # place X: there on the row of T:one, in the window
    echo "$(spot "ruler $1" | cut -d' ' -f1) $(($(spot "ruler $1" | cut -d' ' -f2) - 8 + $(awk '$2 == "T:one" { print $3 }' canvas)))"
}
before=$(picture turns)
xdotool mousemove --window "$w" $(place quarter) keydown shift mousedown 1 mousemove_relative -- 30 2 \
    mousemove --window "$w" $(place middle) mouseup 1 keyup shift
until_true is_changed
until_true still turns
touch rowed
until_true test -s row
check "with Shift, the pointer selects over a row" is_at row 0.25 0.5 8
is "the range is of the thread of that row" "$(lines row)" "$(awk '$2 == "T:one" { print $1 }' canvas)"
end_viewers
done_testing
