#!/bin/bash
# The viewer's search accepts a pattern of events: its hits are the events of the matches that poet find lists, next and
# previous step through them, and other texts are searched for as before.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
export POET_QUIET=1
cat >two.c <<'C'
#include <pthread.h>
static pthread_mutex_t ma = PTHREAD_MUTEX_INITIALIZER, mb = PTHREAD_MUTEX_INITIALIZER;
static void *alpha(void *p)
{
    pthread_mutex_lock(&ma);
    pthread_mutex_unlock(&ma);
    return p;
}
static void *beta(void *p)
{
    pthread_mutex_lock(&mb);
    pthread_mutex_unlock(&mb);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, alpha, 0);
    pthread_create(&b, 0, beta, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
C
poetcc -trace -g two.c -o two
POET_OUTPUT=two.poet ./two
check "the trace is finished" order_ends two.poet
# (A script separates commands by "; ".)
cat >script <<'S'
action time 0
action end
action find a: acquire(object=M:ma);b: acquire(object=M:mb);a || b
state selection found
action find-next
state selection found
action find-next
state selection found
action find-previous
state selection found
action find c: create;j: joined;c -> j;c.line = j.object
state selection found
action find j: joined;c: create;j -> c
state selection found
action find T:main
state selection found
action find acquire(object=M:nosuch)
state selection found
quit
S
# In a view of its own, in which nothing was searched for: both events are visible.
cat >similar <<'S'
action time 0
action go 2:3
state selection chosen
action select 2:3
action select 3:3 second
state selection chosen
action find-similar
state selection chosen
quit
S
check "the script runs" timeout 60 poet view two.poet --script script
check "the second script runs" timeout 60 poet view two.poet --script similar
hits() { sed -n "$1p" found | sed 's/.*hits \([0-9]*\) .*/\1/'; }
selected() { sed -n "$1p" found | sed 's/.*selected \([0-9:]*\) .*/\1/'; }
poet find two.poet 'a: acquire; b: acquire; a || b; a.object = M:ma' --csv --columns event | tail -n +2 | tr -d '\r' | sort >wanted
is "hits: the events of the match" "$(hits 1)" 2
is "next selects both events" "$({ selected 2; selected 3; } | sort | paste -sd' ')" "$(paste -sd' ' wanted)"
is "previous goes back" "$(selected 4)" "$(selected 2)"
is "hits: each event once" "$(hits 5)" 4
is "no match: no hit" "$(hits 6)" 0
is "a label is searched for as a text" "$(hits 7)" "$(poet dump two.poet --json | grep -c '"event":"1:')"
is "a line that does not exist: no hit" "$(hits 8)" 0
is "events like two selected ones: both ways" "$(sed -n '$s/.*hits \([0-9]*\) .*/\1/p' chosen)" 2
done_testing
