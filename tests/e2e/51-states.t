#!/bin/bash
# poet states: the same table in every format, states that add up to each lifetime, and tasks in the order of their creation.
. "$(dirname "$0")/lib.sh"
export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
status() { "$@" >/dev/null 2>&1; echo $?; }
start_server -o traces/ -q

# main creates five threads, which use a mutex that it holds until all of them wait; then it joins each.
cat >five.c <<'END'
#include "asleep.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct sleeper sleepers[5];
static void *work(void *sleeper)
{
    struct timespec pause = {0, 3000000};
    about_to_wait(sleeper);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        nanosleep(&pause, 0);
        pthread_mutex_unlock(&m);
    }
    return sleeper;
}
int main(void)
{
    pthread_t threads[5];
    struct timespec pause = {0, 20000000};
    pthread_mutex_lock(&m);
    for (int i = 0; i < 5; i++)
        pthread_create(&threads[i], 0, work, &sleepers[i]);
    for (int i = 0; i < 5; i++)
        until_asleep(&sleepers[i], 1);
    nanosleep(&pause, 0);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], 0);
}
END
check "five.c compiles with -trace" poetcc -trace -g five.c -o five
./five
check "five: the trace is sound" sound latest
run=$(ls traces/five-*.poet)

# ---- the states of a thread add up to its lifetime ----
poet states --json "$run" >states.json
# json PERL: evaluates it with @rows, $head, $total of states.json
json() {
    FILE=${2:-states.json} perl -MJSON::PP -e '
        open my $f, "<", $ENV{FILE} or die; my @all = map { decode_json $_ } <$f>;
        our ($head, @rows) = @all; our $end = pop @rows; our @cells = map { $_->{row} } @rows; our $total = $end->{total};
        '"$1"
}
is "states: six threads" "$(json 'print scalar @rows')" 6
is "states add up to each lifetime to the nanosecond" "$(json 'for my $r (@cells, $total) {
    my $sum = 0; $sum += $r->{$_ . "_ns"} // 0 for qw(created runnable running blocked other_off_cpu exited);
    print "$r->{thread}: $sum, not $r->{lifetime_ns}\n" if $sum != $r->{lifetime_ns} }')" ""
is "states: totals are the sums of the rows" "$(json 'for my $c (qw(created runnable running blocked exited lifetime)) {
    my $sum = 0; $sum += $_->{$c . "_ns"} for @cells; print "$c\n" if $sum != $total->{$c . "_ns"} }')" ""
poet states --json --source order "$run" >part.json
is "states: a figure without a source is null" "$(json 'print defined $cells[0]{other_off_cpu_ns} ? "defined" : "null"' part.json)" null
is "states: column names are as scripts expect them" \
    "$(json 'print join " ", map { $_->{name} } @{$head->{columns}}' | cut -d' ' -f1-8)" \
    "thread created_ns runnable_ns running_ns blocked_ns other_off_cpu_ns exited_ns lifetime_ns"
is "states: each column has its kind" "$(json 'print join " ", map { $_->{kind} } @{$head->{columns}}' | cut -d' ' -f1-2)" "line ns"
like "states: the CPU column has its source" "$(json 'print $head->{columns}[3]{source}')" "CPU time|CPU clock|context-switch records"
is "states --json: the table and the run are named" "$(json 'print "$head->{table} $head->{run}"')" "states five"
like "states: threads were blocked on the mutex" "$(json 'print scalar grep { $_->{blocked_ns} > 3e6 } @cells')" "^[3-6]$"
is "states: a row has the number of its line and its depth" "$(json 'print $rows[0]{lines}[0], " ", $rows[0]{depth}')" "1 0"

