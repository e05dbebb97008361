#!/bin/bash
# A rule that the program broke is shown in the first view, as a deadlock is: the header says so, and the panel of
# blocked threads opens, with the rule, the object, the thread, the place and the event; poet report begins its diagnosis
# with it. Of a program that breaks none, nothing is shown.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
texts=$root/tests/e2e/ucpp

poetcc -trace -g -Wall -Wextra -Werror "$texts/send.c" -o send || exit 1
for rule in stack deleted; do
    POET_OUTPUT=$rule.poet ./send <"$texts/ownership-$rule.sent" || not_ok "$rule: is sent"
    until_true finished $rule.poet
done
sed '/^text /d; s/ violation / note /' "$texts/ownership-stack.sent" | POET_OUTPUT=none.poet ./send
until_true finished none.poet

# ---- report ----
diagnosis() { poet report "$1" | sed -n '/^Diagnosis/{n;p;}'; }
like "poet report begins its diagnosis with it" "$(diagnosis stack.poet)" \
    "^  RULE VIOLATION: T:runner: it ends another task's main \\(by T:runner(#2)?\\)$"
is "without one, with deadlocks" "$(diagnosis none.poet)" "  no deadlock and no hang was found"

# ---- viewer ----
. "$root/tests/e2e/display.sh"
first_view() { # TRACE: the panel that is shown
    printf '%s\n' 'state selection drawn' 'state panel first' 'state status status' quit >script
    rm -f drawn first status
    timeout 300 poet view --script script "$1.poet" >said 2>&1
    tr -s ' \n' ' ' <first
}
like "the panel that opens" "$(first_view stack)" \
    "^[^:]*RULE VIOLATION: T:runner: it ends another task's main \\(by T:runner(#2)?\\) .*event [0-9]+:[0-9]+"
like "the header's button" "$(cat drawn)" " worst violation "
is "the status line" "$(cat status)" "said: Rule violation detected"
like "each rule that is broken" "$(first_view deleted)" \
    "RULE VIOLATION: M:gate: this is not the mutex object that the task entered last .*RULE VIOLATION: T:main: it is deleted"
like "a program that breaks none opens no panel" "$(first_view none)" "Click an event"
like "its header" "$(cat drawn)" " worst none "
done_testing
