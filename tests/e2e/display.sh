# A display of the test's own, for tests that need one: Xvfb, drawing in software.
if ! command -v Xvfb >/dev/null || [ ! -x "$B/libexec/poet/poet-view" ]; then
    skip "there is no Xvfb or no viewer"
    done_testing
    exit
fi
# It resets itself when its last client goes: whoever comes at that moment is turned away.
Xvfb -noreset -displayfd 3 -screen 0 1300x800x24 3>display-number >/dev/null 2>&1 &
xvfb=$!
pids="$pids $xvfb"
trap 'kill $xvfb 2>/dev/null; wait $xvfb 2>/dev/null; finish' EXIT # it takes its socket away itself
until_true test -s display-number
export DISPLAY=":$(cat display-number)" GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none
window() { xdotool search --onlyvisible --name "$1" 2>/dev/null | tail -n 1; }
shown() { [ -n "$(window "$1")" ]; }
