#!/bin/bash
# Exporting a diagram from the viewer: the dialog's options, the preview, error messages, and the file.
# Runs in make check-all only.
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

# ---- a view selects the rows, an option the range ----
printf '%s\n' 'action time 0; action end' 'action go 3:20' 'action hide-line 2' 'action save-view a.view' quit >script
timeout 60 poet view work.poet --script script >log 2>&1
check "the viewer saves a view" test -s a.view
columns() { poet export work.poet --no-title --no-legend "$@" -o c.svg && grep -c '<title>' c.svg; }
all=$(columns --lines 1,3,4,5,6)
is "--view --all exports the whole run in the view's rows" "$(columns --view a.view --all)" "$all"
check "--view alone exports a part" test "$(columns --view a.view)" -lt "$all"
is "--view --last exports that range" "$(columns --view a.view --last 9)" "$(columns --lines 1,3,4,5,6 --last 9)"
is "--view --from --to exports that range" "$(columns --view a.view --from 3:5 --to 3:9)" \
    "$(columns --lines 1,3,4,5,6 --from 3:5 --to 3:9)"
is "--view --text exports the range around the match" "$(columns --view a.view --text start)" "$(columns --lines 1,3,4,5,6 --text start)"
is "--view --from a missing event is refused" "$(poet export work.poet --view a.view --from 3:9999 -o c.svg 2>&1 | head -n 1)" \
    "$(poet export work.poet --from 3:9999 -o c.svg 2>&1 | head -n 1)"

# ---- the dialog ----
manager
if [ -z "$managed" ]; then
    skip "openbox, the window manager, is not installed"
    done_testing
    exit
fi
# With this window manager GTK 4.8 draws no window that is transient for another: here none is.
echo 'void gtk_window_set_transient_for(void *a, void *b) { (void)a; (void)b; }' >alone.c
gcc -shared -fPIC alone.c -o alone.so
mkdir -p "$work/home"
view() { # SCRIPT LINES...
    printf '%s\n' 'action time 0; action end' "$@" >script
    LD_PRELOAD=$work/alone.so TMPDIR="$work/home" poet view work.poet --script script >log 2>&1 &
    viewer=$!
    pids="$pids $viewer"
    focus "^Export diagram$"
}
gone() { ! kill -0 $viewer 2>/dev/null; }
empty() { [ -z "$(ls "$work/home")" ]; }
leave() {
    until_true empty # a preview under way removes its files
    kill $viewer
    until_true gone
}
preview=300x400+600+70
differs() { [ "$(picture "^Export diagram$" $preview)" != "$before" ] && still "^Export diagram$" $preview; }
ask_path() { shown "^Save as$" || { focused "^Export diagram$"; xdotool key alt+a; }; }
save_as() { # save_as FILE [SUFFIX THAT IS ADDED]
    again ask_path -- shown "^Save as$"
    save_path "$work/$1" "$2"
}
closed() { ! shown "^Export diagram$"; }
conf="$work/.config/poet/view.conf"
kept() { sed -n "/^\[save\]/,\$s/^$1=//p" "$conf"; }

view 'action go 3:20' 'action select 4:25 second' 'action save-view seen.view' 'action save'
check "the export dialog shows a preview" until_true still "^Export diagram$" $preview
before=$(picture "^Export diagram$" $preview)
xdotool key alt+l
check "another range changes the preview" until_true differs
xdotool key alt+v
save_as last.svg
check "saving closes the export dialog" until_true closed
poet export work.poet --view seen.view --last 40 -o wanted.svg
check "the saved SVG of the last columns equals that of poet export" cmp last.svg wanted.svg
leave
is "the dialog's options are kept" "$(kept format) $(kept range) $(kept last)" "1 5 40"

view 'action go 3:20' 'action select 4:25 second' 'action save-view seen.view' 'action save'
xdotool key alt+e
xdotool key alt+p
xdotool key alt+i ctrl+a
xdotool type 9
until_true still "^Export diagram$"
xdotool key alt+a Return
check "an invalid width disables saving" test -z "$(window '^Save as$')"
xdotool key alt+i ctrl+a
xdotool type "8.4 cm"
xdotool key alt+y alt+g alt+t
save_as between .pdf # no suffix: that of the format is added
sed 's/grayscale = false/grayscale = true/; s/legend = true/legend = false/' seen.view >grey.view
poet export work.poet --view grey.view --from 3:20 --to 4:25 --width 84mm --no-title -o wanted.pdf 2>/dev/null ||
    poet export work.poet --view grey.view --from 4:25 --to 3:20 --width 84mm --no-title -o wanted.pdf
check "the saved PDF between two events, gray, 84 mm, without legend and title equals that of poet export" cmp between.pdf wanted.pdf
leave
is "all options of the dialog are kept" "$(kept format) $(kept range) $(kept size) $(kept width) $(kept grayscale) $(kept legend) $(kept title)" \
    "0 3 1 8.4 cm true false false"

# Options that are not available: the range in view is used.
view 'action go 3:20' 'action save-view seen.view' 'action save'
xdotool key alt+x
save_as seen.txt
sed 's/grayscale = false/grayscale = true/; s/legend = true/legend = false/' seen.view >grey.view
poet export work.poet --view grey.view --no-title -o wanted.txt
check "the saved text of the range in view equals that of poet export" cmp seen.txt wanted.txt
leave

view 'action go 3:20' 'action save'
escape() { closed || xdotool key Escape; }
check "Escape closes the export dialog" again escape -- closed
check "no file of a preview remains" until_true empty
leave
is "the viewer logs no CRITICAL or WARNING message" "$(grep -E 'CRITICAL|WARNING' log | head -n 3)" ""

# ---- accessibility (AT-SPI) ----
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not available"
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
# GTK 4.8 reports no actions of such buttons: the key activates it.
text = until(lambda a: a.get_name() == "Text" and a.get_role_name() in ("radio button", "check box") and a)
subprocess.run(["xdotool", "key", "alt+x"])
print("text", bool(text), bool(until(lambda a: a.get_name() == "Preview of the text" and a.get_text_iface()
      and "T:main" in Atspi.Text.get_text(a, 0, Atspi.Text.get_character_count(a)))))
P
rm -f "$conf"
printf '%s\n' 'action time 0; action end' 'action go 3:20' 'action panel' 'action save' >script # without the panel there are fewer widgets to search
export launcher
timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately &
    until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
    LD_PRELOAD=./alone.so poet view work.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore reader.py; kill $viewer %1' >read 2>log
is "AT-SPI: the preview has a name" "$(grep preview read)" "preview True"
is "AT-SPI: the width can be typed" "$(grep width read)" "width True"
is "AT-SPI: an invalid width is reported at its field" "$(grep wrong read)" "wrong True"
is "AT-SPI: a warning of text that would be too small is reported" "$(grep small read)" "small True True"
is "AT-SPI: the text format can be selected, and its preview read" "$(grep text read)" "text True True"
done_testing
