#!/bin/bash
# The viewer, driven by keys and pointer under Xvfb.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
start_server -o live.poet -q
cat >ticker.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *tick(void *a)
{
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&m);
        if (i % 10 == 0) poet_text("tick %d", i);
        pthread_mutex_unlock(&m);
        usleep(5000);
    }
    return a;
}
int main(void) { pthread_t t; pthread_create(&t, 0, tick, 0); pthread_join(t, 0); return 0; }
C
poetcc -trace -g ticker.c -o ticker
poet view "unix:$XDG_RUNTIME_DIR/poet.sock" >view.log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "a window, waiting" until_true shown "^Poet$"
xdotool key --window "$(window '^Poet$')" F9
./ticker &
program=$!
check "follows the run that begins" until_true shown "ticker — live"
# Of a window its picture alone: what stands above and below it speaks of other things, too.
picture() {
    xwd -silent -id "$(window "${1:-ticker}")" -out shot 2>/dev/null || return
    tail -c $((1200 * 4 * 640)) shot | head -c $((1200 * 4 * 500)) | md5sum
}
if [ "$(picture)" = "$(printf '' | md5sum)" ]; then
    skip "no tool to take pictures of windows"
else
    first=$(picture)
    changed() { [ "$(picture)" != "$first" ]; }
    check "the picture grows by itself" until_true changed
    wait $program
    check "when the program ends the title says so" until_true shown "^ticker$"
    settle() { a=$(picture); sleep 0.3; [ "$a" = "$(picture)" ]; }
    until_true settle
    end=$(picture)
    xdotool key --window "$(window ticker)" shift+Left
    first=$end
    check "Shift+Left scrolls back" until_true changed
    until_true settle
    one=$(picture)
    xdotool key --window "$(window ticker)" Page_Up
    first=$one
    check "Page Up scrolls further" until_true changed
    until_true settle
    two=$(picture)
    xdotool key --window "$(window ticker)" shift+Left
    first=$two
    until_true changed
    until_true settle
    xdotool key --window "$(window ticker)" shift+Right
    same_as_two() { [ "$(picture)" = "$two" ]; }
    check "Shift+Left and Shift+Right: the same picture again, to the pixel" until_true same_as_two
    xdotool key --window "$(window ticker)" Home
    until_true settle
    home=$(picture)
    check "Home" test "$home" != "$two"
    xdotool key --window "$(window ticker)" End
    back_at_end() { [ "$(picture)" = "$end" ]; }
    check "End: the end again, to the pixel" until_true back_at_end
    # a click on a mark shows its details: look for one along the rows
    clicked() {
        for y in 95 163 230 110 144 78; do # rows are as high as there is room
            for x in $(seq 300 9 900); do
                xdotool mousemove --window "$(window ticker)" "$x" "$y" click 1
                [ "$(picture)" != "$end" ] && return 0
            done
        done
        return 1
    }
    check "a click selects an event and shows its details" clicked
fi
xdotool key --window "$(window ticker)" ctrl+s
check "Ctrl+S asks what is to be saved" until_true shown "Save the diagram"
drawn() { a=$(picture "$1"); sleep 0.1; [ "$a" = "$(picture "$1")" ]; }
xdotool windowfocus "$(window 'Save the diagram')"
xdotool key --window "$(window 'Save the diagram')" alt+a
check "then where to" until_true shown "Save as"
xdotool windowfocus "$(window 'Save as')"
until_true drawn "Save as"
xdotool key --window "$(window 'Save as')" ctrl+a
xdotool type --window "$(window 'Save as')" "$work/diagram.pdf"
xdotool key --window "$(window 'Save as')" Return
check "the diagram is saved" until_true test -s diagram.pdf
until_true pdfinfo diagram.pdf
like "as PDF, the names in it" "$(pdftotext diagram.pdf - | head -n 20)" "T:tick"
check "the viewer is still there" kill -0 $viewer
first=$(picture)
changed() { [ "$(picture)" != "$first" ]; }
kill -KILL $server
wait $server 2>/dev/null
check "it says that the server has gone" until_true changed
check "and survives it" kill -0 $viewer
xdotool windowfocus "$(window ticker)"
xdotool key ctrl+q
gone() { ! kill -0 $viewer 2>/dev/null; }
check "Ctrl+Q quits" until_true gone
poet view live.poet >view.log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "a file, by the same program" until_true shown "^ticker$"
kill -0 $viewer 2>/dev/null || sed 's/^/# /' view.log # it ended by itself: why
kill $viewer
like "no complaint" "$(grep -c CRITICAL view.log)" "^0$"
# poet record opens it, too: on the default server, or on that of the trace file it writes
until_true gone
gcc -w -DPLAIN -I"$B/include" ticker.c -o plain-ticker -L"$B/lib" -lpoet -Wl,-rpath,"$B/lib" -pthread
poet record --view -- ./plain-ticker 2>record.log &
check "poet record --view shows the run" until_true shown "plain-ticker — live"
pkill -f "poet-view"
wait $!
poet record --view -o own.poet -- ./plain-ticker 2>>record.log &
check "and with a trace file" until_true shown "plain-ticker — live"
wait $!
check "which is written" poet check own.poet
pkill -f "poet-view"
like "without a complaint" "$(grep -c 'poet record' record.log)" "^0$"
done_testing
