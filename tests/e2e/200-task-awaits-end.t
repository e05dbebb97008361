#!/bin/bash
# A task that waits for the end of another task without an event of its own: it is shown as blocked until that end.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
ucpp=$root/examples/ucpp

cat >stuck.c <<'C'
#include "ucpp.h"
static struct object left, right, first, second, busy;
static void cross(struct object *one, struct object *other)
{
    struct object *outside = enter(one, 1);
    yield();
    struct object *inside = enter(other, 1);
    leave(other, inside);
    leave(one, outside);
}
static void forward(void *a) { (void)a; cross(&left, &right); }
static void backward(void *a) { (void)a; cross(&right, &left); }
static void turns(void *a) { for (;;) yield(); (void)a; }
void uc_main(void)
{
    monitor_make(&left, "left");
    monitor_make(&right, "right");
    task_make(&first, "first", forward, 0);
    task_make(&second, "second", backward, 0);
    task_make(&busy, "busy", turns, 0);
    object_delete(&first);
}
C
cat >ends.c <<'C'
#include "ucpp.h"
static struct object slow;
static void works(void *a) { (void)a; for (int i = 0; i < 3; i++) yield(); }
void uc_main(void)
{
    task_make(&slow, "slow", works, 0);
    object_delete(&slow);
}
C
poetcc -trace -g -I"$ucpp" -c "$ucpp/ucpp.c" -o ucpp.o || exit 1
for p in stuck ends; do poetcc -trace -g -I"$ucpp" $p.c ucpp.o -o $p || exit 1; done

POET_OUTPUT=stuck.poet ./stuck &
program=$!
pids="$pids $program"
says() { poet blocked stuck.poet 2>/dev/null | grep -q "$1"; }
waits='^T:main waits for the end of T:first at stuck.c:21$'
check "live run: poet blocked shows the task and what it waits for" until_true says "$waits"
check "live run: poet blocked shows that the awaited task is blocked itself" until_true says '^    T:first is itself blocked on M:right and will never'
kill -KILL $program
wait $program 2>/dev/null
check "killed: the trace is finished" until_true finished stuck.poet
said=$(poet blocked stuck.poet)
like "killed: poet blocked shows the task and what it waits for" "$said" "$waits"
like "killed: poet blocked shows that the awaited task will never resume" "$said" '^    T:first is itself blocked on M:right and will never resume'
json() { poet blocked --json stuck.poet | python3 -c "
import json, sys
name = lambda of: of['label'].split()[0]
w = [w for w in json.load(sys.stdin)['blocked'] if name(w['thread']) == 'T:main'][0]
print($1)"; }
is "poet blocked --json: the wait has type awaits end and outcome never" "$(json "w['type'], name(w['waits_for']), w['site'], w['outcome'], w['held_by']")" \
    'awaits end T:first stuck.c:21 never []'
is "the wait is not an event of its line" "$(poet dump stuck.poet | awk '$1 ~ /^1:/ { print $3 }' | xargs)" 'create start'
last() { poet states --list --threads T:main "$1" --json | python3 -c "
import json, sys
rows = [r['row'] for r in map(json.loads, sys.stdin) if r.get('row')]
print(rows[-1]['state'], rows[-1]['object'])"; }
is "poet states: the task is blocked to the end of the trace" "$(last stuck.poet)" 'blocked T:first'
like "poet waits: the wait is a row" "$(poet waits stuck.poet)" 'awaits end +T:first +not ended'
like "poet report: the task is listed among those that never resume" "$(poet report --all stuck.poet)" '^never resumes +T:main +T:first '

POET_OUTPUT=ends.poet ./ends
until_true finished ends.poet
check "awaited task that ends: the trace passes poet check" poet check ends.poet
is "awaited task that ends: poet blocked lists no thread" "$(poet blocked ends.poet)" 'no thread is blocked'
like "awaited task that ends: poet waits attributes the wait" "$(poet waits ends.poet)" '1 +uc_main \(ends.c:7\) +awaits end +T:slow '
is "awaited task that ends: the waiter is not where the other task ended" \
    "$(poet states --list --threads T:main ends.poet | grep -c works)" 0
like "awaited task that ends: no wait time is unattributed" "$(poet waits ends.poet)" 'unattributed 0.000 ms'

UCPP_SCHEDULE=random UCPP_SEED=7 POET_OUTPUT=chance.poet ./ends
until_true finished chance.poet
is "poet states: a scheduler is not listed as a thread" "$(poet states chance.poet | awk '{ print $1 }' | grep -c scheduler)" 0
for table in --tasks --created; do
    is "poet states $table: nor is it there" "$(poet states $table chance.poet | grep -c scheduler)" 0
done
like "the scheduler has a line" "$(poet dump chance.poet)" 'Sch:scheduler'

# ---- a lock with a holder that has exited ----
cat >abandoned.c <<'C'
#include <pthread.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static void *holder(void *a)
{
    pthread_mutex_lock(&table);
    return a;
}
static void *waiter(void *a)
{
    pthread_mutex_lock(&table);
    return a;
}
int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], 0, holder, 0);
    pthread_join(t[0], 0);
    for (int i = 1; i < 3; i++)
        pthread_create(&t[i], 0, waiter, 0);
    for (int i = 1; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g abandoned.c -o abandoned
POET_OUTPUT=abandoned.poet ./abandoned 2>/dev/null &
program=$!
pids="$pids $program"
both_wait() { [ "$(poet blocked abandoned.poet 2>/dev/null | grep -c '^T:waiter.* requests M:table at abandoned.c:10')" = 2 ]; }
check "abandoned lock: both waiters are listed with their place" until_true both_wait
is "abandoned lock: the diagnosis names the lock and its holder, once" "$(poet blocked abandoned.poet 2>/dev/null | grep HANG)" \
    "HANG: M:table is held by T:holder, which has exited: its waiters will never resume"
kill -KILL $program
wait $program 2>/dev/null
until_true finished abandoned.poet
is "abandoned lock: the report has the diagnosis" "$(poet report --all abandoned.poet | grep -c 'M:table is held by T:holder, which has exited')" 1
done_testing
