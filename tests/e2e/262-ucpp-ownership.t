#!/bin/bash
# Programs of µC++ that break a rule which its kernels without -debug do not check: the trace says what they do, names the
# violation, and is accepted; without that event it is not.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
texts=$root/tests/e2e/ucpp
violations() { poet dump --json "$1" | json '.[] | select(.type? == "violation") | .annotations[]' | sort | paste -sd' '; }
declare -A expected=(
    [order]="this is not the mutex object that the task entered last"
    [stack]="it ends another task's main"
    [deleted]="it is deleted before its main has ended this is not the mutex object that the task entered last"
)

# ---- as such programs sent it ----
poetcc -trace -g -Wall -Wextra -Werror "$texts/send.c" -o send || exit 1
for rule in order stack deleted; do
    sed '/ violation /{N;d}' "$texts/ownership-$rule.sent" | POET_OUTPUT=silent.poet ./send || not_ok "$rule: is sent"
    until_true finished silent.poet
    [ $rule = order ] || like "$rule: poet check does not accept the trace without the violation" \
        "$(poet check silent.poet 2>&1)" "(end|delete) must not follow"
    rm -f silent.poet
done

# ---- real programs ----
if command -v u++ >/dev/null; then
    for kernel in -nomulti -multi; do
        CXX=u++ poetcc++ -trace -quiet -nodebug $kernel "$texts/ownership.cc" -o ownership 2>err || cat err
        for rule in order stack deleted; do
            # (a program on several kernel threads does not notice its deadlock)
            [ $rule$kernel != order-multi ] || continue
            rm -f run.poet
            (POET_OUTPUT=run.poet timeout 60 ./ownership $rule >out 2>&1; true) 2>/dev/null
            until_true finished run.poet
            check "$kernel, $rule: poet check accepts the trace" poet check run.poet
            is "$kernel, $rule: the violation is named" "$(violations run.poet)" "${expected[$rule]}"
            is "$kernel, $rule: processors are not taken for threads that libraries create" \
                "$(poet report run.poet | grep -c -- --libraries)" 0
            [ $kernel = -multi ] || [ -z "${POET_TEST_KEEP-}" ] ||
                poet dump --json run.poet | python3 "$texts/sent.py" >"$POET_TEST_KEEP/ownership-$rule.sent"
        done
    done
else
    skip "u++ (µC++ 7) is not installed"
fi
done_testing
