#!/bin/bash
# Random pictures of random runs show what the events of the run say (tests/e2e/pictures.py): as web page, SVG, PDF and text,
# in a browser, and in the viewer.  `make pictures-soak` does the same with many seeds.
. "$(dirname "$0")/lib.sh"
pictures() { python3 "$root/tests/e2e/pictures.py" "$@"; }
# right NAME COMMAND...: it says nothing, and succeeds
right() {
    name=$1
    shift
    if said=$("$@" 2>&1) && [ -z "$said" ]; then ok "$name"; else not_ok "$name" "$said"; fi
}
start_server -q
for seed in 9 2; do
    python3 "$root/tests/e2e/pictured.py" "run$seed" $seed 150
    run=$(ls "$XDG_STATE_HOME/poet/run$seed"-*.poet)
    until_true finished "$run"
    cp "$run" "run$seed.poet"
done
stop_server
like "one run has lost and doubtful events" "$(figure run9.poet lost) $(figure run9.poet uncertain)" '^[1-9][0-9]* [1-9]'
for seed in 9 2; do
    right "files, run $seed" pictures files "run$seed.poet" $seed 9
done
if command -v chromium >/dev/null; then
    right "answers of the web page" pictures answers run9.poet "$root/tests/e2e/browser.py"
else
    skip "no browser to open a page with (chromium)"
fi

. "$root/tests/e2e/display.sh"
pictures script run2.poet 2 15 >script
check "the viewer is led about" timeout 100 poet view run2.poet --script script
right "windows of the viewer, and each again after a step back and on" pictures scenes run2.poet 15
pictures script run9.poet 9 15 timed >script
rm -f scene* again*
check "the viewer is led about by time" timeout 100 poet view run9.poet --script script
right "windows by time, and each again after a step back and on" pictures scenes run9.poet 15
done_testing
