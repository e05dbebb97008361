#!/bin/bash
# Saving a diagram from the viewer: the choice of what, the preview, what is wrong with it, and the file.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
cat >work.c <<'C'
#include <pthread.h>
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *work(void *a)
{
    for (int i = 0; i < 30; i++) {
        pthread_mutex_lock(&m[i % 2]);
        pthread_mutex_unlock(&m[i % 2]);
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

# ---- a view says how, an option which part ----
printf '%s\n' 'goto 3:20' 'hide 2' 'view a.view' quit >script
timeout 60 poet view work.poet --script script >log 2>&1
check "a view" test -s a.view
columns() { poet export work.poet --no-title --no-legend "$@" -o c.svg && grep -c '<title>' c.svg; }
all=$(columns --lines 1,3,4,5,6)
is "with --all it is the whole run in its rows" "$(columns --view a.view --all)" "$all"
check "alone it is a part" test "$(columns --view a.view)" -lt "$all"
is "with --last that part" "$(columns --view a.view --last 9)" "$(columns --lines 1,3,4,5,6 --last 9)"
is "with --from and --to theirs" "$(columns --view a.view --from 3:5 --to 3:9)" \
    "$(columns --lines 1,3,4,5,6 --from 3:5 --to 3:9)"
is "with --text the one around it" "$(columns --view a.view --text start)" "$(columns --lines 1,3,4,5,6 --text start)"
is "an event that there is not is told" "$(poet export work.poet --view a.view --from 3:9999 -o c.svg 2>&1 | head -n 1)" \
    "$(poet export work.poet --from 3:9999 -o c.svg 2>&1 | head -n 1)"

# ---- the dialog ----
manager
if [ -z "$managed" ]; then
    skip "there is no window manager, openbox"
    done_testing
    exit
fi
# With that window manager GTK 4.8 draws no window that belongs to another: here none does.
echo 'void gtk_window_set_transient_for(void *a, void *b) { (void)a; (void)b; }' >alone.c
gcc -shared -fPIC alone.c -o alone.so
mkdir -p "$work/home"
view() { # SCRIPT LINES...
    printf '%s\n' "$@" >script
    LD_PRELOAD=$work/alone.so TMPDIR="$work/home" poet view work.poet --script script >log 2>&1 &
    viewer=$!
    pids="$pids $viewer"
    focus "^Export diagram$"
}
gone() { ! kill -0 $viewer 2>/dev/null; }
empty() { [ -z "$(ls "$work/home")" ]; }
leave() {
    until_true empty # a preview under way cleans up behind it
    kill $viewer
    until_true gone
}
preview=300x400+600+70
differs() { [ "$(picture "^Export diagram$" $preview)" != "$before" ] && still "^Export diagram$" $preview; }
ask_path() { shown "^Save as$" || { focused "^Export diagram$"; xdotool key alt+a; }; }
save_as() { # FILE [ENDING THAT IT IS GIVEN]
    again ask_path -- shown "^Save as$"
    save_path "$work/$1" "$2"
}
closed() { ! shown "^Export diagram$"; }
conf="$work/.config/poet/view.conf"
kept() { sed -n "/^\[save\]/,\$s/^$1=//p" "$conf"; }

view 'goto 3:20' 'second 4:25' 'view seen.view' 'action save'
check "a preview comes by itself" until_true still "^Export diagram$" $preview
before=$(picture "^Export diagram$" $preview)
xdotool key alt+l
check "another range: another preview" until_true differs
xdotool key alt+v
save_as last.svg
check "then the dialog goes" until_true closed
poet export work.poet --view seen.view --last 40 -o wanted.svg
check "an SVG of the last columns, as poet export gives it" cmp last.svg wanted.svg
leave
is "the choice is kept" "$(kept format) $(kept range) $(kept last)" "1 4 40"

view 'goto 3:20' 'second 4:25' 'view seen.view' 'action save'
xdotool key alt+e
xdotool key alt+p
xdotool key alt+i ctrl+a
xdotool type 9
until_true still "^Export diagram$"
xdotool key alt+a Return
check "a width that is none: nothing is saved" test -z "$(window '^Save as$')"
xdotool key alt+i ctrl+a
xdotool type "8.4 cm"
xdotool key alt+y alt+g alt+t
save_as between .pdf # no ending: that of the format
sed 's/grey = false/grey = true/; s/legend = true/legend = false/' seen.view >grey.view
poet export work.poet --view grey.view --from 3:20 --to 4:25 --width 84mm --no-title -o wanted.pdf 2>/dev/null ||
    poet export work.poet --view grey.view --from 4:25 --to 3:20 --width 84mm --no-title -o wanted.pdf
check "a PDF between the two selected events, grey, 84 mm wide, without legend and title" cmp between.pdf wanted.pdf
leave
is "that is kept, too" "$(kept format) $(kept range) $(kept size) $(kept width) $(kept grey) $(kept legend) $(kept title)" \
    "0 2 1 8.4 cm true false false"

# what was chosen and is not there: what is seen
view 'goto 3:20' 'view seen.view' 'action save'
xdotool key alt+x
save_as seen.txt
sed 's/grey = false/grey = true/; s/legend = true/legend = false/' seen.view >grey.view
poet export work.poet --view grey.view --no-title -o wanted.txt
check "text, of what is seen" cmp seen.txt wanted.txt
leave

view 'goto 3:20' 'action save'
escape() { closed || xdotool key Escape; }
check "Escape closes it" again escape -- closed
check "nothing of a preview stays" until_true empty
leave
is "without a complaint" "$(grep -E 'CRITICAL|WARNING' log | head -n 3)" ""

# ---- for those who do not look at it ----
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "there is no AT-SPI"
    done_testing
    exit
fi
export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1
cat >reader.py <<'P'
import subprocess

from atspi import Atspi, until

def write(name, text):
    entry = until(lambda a: a.get_name() == name and a.get_editable_text_iface() and a)
    return bool(entry and Atspi.EditableText.set_text_contents(entry, text))

print("preview", bool(until(lambda a: a.get_name() == "Preview of the diagram")))
print("width", write("Width in millimeters", "many"))
print("wrong", bool(until(lambda a: a.get_name().startswith("Enter a width"))))
print("small", write("Width in millimeters", "20"), bool(until(lambda a: "too small to read" in a.get_name())))
# GTK 4.8 tells no actions of such buttons: the key does it.
text = until(lambda a: a.get_name() == "Text" and a.get_role_name() in ("radio button", "check box") and a)
subprocess.run(["xdotool", "key", "alt+x"])
print("text", bool(text), bool(until(lambda a: a.get_name() == "Preview of the text" and a.get_text_iface()
      and "T:main" in Atspi.Text.get_text(a, 0, Atspi.Text.get_character_count(a)))))
P
rm -f "$conf"
printf '%s\n' 'goto 3:20' 'action panel' 'action save' >script # without the panel there is less to walk through
export launcher
timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately &
    until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
    LD_PRELOAD=./alone.so poet view work.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore reader.py; kill $viewer %1' >read 2>log
is "there is a preview" "$(grep preview read)" "preview True"
is "a width can be written" "$(grep width read)" "width True"
is "a wrong one is told in place" "$(grep wrong read)" "wrong True"
is "letters that would be too small are warned of" "$(grep small read)" "small True True"
is "a text can be chosen, and its preview read" "$(grep text read)" "text True True"
done_testing
