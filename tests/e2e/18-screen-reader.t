#!/bin/bash
# The viewer is usable through a screen reader (AT-SPI) alone.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not available"
    done_testing
    exit
fi
cat >two.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *a) { for (int i = 0; i < 9; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } return a; }
int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); worker(0); pthread_join(t, 0); return 0; }
C
poetcc -trace -g two.c -o two
start_server -o two.poet -q
./two
until_true finished two.poet
stop_server
event=$(poet dump two.poet --json | sed -n 's/^{"event":"\([0-9:]*\)","type":"lock".*/\1/p' | head -n 1)
printf 'action go %s\naction show-text\n' "$event" >script
export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1
cat >reader.py <<'P'
import sys

from atspi import Atspi, until, walk

def text(a):
    return Atspi.Text.get_text(a, 0, Atspi.Text.get_character_count(a))

event = sys.argv[1]
print("picture", bool(until(lambda a: a.get_name().startswith("Event diagram") and "lock (%s)" % event in a.get_description())))
print("words", bool(until(lambda a: a.get_name() == "Text description of the diagram" and "lock (%s)" % event in text(a))))
print("standing", bool(until(lambda a: a.get_name() == "Text description of the diagram" and text(a).count("[selected]") == 1
                             and text(a).count("[simultaneous with the selected event]") == 1)))
button = until(lambda a: a.get_role_name().endswith("button") and a.get_description().startswith("Toggle logical order") and a)
print("button", bool(button))
button.get_action_iface().do_action(0) if button else None
print("pressed", bool(until(lambda a: a.get_name().endswith("per column"))))
print("unnamed", len({a.get_description() for i in range(Atspi.get_desktop(0).get_child_count())
                      for a in walk(Atspi.get_desktop(0).get_child_at_index(i))
                      if a.get_role_name().endswith("button") and a.get_name() in ("", "GtkImage")}))
P
export launcher event
timeout 500 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately & poet view two.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore reader.py "$event"; kill $viewer %1' >said 2>log

is "the diagram has the selected event as its description" "$(grep picture said)" "picture True"
is "the description of the diagram can be read as text" "$(grep words said)" "words True"
is "the selected event and its partner are reported as one synchronization point" "$(grep standing said)" "standing True"
is "a button has a name" "$(grep button said)" "button True"
is "a button performs its action" "$(grep pressed said)" "pressed True"
is "every button has a name" "$(grep unnamed said)" "unnamed 0"
done_testing
