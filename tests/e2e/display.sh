# A display of the test's own, for tests that need one: Xvfb, drawing in software.
if ! command -v Xvfb >/dev/null || [ ! -x "$B/libexec/poet/poet-view" ]; then
    skip "there is no Xvfb or no viewer"
    done_testing
    exit
fi
for n in $(seq 121 150); do
    [ -e "/tmp/.X11-unix/X$n" ] && continue
    Xvfb ":$n" -screen 0 1300x800x24 >/dev/null 2>&1 &
    pids="$pids $!"
    export DISPLAY=":$n" GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none
    until_true test -e "/tmp/.X11-unix/X$n" && break
done
window() { xdotool search --onlyvisible --name "$1" 2>/dev/null | tail -n 1; }
shown() { [ -n "$(window "$1")" ]; }
