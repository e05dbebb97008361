#!/bin/bash
# The viewer's keyboard focus, the details line, notes, searches and dialogs.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
cat >work.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *work(void *a)
{
    for (int i = 0; i < 30; i++) {
        pthread_mutex_lock(&m[i % 2]);
        pthread_mutex_unlock(&m[i % 2]);
        if (i % 5 == 0) usleep(300);
    }
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    (void)argv;
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    while (argc > 1 && access("stay", F_OK) == 0) usleep(10000);
    return 0;
}
C
poetcc -trace -g work.c -o work
start_server -o work.poet -q
./work
until_true finished work.poet
stop_server

# ---- notes by poet note ----
note() { poet note work.poet "$@"; }
check "poet note writes a note" note 1:3 "the first lock"
check "poet note writes a second note with special characters" note 2:2 "here it begins: “\`quoted\`” \\ ü"
is "poet note --list prints both notes" "$(note --list)" "1:3      the first lock
2:2      here it begins: “\`quoted\`” \\ ü"
check "poet note replaces the note of an event" note 1:3 "the very first"
is "poet note --json prints notes as JSON" "$(note --json | head -n 1)" '{"event":"1:3","text":"the very first"}'
is "notes are stored in a file beside the trace" "$(head -n 1 work.poet-notes | sed 's/[0-9]\{9,\}/N/')" '{"poet_notes":1,"run":"work","began_ns":N}'
is "poet note at a missing event is refused" "$(note 1:99999 x 2>&1; echo $?)" "poet note: no event 1:99999 in this run (line 1 has 9 events)
1"
is "poet note at an invalid event is refused" "$(note x y 2>&1 | head -n 1)" "poet note: x: not an event (LINE:NUMBER, as in 2:17)"
check "poet note --delete deletes a note" note --delete 2:2
is "poet note no longer prints a deleted note" "$(note)" "1:3      the very first"
is "poet note --delete without a note fails" "$(note --delete 2:2 2>&1; echo $?)" "poet note: no note at 2:2
1"
check "poet export draws notes into an SVG" poet export work.poet -o with.svg --from 1:1 --to 1:8
poet export work.poet -o without.svg --from 1:1 --to 1:8 --no-notes
check "an SVG without notes differs" test "$(cksum <with.svg)" != "$(cksum <without.svg)"
like "poet show prints notes" "$(poet show work.poet --to 1:8)" "^note 1  1:3  the very first$"
poet export work.poet -o with.pdf --from 1:1 --to 1:8
like "a PDF has the text of a note" "$(pdftotext with.pdf - 2>/dev/null)" "the very first"

# Notes that may not be written beside the trace are kept elsewhere, and are moved back when they may.
mkdir shut && cp work.poet shut/ && chmod 555 shut
if touch shut/x 2>/dev/null; then
    rm -f shut/x
    mkdir shut/work.poet-notes # not even root can write a file of that name
    like "a directory in the place of the notes is reported" "$(poet note shut/work.poet 1:3 x 2>&1)" "work.poet-notes: Is a directory"
    rmdir shut/work.poet-notes
else
    like "a note beside a read-only trace is kept elsewhere" "$(poet note shut/work.poet 1:3 shut 2>&1)" \
        "saved in $XDG_STATE_HOME/poet/notes/work-[0-9]*.poet-notes"
    is "a note kept elsewhere is listed" "$(poet note shut/work.poet)" "1:3      shut"
fi
chmod 755 shut
# Notes of another run of the same name are left alone.
sed 's/"began_ns":[0-9]*/"began_ns":7/' work.poet-notes >shut/work.poet-notes
cp shut/work.poet-notes foreign
is "notes of another run are not listed" "$(poet note shut/work.poet --list | grep -c very)" 0
poet note shut/work.poet 1:4 mine 2>/dev/null
check "notes of another run are not overwritten" cmp foreign shut/work.poet-notes
like "notes of this run are kept elsewhere" "$(poet note shut/work.poet)" "1:4 +mine"
# A hostile notes file.
hostile() { # NAME LINE...
    name=$1
    shift
    { head -n 1 foreign | sed "s/:7}/:$began}/"; printf '%s\n' "$@"; } >work.poet-notes
    cp work.poet-notes before
    said=$(poet note work.poet --list 2>&1)
    status=$?
    poet note work.poet 1:4 more >/dev/null 2>&1
    if [ $status = 1 ] && printf '%s\n' "$said" | grep -Eq '^poet note: work.poet-notes:[0-9]+: ' && cmp -s before work.poet-notes; then
        ok "damaged notes are reported and left alone: $name"
    else
        not_ok "damaged notes are reported and left alone: $name" "$status" "$said"
    fi
}
began=$(head -n 1 work.poet-notes | sed 's/.*"began_ns":\([0-9]*\).*/\1/')
cp work.poet-notes good
hostile "invalid JSON" '{"event":"1:3"'
hostile "two objects" '{"event":"1:3","text":"a"}{}'
hostile "no object" '[1,2]'
hostile "no event" '{"text":"a"}'
hostile "an invalid event" '{"event":"1:3x","text":"a"}'
hostile "a hidden line" '{"event":"h1:3","text":"a"}'
hostile "no text" '{"event":"1:3","text":7}'
hostile "a null character" '{"event":"1:3","text":"a\u0000b"}'
hostile "too long" "{\"event\":\"1:3\",\"text\":\"$(printf '%05000d' 1)\"}"
hostile "twice" '{"event":"1:3","text":"a"}' '{"event":"1:3","text":"b"}'
hostile "invalid UTF-8" "$(printf '{"event":"1:3","text":"\377\376"}')"
hostile "deep" "{\"event\":\"1:3\",\"text\":\"a\",\"x\":$(printf '%*s' 5000 '' | tr ' ' '[')}"
printf '' >work.poet-notes
like "an empty notes file is reported" "$(poet note work.poet --list 2>&1)" "work.poet-notes:1: not a note file"
{ head -n 1 good; printf '{"event":"1:3","text":"\\u001b[31mred"}\n'; } >work.poet-notes
is "control characters in a note are shown by replacement symbols" "$(note --list)" "1:3      ␛[31mred"
cp good work.poet-notes

# ---- zooming out ends at the whole run ----
cat >few.c <<'C'
#include <pthread.h>
static void *nothing(void *a) { return a; }
int main(void) { pthread_t t; pthread_create(&t, 0, nothing, 0); return pthread_join(t, 0); }
C
poetcc -trace -g few.c -o few
poet record -o few.poet -- ./few 2>/dev/null
until_true finished few.poet
# The scale at which the whole run fits, whatever its duration: 10^scale ns a column.
scale=$(figure few.poet duration_ns | awk '{ s = log($1 / 10) / log(10); print (s > 5 ? s : 5) }')
zooms() { for i in $(seq "$1"); do echo 'action zoom 0.7 600 100'; done; }
{ echo 'state scene s1'; zooms 9; echo 'state scene s2'; echo 'action undo'; echo 'state scene s3'; echo "action time $scale"; zooms 9; echo 'state scene s4'; echo quit; } >script
timeout 300 poet view few.poet --script script >log 2>&1
is "a run that fits is not zoomed out further" "$(cat s2)" "$(cat s1)"
is "a zoom without effect adds nothing to undo" "$(cat s3)" "$(cat s1)"
is "a run that fits is not zoomed out further by time" "$(head -n 1 s4 | sed 's/.*zoom \([0-9.]*\) .*far \([01]\).*/\1 \2/')" "1.3000 0"
{ echo 'action zoom 2 600 100'; echo 'action zoom 2 600 100'; zooms 9; echo 'state scene s5'; echo quit; } >script
timeout 300 poet view few.poet --script script >log 2>&1
widest() { awk -v z="$(sed -n '1s/.*zoom \([0-9.]*\) .*/\1/p' s5)" 'BEGIN { exit !(z >= 1.3) }'; }
check "zooming out from a part ends at the whole run" widest
{ echo 'action time 0; action end'; echo 'action fit'; echo 'state overview-bands f1'; zooms 4; echo 'action zoom 3 1100 100'; zooms 9; echo 'state overview-bands f2'
  echo 'action time 5'; echo 'action fit'; echo 'state overview-bands t1'; zooms 4; echo 'action zoom 3 1100 100'; zooms 9; echo 'state overview-bands t2'; echo quit; } >script
timeout 300 poet view work.poet --script script >log 2>&1
is "the overview of a whole run by order has all of it" "$(cat f2)" "$(cat f1)"
is "the overview of a whole run by time has all of it" "$(cat t2)" "$(cat t1)"

# ---- the viewer executes what is written to the file `next`, one round after the other ----
for i in $(seq 1500); do printf 'await go%d\nstate selection told\nstate positions spots%d\nstate scene scene%d\nstate status\nawait read%d\n' $i $i $i $i; done >script
{ echo 'action time 0; action end'; echo 'action go 40%'; cat script; echo quit; } >rounds
# A window manager gives dialogs the focus. With this one GTK 4.8 draws no window that is transient for another: here none is.
manager
echo 'void gtk_window_set_transient_for(void *a, void *b) { (void)a; (void)b; }' >alone.c
gcc -shared -fPIC alone.c -o alone.so
LD_PRELOAD=$work/alone.so poet view work.poet --script rounds >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the viewer opens a window" until_true shown "^work$"
w=$(window '^work$')
round=0
look() {
    [ $round -gt 0 ] && touch read$round
    round=$((round + 1))
    touch go$round
    until_true said_round
}
# Waits until the diagram is where it was.
calm() {
    for _ in $(seq 20); do
        spots=$(cat spots$round)
        sleep 0.2
        look
        [ "$spots" = "$(cat spots$round)" ] && return
    done
}
said_round() { [ "$(grep -c ^said: log)" -ge $round ]; }
spot() { sed -n "s|^$1 $2 ||p" spots$round | head -n 1; }
told() { tail -n 1 told | sed "s/.* $1 \([^ ]*\) .*/\1/"; }
said() { grep ^said: log | sed -n "${round}s/^said: //p"; }
pick() { point "$(spot event "$1")"; xdotool click 1; }
pick_second() { point "$(spot event "$1")"; xdotool keydown ctrl click 1 keyup ctrl; }
point() { xdotool mousemove --window "$w" $1; }
# If a window manager gives the focus, keys are typed; otherwise they are sent to the window.
key() { if [ -n "$managed" ]; then xdotool key "$@"; else xdotool key --window "$w" "$@"; fi; }
write() { if [ -n "$managed" ]; then xdotool type "$1"; else xdotool type --window "$w" "$1"; fi; }
eventually() { # eventually NAME CONDITION [COMMAND...]: repeats the command if it was lost
    name=$1 holds=$2
    shift 2
    for pause in 0.1 0.1 0.2 0.2 0.5 0.5 1 1 1 2 2 2 5 5 5; do # a key may take a while
        look
        "$holds" && { ok "$name"; return; }
        sleep $pause
        [ "$pause" = 1 ] && "$@"
    done
    not_ok "$name" "$(tail -n 1 told | cut -c1-200)" "$(said)" "$(head -n 1 scene$round)"
}
look
look
is "the follow button of a file is insensitive" "$(spot button win.follow)" ""
e1=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots$round | sed -n 12p)
e2=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots$round | sed -n 4p)

# Keys reach the diagram, whatever was clicked before.
is_next() { at=$(told selected); [ "$at" != none ] && [ "$at" != "$before" ]; }
along() { if [ "${before#*:}" -gt 3 ]; then echo Left; else echo Right; fi; } # in the direction that has an event
pick "$e1"
is_selected() { [ "$(told selected)" = "$e1" ]; }
eventually "a click on a mark selects its event" is_selected pick "$e1"
for button in win.panel win.time win.zoom-in win.undo win.fit win.undo; do
    point "$(spot button $button)"; xdotool click 1
    look
    before=$(told selected)
    key "$(along)"
    eventually "after a click on $button an arrow key moves along the line" is_next
done
point "$(spot button win.panel)"; xdotool click 1
look
point "$(spot slider time)"; xdotool click 1
look
before=$(told selected)
key "$(along)"
eventually "after a click on the zoom slider an arrow key moves along the line" is_next
key ctrl+z ctrl+z ctrl+z

# The details line.
key Escape
is_none() { [ "$(told selected)" = none ] && [ -z "$(said)" ]; }
eventually "Escape clears the selection and the details line" is_none
key Home 0
at_begin() { grep -q "^event 1:1 " spots$round; }
eventually "Home scrolls to the beginning" at_begin key Home 0
calm
e1=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots$round | sed -n 3p)
e2=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots$round | grep -v "^${e1%%:*}:" | tail -n 1)
pick "$e1"
is_card() { said | grep -Eq "\($e1\).* — [0-9.]+ (s|ms|µs|ns)(, work.c:[0-9]+)?$"; }
eventually "a click shows one line about the event" is_card pick "$e1"
pick_second "$e2"
stands=$(poet order work.poet "$e1" "$e2" | head -n 1)
is_relation() { said | grep -Eq "^$e1 (happened|is) $stands( with)? $e2 — [0-9.]+ (s|ms|µs|ns)(, [0-9]+ hops?)?$"; }
eventually "Ctrl+click shows the relation of the two events" is_relation pick_second "$e2"
key Escape
eventually "Escape clears the relation" is_none

# Searches.
key ctrl+f
write "nosuchword"
has_hits() { [ "$(told hits)" = "$wanted" ]; }
wanted=0
eventually "a search without a match has no hits" has_hits
key ctrl+f
write "create"
wanted=$(poet dump work.poet --json | grep -c '"type":"create"')
eventually "Ctrl+F again: typed text replaces the previous search" has_hits
is_create() { [ "$(poet dump work.poet --json | sed -n "s/.*\"event\":\"$(told selected)\",\"type\":\"\([a-z]*\)\".*/\1/p")" = create ]; }
eventually "a search selects its first hit" is_create
key Escape
wanted=0
eventually "Escape clears the hits" has_hits
before=$(told selected)
key Right
eventually "after Escape in the search an arrow key moves along the line" is_next
key Escape

# Notes in the viewer.
key Home
eventually "Home scrolls to the beginning before the note" at_begin key Home
calm
e1=$(sed -n 's/^event \([0-9:]*\) .*/\1/p' spots$round | sed -n 3p)
pick "$e1"
eventually "a click selects the event of the note" is_selected pick "$e1"
closed() { ! shown "^Note at $e1$"; }
ask_note() { shown "^Note at $e1$" || { focused "^work$"; xdotool key ctrl+d; }; }
ask_place() { shown "^Go to$" || { focused "^work$"; xdotool key ctrl+g; }; }
if [ -z "$managed" ]; then
    skip "openbox, the window manager, is not installed"
else
focused "^work$"
check "Ctrl+D opens the note dialog" again ask_note -- shown "^Note at $e1$"
focus "^Note at $e1$"
answer() { # answer TEXT: replaces the text of the dialog; does nothing if the window is closed
    shown "$1" && focused "$1" && xdotool key ctrl+a && xdotool type "$2" && xdotool key Return
}
is_noted() { poet note work.poet | grep -q "^$e1 *by hand$"; }
check "the note is stored with the trace" again answer "^Note at $e1$" "by hand" -- is_noted
until_true closed
has_flag() { grep -q '^flag ' scene$round && grep -q "^note .*$e1  by hand" scene$round; }
eventually "the note is drawn in the diagram" has_flag
check "Ctrl+D on a noted event opens the note dialog" again ask_note -- shown "^Note at $e1$"
focus "^Note at $e1$"
xdotool key End
xdotool type ", twice"
xdotool key Return
is_changed() { [ "$(poet note work.poet | grep -c "^$e1 ")" = 1 ] && poet note work.poet | grep -q "^$e1 *by hand, twice$"; }
check "editing a note changes it and adds none" until_true is_changed
until_true closed

# An invalid answer.
check "Ctrl+G opens the go-to dialog" again ask_place -- shown "^Go to$"
focus "^Go to$"
before=$(picture "^Go to$")
answer "^Go to$" "nowhere"
complained() { [ "$(picture "^Go to$" | cut -d' ' -f2)" != "${before#* }" ]; } # the dialog grows by a line
check "an invalid event keeps the go-to dialog open" until_true complained
check "a valid event closes the go-to dialog" again answer "^Go to$" "$e2" -- not_shown "^Go to$"
is_there() { [ "$(told selected)" = "$e2" ]; }
eventually "the go-to dialog selects the event" is_there
fi
touch read$round
gone() { ! kill -0 $viewer 2>/dev/null; }
shut() { gone || { focused "^work$"; key ctrl+w; }; }
check "Ctrl+W closes the viewer's window" again shut -- gone
is "the viewer logs no CRITICAL or WARNING message" "$(grep -Ec 'CRITICAL|WARNING' log)" 0

# ---- a new run does not replace the run in view ----
start_server -q
for i in first second third; do cp work $i; done
./first
until_true finished "unix:$XDG_RUNTIME_DIR/poet.sock"
poet view "unix:$XDG_RUNTIME_DIR/poet.sock" >log 2>&1 &
viewer=$!
pids="$pids $viewer"
check "the viewer shows the last run of a server" until_true shown "^first$"
w=$(window '^first$')
focus "^first$"
before=$(picture "^first$")
moved() { [ "$(picture "^first$")" != "$before" ]; }
again key Home Right Right -- moved # keys arrive in order: once Right has moved the diagram, it no longer follows
until_true still "^first$"
./second
until_true finished "unix:$XDG_RUNTIME_DIR/poet.sock"
check "a new run does not replace the run in view" shown "^first$"
shows() { key alt+s; shown "^second$"; }
check "the button shows that there is a new run" until_true shows
./third
check "a viewer that follows shows the next run at once" until_true shown "^third"
leave() { gone || { focused "^third"; key ctrl+q; }; }
check "Ctrl+Q closes the viewer of a live server" again leave -- gone
is "the viewer of a live server logs no CRITICAL or WARNING message" "$(grep -Ec 'CRITICAL|WARNING' log)" 0
done_testing
