#!/bin/bash
# µC++: objects that are deleted while tasks wait for them: where they are deleted, that the trace is accepted, and what the
# diagnosis says of those that waited; a task that is deleted while it waits itself has ended.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
texts=$root/tests/e2e/ucpp

# diagnosed NAME FILE REPORT: what is said of a task that was deleted while it waited, and of its caller
diagnosed() {
    check "$1: poet check accepts the trace" poet check "$2"
    is "$1: blocked is the caller alone, of what is deleted" \
        "$(poet blocked --json "$2" | jq -r '.blocked[] | [.thread.label, .waits_for.label, .held_by[].how, .outcome] | join(" ")' | sed 's/ ([^)]*)//g')" \
        "T:caller T:server deleted may_resume"
    like "$1: so says the text" "$(poet blocked "$2")" "^    deleted by T:main, at .*event 2:11"
    is "$1: so says the report" "$(poet report "$2" | sed -n 's/^  .*\(1 thread .*\)/\1/p; s/^    \(T:caller waits for .*,\) at .*/\1/p')" "$3"
    is "$1: the last state of the deleted task is its wait, which ends at its deletion" \
        "$(poet states --list --json --columns thread,state,unattributed --threads T:server "$2" | jq -r '.row // empty | [.state, .unattributed] | join(" ")' | tail -n 1)" \
        "blocked deleted"
}

poetcc -trace -g -Wall -Wextra -Werror "$texts/send.c" -o send || exit 1
POET_OUTPUT=itself.poet ./send <"$texts/deleted-itself.sent" || not_ok "deleted-itself: is sent"
until_true finished itself.poet
diagnosed "as it was sent" itself.poet "1 thread still waited when the program exited by itself"

if ! command -v u++ >/dev/null; then
    skip "u++ (µC++ 7) is not installed"
    done_testing
    exit
fi
place() { awk -v what="$1" -F: 'index($0, what) { print FNR }' "$texts/deleted.cc"; }
for kernel in "-nomulti -debug" "-multi -nodebug -O2"; do
    # shellcheck disable=SC2086
    CXX=u++ poetcc++ -trace -quiet $kernel "$texts/deleted.cc" -o deleted 2>err || cat err
    for what in monitor task; do
        rm -f run.poet
        POET_OUTPUT=run.poet timeout 60 ./deleted $what >out 2>&1
        is "$kernel, $what: the waiting tasks fail, and the program ends" $? 0
        until_true finished run.poet
        check "$kernel, $what: poet check accepts the trace" poet check run.poet
        line=$(place "// of the $what")
        is "$kernel, $what: the object is deleted, and exceptions are raised at those who wait, where the program deletes it" \
            "$(poet dump run.poet | awk '/ raise | delete +[MT]:(box|server) / { print $3, $NF }' | xargs)" \
            "delete deleted.cc:$line raise deleted.cc:$line raise deleted.cc:$line"
        is "$kernel, $what: no task is blocked" "$(poet blocked run.poet)" "no thread is blocked"
        is "$kernel, $what: tasks of a template are deleted where their block ends" \
            "$(poet dump run.poet | awk '/ delete +T:caller / { print $NF }' | sort -u)" \
            "deleted.cc:$(awk -v from="$line" 'FNR > from && /^}/ { print FNR; exit }' "$texts/deleted.cc")"
        [ "$kernel" != "-nomulti -debug" ] || [ -z "${POET_TEST_KEEP-}" ] ||
            poet dump --json run.poet | python3 "$texts/sent.py" >"$POET_TEST_KEEP/deleted-$what.sent"
    done
    rm -f run.poet
    (POET_OUTPUT=run.poet timeout 60 ./deleted itself >out 2>&1; true) 2>/dev/null
    until_true finished run.poet
    diagnosed "$kernel" run.poet "1 thread blocked at the end of the trace may resume:
T:caller waits for T:server, which was deleted,"
    like "$kernel: it is deleted there" "$(poet blocked run.poet)" "deleted by T:main, at deleted.cc:$(place "// while it waits") "
    [ "$kernel" != "-nomulti -debug" ] || [ -z "${POET_TEST_KEEP-}" ] ||
        poet dump --json run.poet | python3 "$texts/sent.py" >"$POET_TEST_KEEP/deleted-itself.sent"
done
done_testing
