#!/bin/bash
# A range of time outside of the viewer: poet show and export draw it with --from and --to, poet view opens it, and the
# viewer copies such commands and saves the range.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

cat >turns.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void nap(int us)
{
    struct timespec t = {0, us * 1000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void *turn(void *a)
{
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&m);
        nap(300);
        pthread_mutex_unlock(&m);
        nap(100);
    }
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, turn, 0);
    pthread_create(&t[1], 0, turn, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
C
poetcc -trace -g turns.c -o turns
POET_OUTPUT=turns.poet ./turns
until_true finished turns.poet

# ---- commands ----
poet dump turns.poet --json | json '.[] | select(.time_ns != null) | "\(.time_ns) \(.event)"' | tr -d '"' | sort -n >events
total=$(wc -l <events)
time_of() { sed -n "$1p" events | cut -d' ' -f1; }
from=$(time_of $((total / 4))) to=$(time_of $((total / 2)))
wanted() { awk -v from=$1 -v to=$2 '$1 >= from && $1 < to { print $2 }' events | sort; }
# Every mark of an SVG has its event in its title: "T:main: create (1:3)".
drawn() { poet export turns.poet --no-fold -o d.svg "$@" && grep '<title>' d.svg | grep -o '([0-9]*:[0-9]*)' | tr -d '()' | sort; }
extra() { comm -13 <(wanted $from $to) <(drawn "$@"); }
missing() { comm -23 <(wanted $from $to) <(drawn "$@"); }
is "by order, every event of the range is drawn" "$(missing --from ${from}ns --to ${to}ns)" ""
check "and not the whole run" test "$(drawn --from ${from}ns --to ${to}ns | wc -l)" -lt $((total * 2 / 3))
is "by time, every event of the range is drawn" "$(missing --from ${from}ns --to ${to}ns --time=1)" ""
is "by time, none of the others, except in the column in which the range begins" \
    "$(for e in $(extra --from ${from}ns --to ${to}ns --time=1); do sed -n "s/ $e\$//p" events; done | awk -v from=$from '$1 < from - 1000 || $1 >= from')" ""
like "the title says which range it is" "$(poet show turns.poet --from ${from}ns --to ${to}ns | head -n 1)" "^turns, [0-9.]+ ms – [0-9.]+ ms"
event=$(sed -n "$((total / 4))p" events | cut -d' ' -f2)
drawn --from "$event" --to ${to}ns >ends
check "an event and a time can be the ends" grep -qx "$event" ends
check "they bound the range" test "$(wc -l <ends)" -lt $((total * 2 / 3))
is "a range without events is an error" "$(poet show turns.poet --from 5s --to 6s 2>&1)" "poet show: no event between 5 s and 6 s"
like "what is neither an event nor a time is an error" "$(poet show turns.poet --from soon 2>&1)" "not an event \(2:17\) or a time"
check "a web page of the range is written" poet export turns.poet --from ${from}ns --to ${to}ns -o range.html

# ---- the viewer ----
cat >script <<'S'
state overview-bands bands
state range opened
action fit
action drag-range 0.05 0.95
state range dragged
action save range.svg range
action save range.pdf range
quit
S
timeout 100 poet view turns.poet --from ${from}ns --to ${to}ns --script script >log 2>&1
like "poet view selects the range" "$(cat opened)" "^range $from $to lines"
is "and shows it" "$(sed -n 's/^strips by time, \([0-9]*\) to \([0-9]*\),.*/\1 \2/p' bands)" "$from $to"
is "the link opens the same range" "$(sed -n 3p opened)" "poet view turns.poet --from ${from}ns --to ${to}ns"
ends=$(sed -n 's/^range \([0-9]*\) \([0-9]*\) .*/--from \1ns --to \2ns/p' dragged)
is "the copied command names the range" "$(sed -n 2p dragged)" "poet show turns.poet $ends --time"
check "the copied command prints it" bash -c "$(sed -n 2p dragged)"
check "the range is saved as PDF" grep -q '^%PDF' range.pdf
like "the saved range has its title" "$(cat range.svg)" "turns, "
check "the viewer logs no message" sh -c '! grep -q "CRITICAL\|WARNING" log'
is "one end alone is a usage error" "$(poet view turns.poet --from 5ms 2>&1)" \
    "poet view: --from and --to: give both, the earlier time first"
end_viewers
done_testing
