#!/bin/bash
# The viewer's tab of locks equals poet locks; a lock has its holders and waiters along time beside it; the details of a
# line are a key, a row's menu and a link away.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
. "$root/tests/e2e/display.sh"

{ echo '#define _GNU_SOURCE'; cat "$root/tests/e2e/slow.h" "$root/tests/e2e/asleep.h" - <<'C'; } >queue.c
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, spare = PTHREAD_MUTEX_INITIALIZER;
static struct sleeper sleepers[3];
static void *worker(void *a)
{
    about_to_wait(a);
    pthread_mutex_lock(&table);
    nap(2);
    pthread_mutex_unlock(&table);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    pthread_mutex_lock(&table);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, &sleepers[i]);
    for (int i = 0; i < 3; i++) until_asleep(&sleepers[i], 1);
    pthread_mutex_unlock(&table);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&spare);
        pthread_mutex_unlock(&spare);
    }
}
C
poetcc -trace -g queue.c -o queue
POET_OUTPUT=queue.poet ./queue
until_true finished queue.poet
event=$(poet locks queue.poet --object M:spare --by hold --json | sed -n 's/.*"event":"\([0-9:]*\)".*/\1/p' | head -n 1)
thread=$(poet states queue.poet --json | sed -n 's/.*"thread":"T:main".*"lines":\[\([0-9]*\).*/\1/p')

cat >script <<E
action start
action show-locks
state table table
action select-row 0
state aside details
action select $event
action line-details 0
state aside selected
action line-details $thread
state aside thread
action show-locks
state table again
quit
E
timeout 100 poet view queue.poet --script script >log 2>&1
got() { tail -n +2 "$1" | sed 's/^\*//'; }
columns='object|thread,acquisitions,held_ns,longest_hold_ns,waits,waited_ns,longest_wait_ns,location'
is "the tab of locks equals poet locks" "$(got table)" \
    "$(poet locks queue.poet --csv | python3 "$root/tests/e2e/pane-table.py" "$columns")"
is "a row leads to the lock's details" "$(head -n 1 details)" "M:table: held 4 times by 4 threads"
sums() { # what each thread's row of the chart adds up to
    poet locks queue.poet --object M:table --json |
        json '.[] | select(.depth == 1) | .row | "row \(.thread) holds \(.held_ns) waits \(.waited_ns)"' | sort
}
is "its chart has the times for which each thread held it and waited for it" "$(grep '^row ' details | sort)" "$(sums)"
is "its list is that of poet locks --by hold" "$(grep -v '^row ' details | tail -n +3)" \
    "$(poet locks queue.poet --object M:table --by hold --csv |
        python3 "$root/tests/e2e/pane-table.py" from_ns,thread,held_ns,waiters,location)"
is "the details of the selected event's line" "$(head -n 1 selected)" "M:spare: held 3 times by 1 thread"
like "the details of a thread are its states" "$(head -n 1 thread)" '^T:main: [0-9]+ state intervals$'
is "an action leads back to the tab" "$(got again)" "$(got table)"
check "the viewer logs no message" sh -c '! grep -q "CRITICAL\|WARNING" log'
done_testing
