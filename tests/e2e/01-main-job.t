#!/bin/bash
# The four commands of the README's quick start work, in order and with the second and third swapped.
. "$(dirname "$0")/lib.sh"
cp "$root/examples/prodcons.c" .

display() { # a private X server, if the machine has one
    command -v Xvfb >/dev/null && [ -x "$B/libexec/poet/poet-view" ] || return 1
    Xvfb -noreset -displayfd 3 -screen 0 1200x800x24 3>display-number >/dev/null 2>&1 &
    xvfb=$!
    pids="$pids $xvfb"
    trap 'kill $xvfb 2>/dev/null; wait $xvfb 2>/dev/null; finish' EXIT # Xvfb removes its socket itself
    until_true test -s display-number || return 1
    export DISPLAY=":$(cat display-number)" GDK_BACKEND=x11 GSK_RENDERER=cairo
}
shown() { [ -n "$(xdotool search --name "$1" 2>/dev/null)" ]; }

if display; then
    check "step 1: poetcc -trace prodcons.c -o prodcons" poetcc -trace prodcons.c -o prodcons
    poet view >view.log 2>&1 &
    viewer=$!
    pids="$pids $viewer"
    check "poet view opens a window and starts a server on the default endpoint" until_true poet runs
    is "./prodcons prints its result while the viewer runs" "$(./prodcons)" "sum of 10 items: 45"
    check "the viewer shows the run" until_true shown prodcons
    until_true finished latest
    check "step 4: poet export -o order.pdf" poet export -o order.pdf
    like "poet export writes a PDF with the names of the threads" "$(pdftotext order.pdf - 2>&1)" "producer"
    kill "$viewer"
    wait "$viewer" 2>/dev/null
    gone() { [ ! -e "$XDG_RUNTIME_DIR/poet.sock" ]; }
    check "the viewer's server exits after the viewer" until_true gone
    rm -f order.pdf

    is "without a server ./prodcons prints its result" "$(./prodcons 2>note)" "sum of 10 items: 45"
    like "without a server one notice names the trace file" "$(cat note)" "^poet: no server running; recording to prodcons\.[0-9]+\.poet"
    is "without a server the notice is one line" "$(wc -l <note)" 1
    until_true finished "$(trace_of prodcons)"
    poet view >view.log 2>&1 &
    viewer=$!
    pids="$pids $viewer"
    check "poet view starts after the program has run" until_true poet runs
    check "poet export after the run: poet export -o order.pdf" poet export -o order.pdf
    like "the exported diagram is that of the latest run" "$(pdftotext order.pdf - 2>&1)" "consumer"
    kill "$viewer"
else
    skip "Xvfb or the viewer is not available"
fi
done_testing
