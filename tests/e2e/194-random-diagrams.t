#!/bin/bash
# Random diagrams of random runs agree with the events of the run (tests/e2e/pictures.py): as web page, SVG, PDF
# and text, in a browser, and in the viewer. `make pictures-soak` does the same with many seeds.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
pictures() { python3 "$root/tests/e2e/pictures.py" "$@"; }
# right NAME COMMAND...: the command prints nothing and succeeds
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
like "run 9 has lost and uncertain events" "$(figure run9.poet lost) $(figure run9.poet uncertain)" '^[1-9][0-9]* [1-9]'
for seed in 9 2; do
    right "run $seed: exported files agree with the events" pictures files "run$seed.poet" $seed 9
done
if command -v chromium >/dev/null; then
    right "run 9: the web page agrees with the events" pictures answers run9.poet "$root/tests/e2e/browser.py"
else
    skip "chromium is not installed"
fi

. "$root/tests/e2e/display.sh"
pictures script run2.poet 2 15 >script
check "run 2: the viewer runs the script" timeout 100 poet view run2.poet --script script
right "run 2: scenes of the viewer agree with the events, also after a step back and forward" pictures scenes run2.poet 15
pictures script run9.poet 9 15 timed >script
rm -f scene* again*
check "run 9: the viewer runs the script by time" timeout 100 poet view run9.poet --script script
right "run 9: scenes by time agree with the events, also after a step back and forward" pictures scenes run9.poet 15
done_testing
