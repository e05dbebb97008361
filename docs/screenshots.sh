#!/bin/bash
# The first view of the viewer on each trace, at four sizes, light and dark, as PNG: screenshots.sh DIRECTORY TRACE...
# It wants Xvfb, xdotool, openbox, xwd and gm (GraphicsMagick). SIZES and THEMES limit it: SIZES=1024x600 THEMES=light.
set -eu
B=${B:-build}
PATH=$(cd "$B" && pwd)/bin:$PATH
mkdir -p "$1"
out=$(realpath "$1")
shift
traces=()
for trace; do traces+=("$(realpath "$trace")"); done
work=$(mktemp -d)
pids=
trap 'for pid in $pids; do kill $pid 2>/dev/null; done; rm -rf "$work"' EXIT
cd "$work"
export POET_QUIET=1 XDG_RUNTIME_DIR=$work XDG_STATE_HOME=$work XDG_CONFIG_HOME=$work/config GDK_BACKEND=x11 \
    GSK_RENDERER=cairo GTK_A11Y=none POET_SERVER=
chmod 700 "$work"
mkdir -p config/poet

display() { # SIZE
    rm -f display
    Xvfb -noreset -displayfd 3 -screen 0 "$1x24" 3>display >/dev/null 2>&1 &
    pids="$pids $!"
    until [ -s display ]; do sleep 0.05; done
    DISPLAY=:$(cat display)
    export DISPLAY
    xdotool mousemove $((${1%x*} - 1)) $((${1#*x} - 1)) # nothing is said of what is under it
    openbox >/dev/null 2>&1 &
    pids="$pids $!"
}
settle() { # until two pictures of the screen are the same
    local before= now=
    until now=$(xwd -silent -root | md5sum) && [ "$now" = "$before" ]; do
        before=$now
        sleep 0.5
    done
}
shot() { # TRACE SIZE THEME
    local dark=false
    [ "$3" = dark ] && dark=true
    printf '[view]\nwidth=%s\nheight=%s\nmaximized=true\ndark=%s\n' ${2/x/ } $dark >config/poet/view.conf
    rm -f drawn seen
    printf '%s\n' 'state selection drawn' 'await seen' quit >script
    poet view "$1" --script script >log 2>&1 &
    until [ -s drawn ]; do sleep 0.1; done
    settle
    xwd -silent -root | gm convert xwd:- "$out/$(basename "$1" .poet)-$2-$3.png"
    touch seen
    wait $!
}
for size in ${SIZES:-1920x1080 1366x768 1280x800 1024x600}; do
    display "$size"
    for trace in "${traces[@]}"; do
        for theme in ${THEMES:-light dark}; do shot "$trace" "$size" "$theme"; done
    done
done
echo "$out"
