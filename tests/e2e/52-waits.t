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

# json PERL [FILE]: evaluates it with $head, @rows, @cells, $end, $total of a table
json() {
    FILE=${2:-waits.json} perl -CO -MJSON::PP -e '
        open my $f, "<", $ENV{FILE} or die; my @all = map { decode_json $_ } <$f>;
        our ($head, @rows) = @all; our $end = pop @rows; our @cells = map { $_->{row} } @rows; our $total = $end->{total};
        '"$1"
}
# charges [FILE]: a line per wait: its length, and the segments it is attributed to
charges() {
    json 'for my $i (0 .. $#rows) { my $c = $cells[$i];
        print $rows[$i]{depth} ? " $c->{attributed_ns} $c->{thread} $c->{direct}" : "\n$c->{waited_ns} $c->{cause}:" }' "$@" |
        tail -n +2
}

# ---- Meira's example ----
poet waits --json "$run" >waits.json
is "waits: each wait is attributed to code segments" "$(charges)" "65000000 serialization 100 %: 36111111 R:0 propagated 28888889 R:1 direct
45000000 serialization 100 %: 24000000 R:1 propagated 21000000 R:2 direct
30000000 serialization 100 %: 30000000 R:0 direct"
is "waits: totals of wait time, unattributed time and lifetime" "$(json 'print "$total->{waited_ns} $total->{unattributed_ns} $total->{lifetime_ns}"')" "140000000 0 340000000"
is "waits: column names are as scripts expect them" "$(json 'my %is = map { $_->{name} => 1 } @{$head->{columns}};
    print join " ", grep { !$is{$_} } qw(waited_ns count location object cause wait_class unblocked_at attributed_ns segment thread direct unattributed_ns lifetime_ns)')" ""
is "waits: a row has count, location, object, class and waker" "$(json 'print join " ", map { $cells[0]{$_} } qw(count location type object wait_class unblocked_at)')" \
    "1 0x60 recv R:2 rendezvous 0xa0"
is "waits: a row has the event where the wait started" "$(json 'print $rows[0]{event}')" 3:2
like "waits: the summary sentence" "$(poet waits "$run")" "total wait time 140.000 ms = 41.2 % of thread time .340.000 ms.; 3 waits in 3 groups; unattributed 0.000 ms"
like "waits as text has the attribution" "$(poet waits "$run" | tr -s ' ')" "36.111 55.6 % 0x20 → 0x70 R:0 propagated"

poet waits --while --json "$run" >while.json
is "waits --while: what ran during the wait" "$(json 'my %sum; $sum{$_->{segment}} += $_->{attributed_ns} for grep { defined $_->{attributed_ns} } @cells;
    print join " ", map { "$_: $sum{$_}" } sort keys %sum' while.json)" \
    "0x20 → 0x70: 55000000 0x80 → 0xa0: 50000000 0xc0 → 0xd0: 35000000"

poet waits --since wait --json "$run" >since.json
is "waits --since=wait equals waits --while" "$(charges since.json | sort)" "$(charges while.json | sort)"
poet waits --direct --json "$run" >direct.json
is "waits --direct: direct attributions only" "$(json 'print join " ", map { $_->{attributed_ns} } grep { ($_->{direct} // "") eq "direct" } @cells' direct.json)" \
    "28888889 21000000 30000000"
is "waits --direct: no propagated attribution" "$(json 'print scalar grep { ($_->{direct} // "") eq "propagated" } @cells' direct.json)" 0

# ---- one wait ----
poet waits --why 3:2 --json "$run" >why.json
is "waits --why: both paths side by side" "$(json 'print join "; ", map { "$_->{segment} $_->{awaited_ns} $_->{waiter_ns} $_->{difference_ns} " . ($_->{attributed_ns} // "-") }
    map { $_->{row} } grep { $_->{depth} == 1 && defined $_->{row}{awaited_ns} } @rows' why.json)" \
    "0x20 → 0x70 50000000 0 50000000 36111111; 0x80 → 0xa0 40000000 0 40000000 28888889; 0x40 → 0x60 0 25000000 -25000000 -"
is "waits --why: the event where the paths diverged" "$(json 'print "$cells[0]{waited_ns} $cells[0]{thread} $cells[0]{diverged_by}"' why.json)" "65000000 R:1 start of run"
is "waits --why: the wait on the other path, and its thread" "$(json 'print join " ", map { $_->{event} . " " . $_->{row}{waited_ns} . " " . $_->{row}{thread} }
    grep { $_->{depth} == 1 && defined $_->{row}{waited_ns} } @rows' why.json)" "2:2 30000000 R:0"
