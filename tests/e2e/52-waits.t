#!/bin/bash
# poet waits: Meira's example to the nanosecond, in every format, and real locks.
. "$(dirname "$0")/lib.sh"
export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
status() { "$@" >/dev/null 2>&1; echo $?; }
start_server -o traces/ -q
check "three ranks send messages to each other" \
    python3 "$root/tests/e2e/waits.py" "$root/examples/python/events.py" figure
run=$(ls traces/figure-*.poet)
check "three ranks: the trace is sound" sound "$run"

# waits FILTER FILE: for each wait its row, with those of the segments it is attributed to as .segments
waits() {
    json 'reduce (.[] | select(.row)) as $line ([];
        if $line.depth == 0 then . + [$line.row] else .[-1].segments += [$line.row] end) | .[] | '"$1" "$2"
}
# charges FILE: a line per wait: its length, and the segments it is attributed to
charges() {
    waits '"\(.waited_ns) \(.cause):" + ([.segments[] | " \(.attributed_ns) \(.thread) \(.direct)"] | add)' "$1"
}

# ---- Meira's example ----
poet waits --json "$run" >waits.json
is "waits: each wait is attributed to code segments" "$(charges waits.json)" \
    "65000000 serialization 100 %: 36111111 R:0 propagated 28888889 R:1 direct
45000000 serialization 100 %: 24000000 R:1 propagated 21000000 R:2 direct
30000000 serialization 100 %: 30000000 R:0 direct"
is "waits: totals of wait time, unattributed time and lifetime" \
    "$(json 'total | "\(.waited_ns) \(.unattributed_ns) \(.lifetime_ns)"' waits.json)" "140000000 0 340000000"
expected='"waited_ns count location object cause wait_class unblocked_at attributed_ns segment thread direct " +
    "unattributed_ns lifetime_ns" | split(" ")'
is "waits: column names are as scripts expect them" "$(json "($expected) - [columns] | .[]" waits.json 2>&1)" ""
columns='.count, .location, .type, .object, .wait_class, .unblocked_at'
is "waits: a row has count, location, class and waker, and no object if the event is about none" \
    "$(json "first(rows) | $columns" waits.json | paste -sd' ')" "1 0x60 recv null rendezvous 0xa0"
is "waits: a row has the event where the wait started" "$(json '.[1].event' waits.json)" 3:2
like "waits: the summary sentence" "$(poet waits "$run")" "total wait time 140.000 ms = 41.2 % of thread time .340.000 ms.; 3 waits in 3 groups; unattributed 0.000 ms"
like "waits as text has the attribution" "$(poet waits "$run" | tr -s ' ')" "36.111 55.6 % 0x20 → 0x70 R:0 propagated"

poet waits --while --json "$run" >while.json
by_segment='[rows | select(.attributed_ns)] | group_by(.segment)[] | "\(.[0].segment): \(map(.attributed_ns) | add)"'
is "waits --while: what ran during the wait" "$(json "$by_segment" while.json | paste -sd' ')" \
    "0x20 → 0x70: 55000000 0x80 → 0xa0: 50000000 0xc0 → 0xd0: 35000000"

poet waits --since wait --json "$run" >since.json
is "waits --since=wait equals waits --while" "$(charges since.json | sort)" "$(charges while.json | sort)"
poet waits --direct --json "$run" >direct.json
expect direct.json <<'E'
waits --direct: direct attributions only | rows | select(.direct == "direct").attributed_ns => 28888889 21000000 30000000
waits --direct: no propagated attribution | [rows | select(.direct == "propagated")] | length => 0
E

# ---- one wait ----
poet waits --why 3:2 --json "$run" >why.json
is "waits --why: both paths side by side" "$(json '[.[] | select(.depth == 1).row | select(.awaited_ns) |
    "\(.segment) \(.awaited_ns) \(.waiter_ns) \(.difference_ns) \(.attributed_ns // "-")"] | join("; ")' why.json)" \
    "0x20 → 0x70 50000000 0 50000000 36111111; 0x80 → 0xa0 40000000 0 40000000 28888889; 0x40 → 0x60 0 25000000 -25000000 -"
expect why.json <<'E'
waits --why: the event where the paths diverged | first(rows) | .waited_ns, .thread, .diverged_by => 65000000 R:1 start of run
E
is "waits --why: the wait on the other path, and its thread" \
    "$(json '.[] | select(.depth == 1 and .row.waited_ns) | "\(.event) \(.row.waited_ns) \(.row.thread)"' why.json)" \
    "2:2 30000000 R:0"
is "waits --why: the cause of that wait, and where its paths diverged" "$(json '[
    (rows | select(.waited_ns == 30000000).diverged_by),
    (.[] | select(.depth == 2).row | "\(.segment) \(.awaited_ns) \(.waiter_ns) \(.attributed_ns // "-")")] |
    join("; ")' why.json)" \
    "start of run; 0x20 → 0x70 50000000 0 30000000; 0x30 → 0x50 0 20000000 -"
