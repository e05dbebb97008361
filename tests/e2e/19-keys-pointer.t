#!/bin/bash
# The viewer by keyboard and pointer: selection, undo, scrolling, zooming, rows.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
cat >work.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *work(void *a)
{
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&m[i % 2]);
        pthread_mutex_unlock(&m[i % 2]);
        if (i % 5 == 0) usleep(300);
    }
    return a;
}
int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g work.c -o work
start_server -o work.poet -q
./work
until_true finished work.poet
stop_server

# The viewer executes what is written to the file `next`, one round after the other; keys and clicks come in between.
for i in $(seq 1500); do printf 'await go%d\nstate selection told\nstate positions spots%d\nstate scene scene%d\nawait read%d\n' $i $i $i $i; done >script
{ echo 'action time 0; action end'; echo 'action go 40%'; cat script; echo quit; } >rounds
poet view work.poet --script rounds >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the viewer opens a window" until_true shown "^work$"
w=$(window '^work$')
round=0
# What is to be seen after an action: waits until it is so.
look() {
    [ $round -gt 0 ] && touch read$round
    round=$((round + 1))
    touch go$round
    until_true test -s scene$round
}
spot() { sed -n "s/^$1 $2 //p" spots$round; }
told() { tail -n 1 told | sed "s/.* $1 \([^ ]*\) .*/\1/"; }
pick() { point "$(spot event "$1")"; xdotool click 1; }
pick_second() { point "$(spot event "$1")"; xdotool keydown ctrl click 1 keyup ctrl; }
point() { xdotool mousemove --window "$w" $1; }
eventually() { # eventually NAME CONDITION [COMMAND...]: repeats the command if it was lost
    name=$1 holds=$2
    shift 2
    for pause in 0.1 0.1 0.2 0.2 0.5 0.5 1 1 1 2 2 2 5 5 5; do # a key may take a while
        look
        "$holds" && { ok "$name"; return; }
        sleep $pause
        [ "$pause" = 1 ] && "$@"
    done
    not_ok "$name" "$(tail -n 1 told | cut -c1-200)" "$(head -n 3 scene$round)"
}
look
e1=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots1 | sed -n 12p)
e2=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots1 | sed -n 4p)
line=${e1%%:*}

pick "$e1"
is_selected() { [ "$(told selected)" = "$e1" ]; }
eventually "a click on a mark selects its event" is_selected pick "$e1"
pick_second "$e2"
is_second() { [ "$(told second)" = "$e2" ]; }
eventually "Ctrl+click selects a second event" is_second pick_second "$e2"
is "the relation of the two selected events is shown" "$(told related)" \
    "$(poet order work.poet "$e1" "$e2" | head -n 1 | sed 's/before/0/; s/after/1/; s/concurrent/2/; s/same/3/')"
key() { xdotool key --window "$w" "$@"; }
key Escape
is_none() { [ "$(told selected)" = none ]; }
eventually "Escape clears the selection" is_none
key ctrl+z ctrl+z
eventually "undo restores the selection" is_selected
first=$(spot event "$e1")
key Right
is_next() { [ "$(told selected)" = "$line:$((${e1#*:} + 1))" ]; }
eventually "Right selects the next event of the line" is_next
key Left
eventually "Left selects the previous event of the line" is_selected
key bracketleft
is_cause() { at=$(told selected); [ "${at%%:*}" != "$line" ] && [ "$(poet order work.poet "$at" "$e1" | head -n 1)" = before ]; }
eventually "[ selects a cause on another line" is_cause
key ctrl+z
eventually "undo after [ restores the selection" is_selected
key Down
is_other_line() { at=$(told selected); [ "${at%%:*}" != "$line" ]; }
eventually "Down selects an event of another line" is_other_line
key ctrl+z
eventually "undo after Down restores the selection" is_selected

