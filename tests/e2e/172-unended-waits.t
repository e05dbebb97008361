#!/bin/bash
# Waits that have not ended are rows of poet waits and excluded from sums; the viewer says that there are no waits
# only after the answer has arrived.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/display.sh"
export POET_QUIET=1

# Two threads wait for each other's lock forever, and main waits for the first of them.
cat >cycle.c <<'C'
#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *upwards(void *a)
{
    pthread_mutex_lock(&left);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&right);
    return a;
}
static void *downwards(void *a)
{
    pthread_mutex_lock(&right);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&left);
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&t[0], 0, upwards, 0);
    pthread_create(&t[1], 0, downwards, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
}
C
poetcc -trace -g cycle.c -o cycle
start_server -o cycle.poet
./cycle &
program=$!
pids="$pids $program"
endpoint=unix:$XDG_RUNTIME_DIR/poet.sock
hangs() { [ "$(poet waits "$endpoint" --by wait --json 2>/dev/null | grep -c '"not ended"')" = 3 ]; }
check "three threads are blocked" until_true hangs
kill -KILL $program
wait $program 2>/dev/null
until_true finished cycle.poet
stop_server

poet waits cycle.poet --json >place.json
poet waits cycle.poet --by wait --json >wait.json
poet waits cycle.poet --by object --json >object.json
poet waits cycle.poet --by thread --json >thread.json
for by in place wait object thread; do grep '"cause":"not ended"' $by.json >$by.unended; done
is "poet waits: each unended wait is a row" "$(json '[rows | "\(.thread)>\(.object)"] | sort | join(" ")' wait.unended)" \
    "T:downwards>M:left T:main>T:upwards T:upwards>M:right"
expect wait.unended <<'E'
poet waits: unended waits have types | [rows] | sort_by(.thread)[].type => acquire join acquire
E
is "poet waits: unended waits have no share, end event or unblocking time" \
    "$(json '[rows | select(.share != null or .end_event != null or .unblocked_at != null)] | length' wait.unended)" 0
expect wait.unended <<'E'
poet waits: unended waits have waited times | [rows | select(.waited_ns > 0)] | length => 3
E
expect place.unended <<'E'
poet waits --by place: unended waits are grouped | rows.count => 1 1 1
E
expect object.unended <<'E'
poet waits --by object: unended waits are grouped | [rows.object] | sort[] => M:left M:right T:upwards
E
expect thread.unended <<'E'
poet waits --by thread: unended waits are grouped | [rows.thread] | sort[] => T:downwards T:main T:upwards
E
is "poet waits --threads: unended waits of other threads are left out" \
    "$(poet waits cycle.poet --threads "$(json 'first(.[] | select(.row.thread == "T:main")).lines[0]' wait.json)" --json |
        grep -c '"not ended"')" 1
for by in place wait object thread; do
    is "poet waits: unended waits are excluded from the sum, $by" \
        "$(json 'sum(rows | select(.cause != "not ended").waited_ns) - total.waited_ns' $by.json)" 0
done
like "poet waits: a note gives the number of excluded waits" "$(poet waits cycle.poet)" '^note: 3 waits had not ended and are excluded from the sums; '
like "poet waits --why of an unended wait: the message says that it has not ended" \
    "$(poet waits cycle.poet --why "$(json 'first(.[] | select(.row.thread == "T:main")).event' wait.json)")" \
    "this wait has not ended"

# ---- in the viewer ----
printf '%s\n' 'action show-waits; state tab' 'state table waits' 'action select-row 0' 'state highlights marks' 'action show-waits; state tab' 'action drawer' 'action show-path; state tab' quit >script
timeout 100 poet view cycle.poet --script script >log 2>&1
is "viewer: the page shows Computing... before the answer has arrived" "$(grep -m 1 '^waits: ' log)" "waits: Computing..."
is "viewer: the page shows rows" "$(grep '^waits: ' log | tail -n 1)" "waits: rows"
is "viewer: three rows are marked as not ended" "$(grep -c 'not ended' waits)" 3
like "viewer: the events of the unended waits are highlighted" "$(cat marks)" '^events [0-9]+:[0-9]+ '

cat >alone.c <<'C'
#include <poet.h>
int main(void) { poet_text("alone"); }
C
poetcc -trace -g alone.c -o alone
POET_OUTPUT=alone.poet ./alone
until_true finished alone.poet
printf '%s\n' 'action show-waits; state tab' 'state table waits' 'action show-waits; state tab' quit >script
timeout 100 poet view alone.poet --script script >log 2>&1
is "viewer: a trace without waits says so after Computing..." "$(grep '^waits: ' log | tr '\n' ' ')" \
    "waits: Computing... waits: No waits between threads. "
is "viewer: no warnings are printed" "$(grep -Ec 'CRITICAL|WARNING' log)" 0
done_testing
