#!/bin/bash
# Clocks that contradict the order: a web page by time draws causes left of their effects all the same.
. "$(dirname "$0")/lib.sh"
start_server
python3 "$root/tests/e2e/skewed.py" skewed 1 300
run=$(ls "$XDG_STATE_HOME"/poet/skewed-*.poet)
until_true finished "$run"
stop_server
poet export "$run" -o skewed.html
like "the page says which times are repaired" "$(grep '^"moved":' skewed.html)" '^"moved":\{"[0-9]+":[0-9]+,'

in_a_browser() {
# Of all pairs: those that are ordered and do not stand so, and those of one point that stand apart.
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
is "by order" "$(sed -n 1p said)" "$events events, 0 wrong "
is "by time" "$(sed -n 2p said)" true
is "what comes before stands to the left, a point in one place" "$(sed -n 3p said)" "$events events, 0 wrong "
}
if command -v chromium >/dev/null; then in_a_browser; else skip "no browser to open a page with (chromium)"; fi
done_testing