poet waits --why 3:3 --json "$run" >end.json
check "waits --why of the end of a wait equals that of its start" cmp why.json end.json
like "waits --why of an event that is not a wait" "$(poet waits --why 1:1 "$run")" "this event neither starts nor ends a wait"

poet waits --why 0x60 --json "$run" >place.json
expect place.json <<'E'
waits --why of a place takes its longest wait | first(rows).waited_ns, .[-1].notes[-1] => 65000000 longest of 1 waits at 0x60
E
like "waits --why of a place without a wait" "$(poet waits --why nowhere "$run" 2>&1)" "no wait starts there"
like "waits --object of an unknown line" "$(poet waits --object absent "$run" 2>&1)" "no such line; see poet dump"
like "waits: columns without a total are blank" "$(poet waits "$run" | grep '^ *140.000' | tr -s ' ')" "^ ?140.000 3 total *$"

# ---- parts of a table ----
poet waits --from 30ms --to 60ms --json "$run" >part.json
expect part.json <<'E'
waits --from --to: the waits of a range | rows | .waited_ns // empty => 30000000 20000000
E
poet waits --by thread --threads 1,3 --json "$run" >thread.json
expect thread.json <<'E'
waits --threads: the waits of selected threads | rows | select(.waited_ns) | .thread, .waited_ns => R:2 65000000 R:0 45000000
E
is "waits --top 1: the first row with its attributions" "$(poet waits --top 1 --json "$run" | wc -l)" 5
for by in place pattern object site thread wait; do
    poet waits --by "$by" --json "$run" >by.json
    expect by.json <<E
waits --by $by: attributions add up to the wait time | sum(rows.waited_ns), sum(rows.attributed_ns) => 140000000 140000000
E
done
like "waits --knots: one knot of all three ranks" "$(poet waits --knots "$run")" "note: 1 knot .bottleneck group.:"

# ---- formats ----
check "waits -o writes a PDF" poet waits "$run" -o waits.pdf
poet waits "$run" -o again.pdf
check "waits -o writes the same bytes each time" cmp waits.pdf again.pdf
like "waits as PDF has the attribution" "$(pdftotext -layout waits.pdf - | tr -s ' ')" "36.111 55.6 % 0x20 → 0x70 R:0 propagated"

# ---- a real lock: the holder's critical section is attributed, whatever preceded it ----
cat >lock.c <<'END'
#include "asleep.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static struct sleeper waiter;
static void rest_while_it_waits(int ms);
static void *other(void *x)
{
    pthread_mutex_lock(&m);
    pthread_barrier_wait(&b); /* MET */
    rest_while_it_waits(200);
    pthread_mutex_unlock(&m); /* LEFT */
    return x;
}
static long long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
static void rest_while_it_waits(int ms) /* and returns how long */
{
    until_asleep(&waiter, 1);
    long long from = now();
    nanosleep(&(struct timespec){0, ms * 1000000L}, 0);
    printf("%lld\n", now() - from);
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, other, 0);
    pthread_barrier_wait(&b);
    about_to_wait(&waiter);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
}
END
check "lock.c compiles with -trace" poetcc -trace -g lock.c -o lock
held=$(./lock)
run=$(ls traces/lock-*.poet)
check "lock: the trace is sound" sound "$run"
poet waits --json "$run" >lock.json
object=$(json 'first(.[] | select(.depth == 0 and .row.wait_class == "contention")).lines[-1]' lock.json)
is "waits --object: by name and by number" "$(poet waits --object m --json "$run")" \
    "$(poet waits --object "$object" --json "$run")"
at() { grep -n "/\* $1 \*/" lock.c | cut -d: -f1; }
section="lock.c:$(at MET) → lock.c:$(at LEFT) (other)"
is "a wait for a mutex is attributed to the holder's critical section, as long as the program measured" \
    "$(waits 'select(.wait_class == "contention") | . as $wait | .segments[] | select(.segment == "'"$section"'") |
        "\($wait.object) \(.thread) as told" +
        if .attributed_ns >= '"$held"' and .attributed_ns <= $wait.waited_ns then "" else ", not all of it" end' lock.json)" \
    "M:m T:other as told"

# ---- usage errors ----
is "waits --why with an invalid event exits with 2" "$(status poet waits --why x "$run")" 2
is "waits --object with an unknown object exits with 2" "$(status poet waits --object x "$run")" 2
is "waits --since with an unknown value exits with 2" "$(status poet waits --since x "$run")" 2
is "waits --by with an unknown grouping exits with 2" "$(status poet waits --by x "$run")" 2
done_testing
