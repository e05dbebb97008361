#!/bin/bash
# The picture of the viewer that README.md shows, drawn again: viewer.sh [OUT.png].  It wants Xvfb, xdotool, xwd and convert (ImageMagick).
set -eu
B=${B:-build}
root=$(cd "$(dirname "$0")/.." && pwd)
PATH=$(cd "$B" && pwd)/bin:$PATH
out=$(realpath -m "${1:-$root/docs/viewer.png}")
work=$(mktemp -d)
trap 'kill $display 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
export POET_QUIET=1 XDG_RUNTIME_DIR=$work XDG_STATE_HOME=$work XDG_CONFIG_HOME=$work/config GDK_BACKEND=x11 \
    GSK_RENDERER=cairo GTK_A11Y=none POET_SERVER=
chmod 700 "$work"
Xvfb -noreset -displayfd 3 -screen 0 1200x560x24 3>display >/dev/null 2>&1 &
display=$!
until [ -s display ]; do sleep 0.05; done
DISPLAY=:$(cat display)
export DISPLAY
xdotool mousemove 1199 559 # nothing is said of what is under it

poetcc -trace -g "$root/examples/prodcons.c" -o prodcons
# Of the two semaphores: the last that was given to the consumer, and what he gave back for it.
last() { grep " $1 .*Sem:$2 " events | tail -n 1; }
number() { last "$1" "$2" | grep -o '[0-9]*:[0-9]*' | head -n 1; }
apart() { # lines of the dump from the one to the other: both are to be in the picture
    echo $(($(grep -nF "$(last acquired empty)" events | cut -d: -f1) - $(grep -nF "$(last sem_post full)" events | cut -d: -f1)))
}
until [ -s events ] && [ "$(apart)" -gt 18 ] && [ "$(apart)" -lt 34 ]; do
    rm -f pc.poet
    POET_OUTPUT=pc.poet ./prodcons >/dev/null
    until poet stat --json pc.poet | grep -q '"finished":true'; do sleep 0.05; done
    poet dump pc.poet >events
done
mkdir -p config/poet
printf '[view]\nwidth=1200\nheight=560\npanel=true\n' >config/poet/view.conf

printf '%s\n' 'action time 0; action end' "action select $(number sem_post full)" "action select $(number acquired empty) second" 'state selection drawn' 'await seen' quit >script
poet view pc.poet --script script &
until [ -s drawn ]; do sleep 0.1; done
sleep 2 # until GTK has faded its buttons in
xwd -silent -root | gm convert xwd:- "$out"
touch seen
wait $!
