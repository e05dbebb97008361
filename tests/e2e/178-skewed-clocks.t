#!/bin/bash
# Clock times that contradict the partial order: the web page by time still draws causes to the left of their
# effects.
. "$(dirname "$0")/lib.sh"
start_server
python3 "$root/tests/e2e/skewed.py" skewed 1 300
run=$(ls "$XDG_STATE_HOME"/poet/skewed-*.poet)
until_true finished "$run"
stop_server
poet export "$run" -o skewed.html
like "the page lists the adjusted times" "$(grep '^"moved":' skewed.html)" '^"moved":\{"[0-9]+":[0-9]+,'

in_a_browser() {
# Checks all pairs: ordered events must be drawn from left to right, and events of one point at one position.
wrong='(() => {
    const ids = poet.ids(), wrong = [];
    for (const a of ids) for (const b of ids) {
        const r = poet.relation(a, b);
        if (r === "before" && !(poet.x(a) < poet.x(b))) wrong.push(a + " " + b);
        if (r === "same" && poet.x(a) !== poet.x(b)) wrong.push(a + " is not at " + b);
    }
    return ids.length + " events, " + wrong.length + " wrong " + wrong.slice(0, 5);
})()'
flat=$(printf '%s' "$wrong" | tr '\n' ' ')
printf '%s\n' "eval $flat" "key t" "eval poet.see.byTime" "eval $flat" |
    timeout 120 python3 "$root/tests/e2e/browser.py" "file://$work/skewed.html" >said
events=$(figure "$run" events)
is "view by order: each pair of events is drawn consistently" "$(sed -n 1p said)" "$events events, 0 wrong "
is "key t switches to the view by time" "$(sed -n 2p said)" true
is "view by time: each pair of events is drawn consistently" "$(sed -n 3p said)" "$events events, 0 wrong "
}
if command -v chromium >/dev/null; then in_a_browser; else skip "chromium is not installed"; fi
done_testing