at_x() { spot event "$1" | cut -d' ' -f1; }
before=$(at_x "$e1")
point "$(spot picture free)"; xdotool mousedown 1 mousemove_relative -- 20 0 mousemove_relative -- 20 0 mouseup 1
is_dragged() { now=$(at_x "$e1"); [ -n "$now" ] && [ $((now - before)) = 40 ]; }
eventually "dragging moves the diagram with the pointer to the pixel" is_dragged
key ctrl+z
is_back() { [ "$(at_x "$e1")" = "$before" ]; }
eventually "undo after dragging restores the position" is_back
point "$(spot picture free)"; xdotool click 5
is_scrolled() { [ "$(at_x "$e1")" != "$before" ]; }
eventually "the wheel scrolls the diagram" is_scrolled
key ctrl+z
eventually "undo after the wheel restores the position" is_back
key plus
is_zoomed() { head -n 1 scene$round | grep -q 'zoom 1.6'; }
eventually "+ zooms in" is_zoomed
key 0
is_unzoomed() { head -n 1 scene$round | grep -q 'zoom 1.3'; }
eventually "0 resets the zoom" is_unzoomed
key asterisk
is_far() { head -n 1 scene$round | grep -q 'far 1'; }
eventually "* shows the whole run" is_far
key ctrl+z
is_near() { head -n 1 scene$round | grep -q 'far 0'; }
eventually "undo after * restores the zoom" is_near

rows() { sed -n 's/^row [0-9]* y [0-9.]* "\([A-Z]*:[a-z]*\).*/\1/p' scene$round | tr '\n' ' '; }
all=$(rows)
names=$(sed -n 's/^name //p' spots$round | wc -l)
mutex=$(sed -n 's/^name \([0-9]*\) .*/\1/p' spots$round | tail -n 1)
from=$(spot name "$mutex"); to=$(spot name 1)
point "$from"; xdotool mousedown 1; point "$to"; xdotool mousemove_relative 1 1 mouseup 1
is_moved() { [ "$(rows)" != "$all" ] && [ "$(sed -n 's/^name \([0-9]*\) .*/\1/p' spots$round | head -n 1)" = "$mutex" ]; }
eventually "dragging a row's name moves the row to the top" is_moved
key ctrl+z
are_all() { [ "$(rows)" = "$all" ]; }
eventually "undo after moving a row restores the order of rows" are_all
key h
is_hidden() { [ "$(sed -n 's/^name //p' spots$round | wc -l)" = $((names - 1)) ]; }
eventually "h hides the selected line" is_hidden
key ctrl+shift+h
is_shown() { [ "$(sed -n 's/^name //p' spots$round | wc -l)" = "$names" ]; }
eventually "Ctrl+Shift+H shows all hidden lines" is_shown
key j
eventually "j groups the selected line with the row above" is_hidden
key shift+j
eventually "J ungroups the line group" is_shown
key t
is_timed() { head -n 1 scene$round | grep -q 'time [1-9]'; }
eventually "t places events by time" is_timed
key ctrl+z
is_ordered() { head -n 1 scene$round | grep -q 'time 0 '; }
eventually "undo after t places events by order" is_ordered

before=$(cat scene$round)
point "$(spot on 3)"; xdotool click 1
is_changed() { [ "$(cat scene$round)" != "$before" ]; }
eventually "the arrows beside a name scroll that line" is_changed
key ctrl+z
is_same() { [ "$(cat scene$round)" = "$before" ]; }
eventually "undo after scrolling a line restores it" is_same
point "$(spot map begin)"; xdotool click 1
eventually "a click on the map scrolls to another part" is_changed
key End
is_following() { head -n 1 scene$round | grep -q 'follow 1'; }
eventually "End scrolls to the end and follows the run" is_following
touch read$round
check "the viewer runs on after all actions" kill -0 $viewer
key ctrl+q
gone() { ! kill -0 $viewer 2>/dev/null; }
check "Ctrl+Q closes the viewer" until_true gone
is "the viewer logs no CRITICAL message" "$(grep -c CRITICAL log)" 0
done_testing
