#!/bin/sh
# make demo: traces examples/prodcons live; creates prodcons.poet and prodcons.pdf.
set -eu
bin=$PWD/$B/bin
PATH=$bin:$PATH
work=$(mktemp -d)
run=$work/run
mkdir -m 700 "$run"
XDG_RUNTIME_DIR=$run
export XDG_RUNTIME_DIR PATH
server=
viewer=
stop() {
    [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
    [ -n "$viewer" ] || rm -rf "$work"
    return 0
}
trap stop EXIT
echo "compiling examples/prodcons.c with poetcc -trace"
mkdir -p "$B/demo"
poetcc -trace -g examples/prodcons.c -o "$B/demo/prodcons" # kept, for its symbols
poet server --quiet -o prodcons.poet &
server=$!
for _ in $(seq 100); do [ -S "$run/poet.sock" ] && break; sleep 0.05; done
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -x "$B/libexec/poet/poet-view" ]; then
    echo "opening the viewer on the live server"
    poet view "unix:$run/poet.sock" 2>/dev/null &
    viewer=$!
    sleep 1
fi
"$B/demo/prodcons"
poet stat "unix:$run/poet.sock" | head -n 4
poet export "unix:$run/poet.sock" -o prodcons.pdf
if [ -n "$viewer" ]; then
    echo "the viewer is open; close it to continue"
    wait "$viewer" || true
    viewer=
fi
stop
server=
trap - EXIT
cat <<TXT

prodcons.poet holds the trace, prodcons.pdf the diagram.  To do the same by hand:

    export PATH=$bin:\$PATH
    poetcc -trace -g examples/prodcons.c -o prodcons
    poet view &
    ./prodcons
    poet export latest -o order.pdf
    poet show prodcons.poet
TXT
