#!/bin/bash
# Where threads waited, and why: Meira's figure with the times it has, to the nanosecond, in every shape; real locks.
. "$(dirname "$0")/lib.sh"
export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
status() { "$@" >/dev/null 2>&1; echo $?; }
start_server -o traces/ -q
check "three ranks send to each other" \
    python3 "$root/tests/e2e/waits.py" "$root/examples/python/events.py" figure
run=$(ls traces/figure-*.poet)
check "the trace is sound" sound "$run"

# json PERL [FILE]: with $head, @rows, @cells, $end, $total of a table
json() {
    FILE=${2:-waits.json} perl -CO -MJSON::PP -e '
        open my $f, "<", $ENV{FILE} or die; my @all = map { decode_json $_ } <$f>;
        our ($head, @rows) = @all; our $end = pop @rows; our @cells = map { $_->{row} } @rows; our $total = $end->{total};
        '"$1"
}
# charges [FILE]: a line for each wait: how long it was, and what is charged to whom
charges() {
    json 'for my $i (0 .. $#rows) { my $c = $cells[$i];
        print $rows[$i]{depth} ? " $c->{attributed_ns} $c->{thread} $c->{direct}" : "\n$c->{waited_ns} $c->{cause}:" }' "$@" |
        tail -n +2
}

# ---- the figure ----
poet waits --json "$run" >waits.json
is "who is charged with what" "$(charges)" "65000000 serialization 100 %: 36111111 R:0 propagated 28888889 R:1 direct
45000000 serialization 100 %: 24000000 R:1 propagated 21000000 R:2 direct
30000000 serialization 100 %: 30000000 R:0 direct"
is "of 340 ms" "$(json 'print "$total->{waited_ns} $total->{unattributed_ns} $total->{lifetime_ns}"')" "140000000 0 340000000"
is "the names that scripts rely on" "$(json 'my %is = map { $_->{name} => 1 } @{$head->{columns}};
    print join " ", grep { !$is{$_} } qw(waited_ns count location object cause wait_class unblocked_at attributed_ns segment thread direct unattributed_ns lifetime_ns)')" ""
is "where, for what, how" "$(json 'print join " ", map { $cells[0]{$_} } qw(count location type object wait_class unblocked_at)')" \
    "1 0x60 recv R:2 rendezvous 0xa0"
is "the event where it began" "$(json 'print $rows[0]{event}')" 3:2
like "in a sentence" "$(poet waits "$run")" "total wait time 140.000 ms = 41.2 % of thread time .340.000 ms.; 3 waits in 3 groups; unattributed 0.000 ms"
like "as text" "$(poet waits "$run" | tr -s ' ')" "36.111 55.6 % 0x20 → 0x70 R:0 propagated"

poet waits --while --json "$run" >while.json
is "what ran meanwhile" "$(json 'my %sum; $sum{$_->{segment}} += $_->{attributed_ns} for grep { defined $_->{attributed_ns} } @cells;
    print join " ", map { "$_: $sum{$_}" } sort keys %sum' while.json)" \
    "0x20 → 0x70: 55000000 0x80 → 0xa0: 50000000 0xc0 → 0xd0: 35000000"

poet waits --since wait --json "$run" >since.json
is "looking back to the wait alone is the same as that" "$(charges since.json | sort)" "$(charges while.json | sort)"
poet waits --direct --json "$run" >direct.json
is "what is direct alone" "$(json 'print join " ", map { $_->{attributed_ns} } grep { ($_->{direct} // "") eq "direct" } @cells' direct.json)" \
    "28888889 21000000 30000000"
is "nobody is named beside" "$(json 'print scalar grep { ($_->{direct} // "") eq "propagated" } @cells' direct.json)" 0

# ---- one wait ----
poet waits --why 3:2 --json "$run" >why.json
is "both paths side by side" "$(json 'print join "; ", map { "$_->{segment} $_->{awaited_ns} $_->{waiter_ns} $_->{difference_ns} " . ($_->{attributed_ns} // "-") }
    map { $_->{row} } grep { $_->{depth} == 1 && defined $_->{row}{awaited_ns} } @rows' why.json)" \
    "0x20 → 0x70 50000000 0 50000000 36111111; 0x80 → 0xa0 40000000 0 40000000 28888889; 0x40 → 0x60 0 25000000 -25000000 -"
is "since when" "$(json 'print "$cells[0]{waited_ns} $cells[0]{thread} $cells[0]{diverged_by}"' why.json)" "65000000 R:1 start of run"
is "the wait on that path, and whose it was" "$(json 'print join " ", map { $_->{event} . " " . $_->{row}{waited_ns} . " " . $_->{row}{thread} }
    grep { $_->{depth} == 1 && defined $_->{row}{waited_ns} } @rows' why.json)" "2:2 30000000 R:0"
