#!/bin/bash
# A rule that the program broke, as its run-time system reported it, is a finding: of poet blocked, poet report and the
# formats for other tools, with its reason, object and event; and it comes first in the viewer's key findings.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
texts=$root/tests/e2e/ucpp

poetcc -trace -g -Wall -Wextra -Werror "$texts/send.c" -o send || exit 1
for rule in order stack deleted; do
    POET_OUTPUT=$rule.poet ./send <"$texts/ownership-$rule.sent" || not_ok "$rule: is sent"
    until_true finished $rule.poet
done
sed '/^text /d; s/ violation / note /' "$texts/ownership-stack.sent" | POET_OUTPUT=none.poet ./send
until_true finished none.poet

# ---- commands ----
rule="it ends another task's main"
like "poet blocked" "$(poet blocked stack.poet)" \
    "^RULE VIOLATION: T:runner: $rule \\(by T:runner(#2)?\\)" "^    (at .*, )?event [0-9]+:[0-9]+"
poet blocked --json stack.poet | json '.[].violations[0] | "\(.rule) \(.count)"' >found
is "its JSON" "$(cat found)" "$rule 1"
is "each rule that is broken" "$(poet blocked deleted.poet | grep -c '^RULE VIOLATION: ')" 2
like "the page of poet report has it in the diagnosis" "$(poet report stack.poet)" "^  RULE VIOLATION: T:runner: it ends"
like "its table" "$(poet report --all stack.poet)" "Rules violated"
like "a format for editors" "$(poet blocked --format gcc stack.poet)" \
    "error: T:runner(#2)?: $rule .*\\[rule-violation [0-9a-f]{16}\\]"
poet blocked --fail-on rule-violation stack.poet >out 2>&1
is "--fail-on" $? 1
poet report --fail-on rule-violation none.poet >out 2>&1
is "a program that breaks none" $? 0
is "has no such row" "$(poet blocked none.poet | grep -c 'RULE VIOLATION')" 0
is "of a range without it neither" "$(poet report --all --to 1ns stack.poet | grep -c 'Rules violated')" 0

# ---- viewer ----
printf '%s\n' 'action show-event' 'state panel first' quit >script
poet view --script script stack.poet >said 2>&1
like "the first of the viewer's key findings" "$(tr -s ' \n' ' ' <first)" \
    "Key findings.*Rule violation $rule T:runner(#2)?, T:runner(#2)?"
done_testing