# ---- all formats have the same figures ----
poet states "$run" >states.txt
poet states "$run" --csv >states.csv
poet states "$run" -o states.pdf
is "states --csv has the figures of --json" "$(json 'print join(",", map { $_->{name} } @{$head->{columns}}), "\r\n";
    for my $r (@cells) { print join(",", map { $r->{$_->{name}} // "" } @{$head->{columns}}), "\r\n" }')" "$(cat states.csv)"
json 'for my $r (@cells) { print join(" ", $r->{thread}, map { defined $r->{$_ . "_ns"} ? sprintf "%.3f", $r->{$_ . "_ns"} / 1e6 : "-" }
    qw(created runnable running blocked other_off_cpu exited lifetime)), "\n" }' >wanted.txt
is "states as text has the figures of --json" "$(grep '^T:' states.txt | tr -s ' ')" "$(cat wanted.txt)"
is "states as PDF has the figures of --json" "$(pdftotext -layout states.pdf - | grep '^ *T:' | sed 's/^ *//' | tr -s ' ')" "$(cat wanted.txt)"
is "states as PDF has the notes" "$(pdftotext -layout states.pdf - | grep -Ec 'running = (CPU time|time outside)|running, runnable, off-CPU: exact')" 1
poet states "$run" -o again.pdf
check "states as PDF has the same bytes each time" cmp states.pdf again.pdf
poet states "$run" -o states.txt2.txt
is "states -o writes the printed text to a file" "$(cat states.txt2.txt)" "$(cat states.txt)"
check "states -o writes an SVG" poet states "$run" -o states.svg
check "states -o writes a PNG" poet states "$run" -o states.png
is "states -o x.json writes the printed JSON" "$(poet states "$run" -o x.json; cat x.json)" "$(cat states.json)"

# ---- selections ----
is "states --columns selects columns" "$(poet states "$run" --csv --columns thread,lifetime | head -n 1 | tr -d '\r')" thread,lifetime_ns
is "states --sort --top prints the two longest lifetimes" "$(poet states "$run" --csv --columns lifetime --sort lifetime --top 2 | sed 1d)" \
    "$(json 'print map { "$_\r\n" } (sort { $b <=> $a } map { $_->{lifetime_ns} } @cells)[0, 1]')"
is "states --sort -lifetime prints the shortest lifetime" "$(poet states "$run" --csv --columns lifetime --sort -lifetime --top 1 | sed 1d)" \
    "$(json 'print map { "$_\r\n" } (sort { $a <=> $b } map { $_->{lifetime_ns} } @cells)[0]')"
is "states --threads selects a thread" "$(poet states "$run" --threads main --csv --columns thread | sed 1d | tr -d '\r')" T:main
half() { poet states "$run" --json "$@" | tail -n 1 | sed 's/.*"lifetime_ns":\([0-9]*\).*/\1/'; }
at=$(poet states "$run" --list --threads main --json | sed -n 5p | sed 's/.*"from_ns":\([0-9]*\).*/\1/')
is "states of two parts of a run add up to the whole" "$(($(half --to "${at}ns") + $(half --from "${at}ns")))" "$(half)"
is "states --past-of a thread's first event has no row" "$(poet states "$run" --past-of 1:1 --csv --columns thread | sed 1d | wc -l)" 0
like "states --past-of another thread's event" "$(poet states "$run" --past-of 1:4 --threads main --csv --columns lifetime | sed 1d)" "^[1-9]"

# ---- state intervals, tasks, creation ----
poet states "$run" --list --threads main --json >list.json
is "states --list: the intervals of a thread add up to its lifetime" \
    "$(json 'my ($at, $sum) = ($cells[0]{from_ns}, 0); for (@cells) { print "gap" if $_->{from_ns} != $at; $at += $_->{duration_ns};
        $sum += $_->{duration_ns}; print "sum" if $sum != $_->{elapsed_ns} } print $sum' list.json)" \
    "$(json 'print map { $_->{lifetime_ns} } grep { $_->{thread} eq "T:main" } @cells')"
like "states --list: an interval has the source line where it starts" "$(poet states "$run" --list --threads main)" "blocked .* main \(five\.c:[0-9]+\) +T:work"
poet states "$run" --tasks --json >tasks.json
is "states --tasks: rows are in the order of creation" "$(json 'print join " ", map { $_->{created} } @cells' tasks.json)" "1 2 3 4 5 6"
is "states --tasks: executing is created less ended" "$(json 'for (@cells) { print "no\n" if $_->{executing} != $_->{created} - $_->{ended} }' tasks.json)" ""
is "states --tasks: no task ended before all were created" "$(json 'print $cells[5]{ended}, $cells[5]{deleted}' tasks.json)" "00"
is "states --created: main created all others" "$(poet states "$run" --created --json | sed '1d;$d' | grep -o '"depth":[0-9]' | tr -d '\n')" \
    '"depth":0"depth":1"depth":1"depth":1"depth":1"depth":1'