is "and why that one took so long, since when" "$(json 'print join "; ", (map { "$_->{diverged_by}" } grep { ($_->{waited_ns} // 0) == 30000000 } @cells),
    map { "$_->{row}{segment} $_->{row}{awaited_ns} $_->{row}{waiter_ns} " . ($_->{row}{attributed_ns} // "-") } grep { $_->{depth} == 2 } @rows' why.json)" \
    "start of run; 0x20 → 0x70 50000000 0 30000000; 0x30 → 0x50 0 20000000 -"
poet waits --why 3:3 --json "$run" >end.json
check "the end of a wait says the same" cmp why.json end.json
like "an event that is no wait" "$(poet waits --why 1:1 "$run")" "this event neither starts nor ends a wait"

poet waits --why 0x60 --json "$run" >place.json
is "a place, for its longest wait" "$(json 'print "$cells[0]{waited_ns} $end->{notes}[-1]"' place.json)" \
    "65000000 longest of 1 waits at 0x60"
like "a place where nobody waits" "$(poet waits --why nowhere "$run" 2>&1)" "no wait starts there"
like "a line that there is not" "$(poet waits --object nobody "$run" 2>&1)" "no such line; see poet dump"
like "what is not summed up is blank below" "$(poet waits "$run" | grep '^ *140.000' | tr -s ' ')" "^ ?140.000 3 *$"

# ---- parts of it ----
poet waits --from 30ms --to 60ms --json "$run" >part.json
is "a range" "$(json 'print join " ", map { $_->{waited_ns} } grep { defined $_->{waited_ns} } @cells' part.json)" "30000000 20000000"
poet waits --by thread --threads 1,3 --json "$run" >thread.json
is "threads" "$(json 'print join " ", map { "$_->{thread} $_->{waited_ns}" } grep { defined $_->{waited_ns} } @cells' thread.json)" \
    "R:2 65000000 R:0 45000000"
is "the first row with what belongs to it" "$(poet waits --top 1 --json "$run" | wc -l)" 5
for by in place pattern object site thread wait; do
    poet waits --by "$by" --json "$run" >by.json
    is "by $by it adds up" "$(json 'my ($waited, $charged) = (0, 0); $waited += $_->{waited_ns} // 0, $charged += $_->{attributed_ns} // 0 for @cells;
        print "$waited $charged"' by.json)" "140000000 140000000"
done
like "a knot of all three" "$(poet waits --knots "$run")" "note: 1 knot .bottleneck group.:"

# ---- shapes ----
check "a picture" poet waits "$run" -o waits.pdf
poet waits "$run" -o again.pdf
check "the same bytes again" cmp waits.pdf again.pdf
like "with what is charged" "$(pdftotext -layout waits.pdf - | tr -s ' ')" "36.111 55.6 % 0x20 → 0x70 R:0 propagated"

# ---- a lock, of a real program: a holder's section is charged, whatever it did before ----
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
static void rest_while_it_waits(int ms) /* and says for how long */
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
check "it compiles" poetcc -trace -g lock.c -o lock
held=$(./lock)
run=$(ls traces/lock-*.poet)
check "the trace is sound" sound "$run"
poet waits --json "$run" >lock.json
is "waits for one line, by its name, as by its number" "$(poet waits --object m --json "$run")" \
    "$(poet waits --object "$(json 'print((grep { $_->{depth} == 0 && $_->{row}{wait_class} eq "contention" } @rows)[0]{lines}[-1])' lock.json)" --json "$run")"
at() { grep -n "/\* $1 \*/" lock.c | cut -d: -f1; }
is "the holder's section, in the other thread, for as long as it says itself" "$(json 'for my $i (0 .. $#rows) {
    next if $rows[$i]{depth} || $cells[$i]{wait_class} ne "contention";
    for my $k ($i + 1 .. $#rows) {
        last if !$rows[$k]{depth}; my $c = $cells[$k];
        next if $c->{segment} !~ /^lock.c:'"$(at MET)"' \x{2192} lock.c:'"$(at LEFT)"' \(other\)$/;
        print "$cells[$i]{object} $c->{thread} as told",
            $c->{attributed_ns} >= '"$held"' && $c->{attributed_ns} <= $cells[$i]{waited_ns} ? "" : ", not all of it" } }' lock.json)" \
    "M:m T:other as told"

# ---- wrong usages ----
is "an event is needed" "$(status poet waits --why x "$run")" 2
is "a number is needed" "$(status poet waits --object x "$run")" 2
is "there is no such way to look back" "$(status poet waits --since x "$run")" 2
is "there is no such table" "$(status poet waits --by x "$run")" 2
done_testing