is "waits --why: the cause of that wait, and where its paths diverged" "$(json 'print join "; ", (map { "$_->{diverged_by}" } grep { ($_->{waited_ns} // 0) == 30000000 } @cells),
    map { "$_->{row}{segment} $_->{row}{awaited_ns} $_->{row}{waiter_ns} " . ($_->{row}{attributed_ns} // "-") } grep { $_->{depth} == 2 } @rows' why.json)" \
    "start of run; 0x20 → 0x70 50000000 0 30000000; 0x30 → 0x50 0 20000000 -"
poet waits --why 3:3 --json "$run" >end.json
check "waits --why of the end of a wait equals that of its start" cmp why.json end.json
like "waits --why of an event that is no wait" "$(poet waits --why 1:1 "$run")" "this event neither starts nor ends a wait"

poet waits --why 0x60 --json "$run" >place.json
is "waits --why of a place takes its longest wait" "$(json 'print "$cells[0]{waited_ns} $end->{notes}[-1]"' place.json)" \
    "65000000 longest of 1 waits at 0x60"
like "waits --why of a place without a wait" "$(poet waits --why nowhere "$run" 2>&1)" "no wait starts there"
like "waits --object of an unknown line" "$(poet waits --object nobody "$run" 2>&1)" "no such line; see poet dump"
like "waits: columns without a total are blank" "$(poet waits "$run" | grep '^ *140.000' | tr -s ' ')" "^ ?140.000 3 *$"

# ---- parts of a table ----
poet waits --from 30ms --to 60ms --json "$run" >part.json
is "waits --from --to: the waits of a range" "$(json 'print join " ", map { $_->{waited_ns} } grep { defined $_->{waited_ns} } @cells' part.json)" "30000000 20000000"
poet waits --by thread --threads 1,3 --json "$run" >thread.json
is "waits --threads: the waits of selected threads" "$(json 'print join " ", map { "$_->{thread} $_->{waited_ns}" } grep { defined $_->{waited_ns} } @cells' thread.json)" \
    "R:2 65000000 R:0 45000000"
is "waits --top 1: the first row with its attributions" "$(poet waits --top 1 --json "$run" | wc -l)" 5
for by in place pattern object site thread wait; do
    poet waits --by "$by" --json "$run" >by.json
    is "waits --by $by: attributions add up to the wait time" "$(json 'my ($waited, $charged) = (0, 0); $waited += $_->{waited_ns} // 0, $charged += $_->{attributed_ns} // 0 for @cells;
        print "$waited $charged"' by.json)" "140000000 140000000"
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
is "waits --object: by name and by number" "$(poet waits --object m --json "$run")" \
    "$(poet waits --object "$(json 'print((grep { $_->{depth} == 0 && $_->{row}{wait_class} eq "contention" } @rows)[0]{lines}[-1])' lock.json)" --json "$run")"
at() { grep -n "/\* $1 \*/" lock.c | cut -d: -f1; }
is "a wait for a mutex is attributed to the holder's critical section, as long as the program measured" "$(json 'for my $i (0 .. $#rows) {
    next if $rows[$i]{depth} || $cells[$i]{wait_class} ne "contention";
    for my $k ($i + 1 .. $#rows) {
        last if !$rows[$k]{depth}; my $c = $cells[$k];
        next if $c->{segment} !~ /^lock.c:'"$(at MET)"' \x{2192} lock.c:'"$(at LEFT)"' \(other\)$/;
        print "$cells[$i]{object} $c->{thread} as told",
            $c->{attributed_ns} >= '"$held"' && $c->{attributed_ns} <= $cells[$i]{waited_ns} ? "" : ", not all of it" } }' lock.json)" \
    "M:m T:other as told"

# ---- usage errors ----
is "waits --why with an invalid event exits with 2" "$(status poet waits --why x "$run")" 2
is "waits --object with an unknown object exits with 2" "$(status poet waits --object x "$run")" 2
is "waits --since with an unknown value exits with 2" "$(status poet waits --since x "$run")" 2
is "waits --by with an unknown grouping exits with 2" "$(status poet waits --by x "$run")" 2
done_testing
