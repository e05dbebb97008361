#!/bin/bash
# µC++: what the diagnosis says of a task that keeps a monitor while it waits in another one that it called from there, of a
# signal that came before the wait, and of a barrier.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
texts=$root/tests/e2e/ucpp

# nested FILE: the waits of the nested monitors
nested() {
    poet blocked --json "$1" |
        jq -r '.blocked[] | [.thread.label, .waits_for.label, .held_by[].label, .held_by[].acquired_event, .outcome] | join(" ")' |
        sed 's/ ([^)]*)//g' | sort
}
nested="T:giver M:outer T:taker 3:2 never
T:main T:giver never
T:taker M:inner never"

poetcc -trace -g -Wall -Wextra -Werror "$texts/send.c" -o send || exit 1
POET_OUTPUT=nested.poet ./send <"$texts/hanging-nested.sent" || not_ok "hanging-nested: is sent"
until_true finished nested.poet
# (its program exits by itself)
is "as it was sent: the task that is elsewhere holds the outer monitor" "$(nested nested.poet | sed -n 's/\(.*3:2\) .*/\1/p')" \
    "T:giver M:outer T:taker 3:2"

if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi
place() { awk -v what="$1" 'index($0, what) { print FNR }' "$texts/hanging.cc"; }
for kernel in -debug "-nodebug -O2"; do
    # shellcheck disable=SC2086
    CXX=u++ poetcc++ -trace -quiet -nomulti $kernel "$texts/hanging.cc" -o hanging 2>err || cat err
    for what in nested lost barrier; do
        (POET_OUTPUT=$what.poet timeout 60 ./hanging $what >out 2>&1; true) 2>/dev/null
        [ ! -e $what.poet ] || until_true finished $what.poet
        check "$kernel, $what: poet check accepts the trace" poet check $what.poet
    done
    is "$kernel: nested monitors: all wait for ever, and for whom" "$(nested nested.poet)" "$nested"
    like "$kernel: the report says so" "$(poet report nested.poet)" "HANG: 3 threads will never resume"
    like "$kernel: a lost signal: what is not recorded is not denied" "$(poet blocked lost.poet)" \
        "M:mail was never signaled while a thread waited; a signal without a waiter is not recorded"
    is "$kernel: a task waits for the others at a barrier where it calls that" \
        "$(poet dump barrier.poet | awk '$3 == "wait" { print $NF }' | sort -u)" "hanging.cc:$(place "// at the barrier")"
    [ "$kernel" != -debug ] || [ -z "${POET_TEST_KEEP-}" ] ||
        poet dump --json nested.poet | python3 "$texts/sent.py" >"$POET_TEST_KEEP/hanging-nested.sent"
    rm -f ./*.poet
done
done_testing
