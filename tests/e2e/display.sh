# A display of the test's own, for tests that need one: Xvfb, drawing in software.
if ! command -v Xvfb >/dev/null || ! command -v xwd >/dev/null || [ ! -x "$B/libexec/poet/poet-view" ]; then
    skip "there is no Xvfb, no xwd or no viewer"
    done_testing
    exit
fi
# It resets itself when its last client goes: a client that connects at that moment is refused.
Xvfb -noreset -displayfd 3 -screen 0 1300x800x24 3>display-number >/dev/null 2>&1 &
xvfb=$!
pids="$pids $xvfb"
trap 'kill $xvfb 2>/dev/null; wait $xvfb 2>/dev/null; finish' EXIT # it takes its socket away itself
until_true test -s display-number
export DISPLAY=":$(cat display-number)" GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none
managed= # the window manager, if there is one
manages() { xdotool get_desktop; }
manager() { # starts one
    managed=$(command -v openbox) || return
    openbox >/dev/null 2>&1 &
    pids="$pids $!"
    until_true manages
}

window() { xdotool search --onlyvisible --name "$1" 2>/dev/null | tail -n 1; }
shown() { [ -n "$(window "$1")" ]; }
not_shown() { ! shown "$1"; }

# pixels bytes|colors NAME [WIDTHxHEIGHT+X+Y]: the pixels of a window, or of a part of it; the number of their colors
pixels() {
    xwd -silent -id "$(window "$2")" 2>/dev/null | python3 -IS "$root/tests/e2e/pixels.py" "$1" ${3:+"$3"} 2>/dev/null
}
picture() { pixels bytes "$@" | cksum; }
# Is there something to be seen?  A window that is not drawn yet has few colours.
colourful() { [ "$(pixels colors "$@")" -gt 20 ]; }
# Is it drawn, and at rest?
still() {
    seen=$(picture "$@")
    colourful "$@" || return
    for _ in 1 2 3; do
        sleep 0.15
        [ "$seen" = "$(picture "$@")" ] || return
    done
}

# focus NAME: waits until the window of that name is there, has the focus and is drawn.
focus() {
    until_true shown "$1"
    until_true focused "$1"
    until_true still "$1"
}
focused() {
    [ "$(xdotool getwindowfocus 2>/dev/null)" = "$(window "$1")" ] && return
    xdotool windowfocus "$(window "$1")" 2>/dev/null
    false
}
# again COMMAND... -- CONDITION...: does it, and does it again where the condition has not come some seconds later: a
# key that is sent before a client listens is lost.  Only for what may be done twice.
again() {
    doing=()
    while [ "$1" != -- ]; do
        doing+=("$1")
        shift
    done
    shift
    for _ in $(seq 15); do
        "${doing[@]}"
        for _ in $(seq 20); do
            "$@" >/dev/null 2>&1 && return 0
            sleep 0.15
        done
    done
    echo "# never came true: $*, by ${doing[*]}"
    return 1
}
# Into the dialog "Save as": a path, and Return, until the file is there.
write_path() {
    shown "^Save as$" || return
    focused "^Save as$" || return
    xdotool key ctrl+a
    xdotool type "$1"
    xdotool key Return
}
save_path() { # PATH [ENDING THAT IT IS GIVEN]
    focus "^Save as$"
    again write_path "$1" -- test -s "$1$2"
}
# The viewers of this test, and no others that may run beside it.
end_viewers() {
    for pid in $(own_processes poet-view); do kill "$pid"; done
}
