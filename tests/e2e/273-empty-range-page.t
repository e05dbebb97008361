#!/bin/bash
# poet report -o PAGE.html of a range without events is a page that says so; a script of the viewer reports an action that
# is not possible.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

cat >pair.c <<'C'
#include <pthread.h>
static void *work(void *p) { return p; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
}
C
poetcc -trace -g pair.c -o pair
POET_OUTPUT=pair.poet ./pair
until_true finished pair.poet

says='No event is in the range: the diagram is empty'
for range in "--from 9000s --to 9001s" "--from 9000s" "--from 0ns --to 1ns"; do
    rm -f page.html
    poet report pair.poet $range -o page.html 2>errors
    is "$range: the page is written" "$?$(cat errors)" 0
    is "$range: it says that the range has no event" "$(grep -c "$says" page.html)" 1
    is "$range: it has no finding of other times" "$(grep -c 'critical path:' page.html)" 0
done
check "a browser shows it without an error" timeout 300 python3 "$root/tests/e2e/browser.py" "file://$work/page.html" </dev/null
poet report pair.poet --to 9000s -o page.html
is "a range with events does not say so" "$(grep -c "$says" page.html)" 0
is "poet export of such a range fails" "$(poet export pair.poet --from 9000s --to 9001s -o page.html 2>&1; echo $?)" \
    "poet export: no event between 9000 s and 9001 s
1"

printf '%s\n' 'action follow' 'action nothing' 'state selection selection' quit >script
timeout 100 poet view pair.poet --script script >said 2>&1
is "following a run that has ended is not possible, and the script says so" "$(cat said)" \
    "poet view: --script: action follow: not available now
poet view: --script: action nothing: unknown command"
check "the script continues" test -s selection
done_testing
