#!/bin/bash
# Each control of the viewer has an accessible name: the main window with each of its tabs and panels, and each dialog.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
launcher=/usr/libexec/at-spi-bus-launcher
if [ ! -x $launcher ] || ! /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    skip "AT-SPI is not available"
    done_testing
    exit
fi
compile deadlock
POET_OUTPUT=deadlock.poet ./deadlock &
program=$!
dead() { poet blocked deadlock.poet 2>/dev/null | grep -q ^DEADLOCK; }
until_true dead
{ kill -KILL $program; wait $program; } 2>/dev/null
until_true finished deadlock.poet

export PYTHONPATH=$root/tests/e2e PYTHONDONTWRITEBYTECODE=1 launcher
cat >reader.py <<'P'
from atspi import Atspi, until, walk

CONTROLS = ("button", "entry", "text", "slider", "box", "switch", "tab", "table", "list item", "menu item")
TOOLKITS = ("GtkFileChooserWidget", "About Poet")  # what GTK makes itself

def path(widget):
    parts = []
    while widget:
        parts.append(widget.get_role_name() + " " + (widget.get_name() or "-"))
        widget = widget.get_parent()
    return " < ".join(parts)

def is_nameless(widget):
    name = widget.get_name()
    return widget.get_role_name().endswith(CONTROLS) and (not name or name.startswith("Gtk"))

until(lambda a: a.get_name() == "Connect to server" and a.get_role_name() in ("frame", "window", "dialog"))
desktop = Atspi.get_desktop(0)
programs = [desktop.get_child_at_index(i) for i in range(desktop.get_child_count())]
windows = [p.get_child_at_index(i) for p in programs for i in range(p.get_child_count())]
print("windows", len(windows))
print("controls", sum(a.get_role_name().endswith(CONTROLS) for w in windows for a in walk(w)) > 100)
for widget in (a for w in windows for a in walk(w) if is_nameless(a)):
    if not any(name in path(widget) for name in TOOLKITS):
        print("nameless", path(widget))
P
printf 'action %s\n' find note drawer\ waits open run measure settings shortcuts about help save connect >script
timeout 100 dbus-run-session -- bash -c 'export GTK_A11Y=atspi
    $launcher --launch-immediately &
    until dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.a11y.Bus.GetAddress; do sleep 0.05; done >/dev/null 2>&1
    poet view deadlock.poet --script script & viewer=$!
    /usr/bin/python3 -uW ignore reader.py; kill $viewer %1' >said 2>log
is "the main window and nine others are open" "$(grep ^windows said)" "windows 10"
is "their controls can be read" "$(grep ^controls said)" "controls True"
is "none of them is without a name" "$(grep ^nameless said)" ""
done_testing