# ---- comparison with another run ----
poet states "$run" --baseline "$run" --json >same.json
is "states --baseline: a run does not differ from itself" "$(json 'print scalar grep { $_->{lifetime_diff_ns} || $_->{running_percent} } @cells' same.json)" 0
is "states --baseline: each figure has its difference" "$(json 'print scalar grep { /_diff/ } map { $_->{name} } @{$head->{columns}}' same.json)" \
    "$(json 'print scalar(@{$head->{columns}}) - 1')"

# ---- errors ----
is "states: an unknown column gets a suggestion" "$(poet states "$run" --columns blockd 2>&1 | head -n 1)" \
    'poet states: --columns: unknown column "blockd"; did you mean "blocked"?'
is "states: an unknown column exits with 2" "$(status poet states "$run" --columns blockd)" 2
is "states: an unknown sort column exits with 2" "$(status poet states "$run" --sort nothing)" 2
is "states: a range that ends before it starts exits with 2" "$(status poet states "$run" --from 5ms --to 2ms)" 2
is "states: an invalid time is refused" "$(poet states "$run" --from soon 2>&1 | head -n 1)" \
    "poet states: soon: not an event (2:17) or a time (20ms)"
is "states: a missing event is refused" "$(poet states "$run" --from 99:1 2>&1 | head -n 1)" "poet states: no event 99:1 in this run (it has 7 lines)"
is "states: a missing event exits with 1" "$(status poet states "$run" --past-of 99:1)" 1
is "states: an unknown thread exits with 2" "$(status poet states "$run" --threads nobody)" 2
is "states: an unknown file suffix exits with 2" "$(status poet states "$run" -o x.doc)" 2
is "states: an unknown grouping exits with 2" "$(status poet states "$run" --by cow)" 2

# ---- a live deadlock ----
compile deadlock
./deadlock &
program=$!
pids="$pids $program"
dead() { poet blocked latest | grep -q ^DEADLOCK; }
until_true dead
like "states --list of a live deadlock: blocked until now" "$(poet states latest --list --threads alice | grep '^T:alice' | tail -n 1)" "blocked .*M:knives"
poet states latest --follow >follow.txt &
following=$!
pids="$pids $following"
again() { [ "$(grep -c '^deadlock: states' follow.txt)" -ge 2 ]; }
check "states --follow prints again" until_true again
kill -KILL $program
wait $program 2>/dev/null
gone() { ! kill -0 $following 2>/dev/null; }
check "states --follow ends with the run" until_true gone

# ---- charts ----
for kind in gantt transitions overview; do
    check "states --chart $kind writes a PDF" poet states "$run" --chart $kind -o $kind.pdf
done
poet states "$run" --chart gantt -o again.pdf
check "states --chart gantt writes the same bytes each time" cmp gantt.pdf again.pdf
like "states --chart has a legend of the states" "$(pdftotext -layout transitions.pdf - | tr -s ' ')" "created, exited runnable running (off-CPU .other. )?blocked"
is "states --chart gantt has a row per thread" "$(pdftotext gantt.pdf - | grep -c '^T:')" 6
like "states --chart gantt explains its colors" "$(pdftotext -layout gantt.pdf - | tr -s ' ')" "not started or exited active"
check "states --chart --grayscale writes a PNG" poet states "$run" --chart transitions --grayscale -o grey.png
like "states --chart as text draws the states in characters" "$(poet states "$run" --chart transitions | grep -c '^T:.*#')" "^[3-6]$"
is "states: an unknown chart exits with 2" "$(status poet states "$run" --chart pie)" 2

# ---- one page ----
like "report has the key findings" "$(poet report "$run")" "^Key findings"
like "report has the time per thread state" "$(poet report "$run")" "^Time per thread state"
is "report --json has ten tables" "$(poet report "$run" --json | grep -c '^{"table"')" 10
done_testing
