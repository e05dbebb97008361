#!/bin/bash
# The viewer's tab of the state at the selected event equals poet state --at; without a selection it is that at the end. A
# cut opens in the viewer, which says what it is.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"
cat >pair.c <<'C'
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&outer);
        pthread_mutex_lock(&inner);
        pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&outer);
    }
    return p;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -g pair.c -o pair || exit 1
POET_OUTPUT=pair.poet ./pair
until_true finished pair.poet
event=$(poet dump pair.poet | sed -n 's/^\([0-9:]*\) .* acquired *M:inner .*/\1/p' | sed -n 2p)
poet cut pair.poet --past-of "$event" -o past.poet >/dev/null || exit 1
cat >script <<E
action start
action select $event
action show-state
state table at
action select none
quit
E
timeout 100 poet view pair.poet --script script >log 2>&1
got() { tail -n +2 "$1" | sed 's/^\*//'; }
columns() { # the rows of threads
    sed '/^object,/,$d' | python3 "$root/tests/e2e/pane-table.py" 'thread,state,class,object,location'
}
is "the tab equals poet state" "$(got at)" "$(poet state pair.poet --at "$event" --csv | columns)"
cat >script <<E
action end
action show-state
state table end
quit
E
timeout 100 poet view past.poet --script script >log 2>&1
is "of a cut, at its end, that at its event" "$(got end)" "$(poet state pair.poet --at "$event" --csv | columns)"
check "the viewer logs no message" sh -c '! grep -q "CRITICAL\|WARNING" log'
done_testing
