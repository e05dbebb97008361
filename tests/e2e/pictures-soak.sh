#!/bin/bash
# Pictures of many random runs, against graphs of their order: pictures-soak.sh RUNS FIRST-SEED.  Says which seed drew what
# is wrong, and fails if anything is.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
runs=${1:-100} first=${2:-1} bad=0
pictures() { python3 "$root/tests/e2e/pictures.py" "$@"; }
display() { command -v Xvfb >/dev/null && [ -x "$B/libexec/poet/poet-view" ]; }
if display; then
    . "$root/tests/e2e/display.sh"
else
    echo "without the viewer: there is no Xvfb, or it is not built"
fi
start_server -q
for ((seed = first; seed < first + runs; seed++)); do
    python3 "$root/tests/e2e/pictured.py" "run$seed" $seed $((60 + seed % 7 * 40)) || exit 1
    run=$(ls "$XDG_STATE_HOME/poet/run$seed"-*.poet)
    until_true finished "$run" || exit 1
    mv "$run" run.poet
    said=$(pictures files run.poet $seed 25 2>&1
        if display; then
            for timed in "" timed; do
                rm -f scene* again*
                pictures script run.poet $seed 40 $timed >script
                timeout 300 poet view run.poet --script script
                pictures scenes run.poet 40
            done
        fi
        if command -v chromium >/dev/null; then pictures answers run.poet "$root/tests/e2e/browser.py"; fi)
    [ -z "$said" ] && continue
    bad=$((bad + 1))
    printf 'seed %d:\n%s\n' $seed "$said"
done
echo "$runs runs, $bad with pictures that are wrong"
[ $bad = 0 ]
