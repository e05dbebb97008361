#!/bin/bash
# How each thread spent its life: tables that say the same in every shape, add up, and count tasks as they were made.
. "$(dirname "$0")/lib.sh"
export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
status() { "$@" >/dev/null 2>&1; echo $?; }
start_server -o traces/ -q

# main makes five, which meet at a mutex that it holds until all of them wait; then it waits for each.
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
check "it compiles" poetcc -trace -g five.c -o five
./five
check "the trace is sound" sound latest
run=$(ls traces/five-*.poet)

# ---- the states of a life add up to it ----
poet states --json "$run" >states.json
# json PERL: with @rows, $head, $total of states.json
json() {
    FILE=${2:-states.json} perl -MJSON::PP -e '
        open my $f, "<", $ENV{FILE} or die; my @all = map { decode_json $_ } <$f>;
        our ($head, @rows) = @all; our $end = pop @rows; our @cells = map { $_->{row} } @rows; our $total = $end->{total};
        '"$1"
}
is "six threads" "$(json 'print scalar @rows')" 6
is "to the nanosecond" "$(json 'for my $r (@cells, $total) {
    my $sum = 0; $sum += $r->{$_ . "_ns"} // 0 for qw(created runnable running blocked other_off_cpu exited);
    print "$r->{thread}: $sum, not $r->{lifetime_ns}\n" if $sum != $r->{lifetime_ns} }')" ""
is "totals are those of the rows" "$(json 'for my $c (qw(created runnable running blocked exited lifetime)) {
    my $sum = 0; $sum += $_->{$c . "_ns"} for @cells; print "$c\n" if $sum != $total->{$c . "_ns"} }')" ""
poet states --json --source order "$run" >part.json
is "what no source gives is null" "$(json 'print defined $cells[0]{other_off_cpu_ns} ? "defined" : "null"' part.json)" null
is "the names that scripts rely on" \
    "$(json 'print join " ", map { $_->{name} } @{$head->{columns}}' | cut -d' ' -f1-8)" \
    "thread created_ns runnable_ns running_ns blocked_ns other_off_cpu_ns exited_ns lifetime_ns"
is "each says what it is" "$(json 'print join " ", map { $_->{kind} } @{$head->{columns}}' | cut -d' ' -f1-2)" "line ns"
like "and where it comes from" "$(json 'print $head->{columns}[3]{source}')" "CPU time|CPU clock|context-switch records"
is "the table and its run" "$(json 'print "$head->{table} $head->{run}"')" "states five"
like "they waited for the mutex" "$(json 'print scalar grep { $_->{blocked_ns} > 3e6 } @cells')" "^[3-6]$"
is "who it is about, by number" "$(json 'print $rows[0]{lines}[0], " ", $rows[0]{depth}')" "1 0"

# ---- all shapes say the same ----
poet states "$run" >states.txt
poet states "$run" --csv >states.csv
poet states "$run" -o states.pdf
is "CSV" "$(json 'print join(",", map { $_->{name} } @{$head->{columns}}), "\r\n";
    for my $r (@cells) { print join(",", map { $r->{$_->{name}} // "" } @{$head->{columns}}), "\r\n" }')" "$(cat states.csv)"
json 'for my $r (@cells) { print join(" ", $r->{thread}, map { defined $r->{$_ . "_ns"} ? sprintf "%.3f", $r->{$_ . "_ns"} / 1e6 : "-" }
    qw(created runnable running blocked other_off_cpu exited lifetime)), "\n" }' >wanted.txt
is "text" "$(grep '^T:' states.txt | tr -s ' ')" "$(cat wanted.txt)"
is "PDF" "$(pdftotext -layout states.pdf - | grep '^ *T:' | sed 's/^ *//' | tr -s ' ')" "$(cat wanted.txt)"
is "with its notes" "$(pdftotext -layout states.pdf - | grep -Ec 'running = (CPU time|time outside)|running, runnable, off-CPU: exact')" 1
poet states "$run" -o again.pdf
check "the same bytes again" cmp states.pdf again.pdf
poet states "$run" -o states.txt2.txt
is "text in a file" "$(cat states.txt2.txt)" "$(cat states.txt)"
check "SVG" poet states "$run" -o states.svg
check "PNG" poet states "$run" -o states.png
is "JSON in a file" "$(poet states "$run" -o x.json; cat x.json)" "$(cat states.json)"

# ---- what is asked for ----
is "columns" "$(poet states "$run" --csv --columns thread,lifetime | head -n 1 | tr -d '\r')" thread,lifetime_ns
is "sorted, the first two" "$(poet states "$run" --csv --columns lifetime --sort lifetime --top 2 | sed 1d)" \
    "$(json 'print map { "$_\r\n" } (sort { $b <=> $a } map { $_->{lifetime_ns} } @cells)[0, 1]')"
is "the least first" "$(poet states "$run" --csv --columns lifetime --sort -lifetime --top 1 | sed 1d)" \
    "$(json 'print map { "$_\r\n" } (sort { $a <=> $b } map { $_->{lifetime_ns} } @cells)[0]')"
is "one thread" "$(poet states "$run" --threads main --csv --columns thread | sed 1d | tr -d '\r')" T:main
half() { poet states "$run" --json "$@" | tail -n 1 | sed 's/.*"lifetime_ns":\([0-9]*\).*/\1/'; }
at=$(poet states "$run" --list --threads main --json | sed -n 5p | sed 's/.*"from_ns":\([0-9]*\).*/\1/')
is "two parts of a run are the whole" "$(($(half --to "${at}ns") + $(half --from "${at}ns")))" "$(half)"
is "the past of its last event is all that one did" "$(poet states "$run" --past-of 1:1 --csv --columns thread | sed 1d | wc -l)" 0
like "the past of an event of another" "$(poet states "$run" --past-of 1:4 --threads main --csv --columns lifetime | sed 1d)" "^[1-9]"

# ---- lists, tasks, creation ----
poet states "$run" --list --threads main --json >list.json
is "one thread's states fill its life" \
    "$(json 'my ($at, $sum) = ($cells[0]{from_ns}, 0); for (@cells) { print "gap" if $_->{from_ns} != $at; $at += $_->{duration_ns};
        $sum += $_->{duration_ns}; print "sum" if $sum != $_->{elapsed_ns} } print $sum' list.json)" \
    "$(json 'print map { $_->{lifetime_ns} } grep { $_->{thread} eq "T:main" } @cells')"
like "with the place where they began" "$(poet states "$run" --list --threads main)" "blocked .* main \(five\.c:[0-9]+\) +T:work"
poet states "$run" --tasks --json >tasks.json
is "tasks by their creation" "$(json 'print join " ", map { $_->{created} } @cells' tasks.json)" "1 2 3 4 5 6"
is "executing: created less ended" "$(json 'for (@cells) { print "no\n" if $_->{executing} != $_->{created} - $_->{ended} }' tasks.json)" ""
is "none ended before all were there" "$(json 'print $cells[5]{ended}, $cells[5]{deleted}' tasks.json)" "00"
is "main made all others" "$(poet states "$run" --created --json | sed '1d;$d' | grep -o '"depth":[0-9]' | tr -d '\n')" \
    '"depth":0"depth":1"depth":1"depth":1"depth":1"depth":1'

# ---- against another run ----
poet states "$run" --baseline "$run" --json >same.json
is "nothing has changed against itself" "$(json 'print scalar grep { $_->{lifetime_diff_ns} || $_->{running_percent} } @cells' same.json)" 0
is "and each number has its difference" "$(json 'print scalar grep { /_diff/ } map { $_->{name} } @{$head->{columns}}' same.json)" \
    "$(json 'print scalar(@{$head->{columns}}) - 1')"

# ---- mistakes ----
is "a column that there is not" "$(poet states "$run" --columns blockd 2>&1 | head -n 1)" \
    'poet states: --columns: unknown column "blockd"; did you mean "blocked"?'
is "is a mistake" "$(status poet states "$run" --columns blockd)" 2
is "so is one to sort by" "$(status poet states "$run" --sort nothing)" 2
is "a range that ends before it begins" "$(status poet states "$run" --from 5ms --to 2ms)" 2
is "no time" "$(poet states "$run" --from soon 2>&1 | head -n 1)" \
    "poet states: soon: not an event (2:17) or a time (20ms)"
is "an event that there is not" "$(poet states "$run" --from 99:1 2>&1 | head -n 1)" "poet states: no event 99:1 in this run (it has 7 lines)"
is "with the status that other commands give it" "$(status poet states "$run" --past-of 99:1)" 1
is "a line that there is not" "$(status poet states "$run" --threads nobody)" 2
is "a file of no kind" "$(status poet states "$run" -o x.doc)" 2
is "no such grouping" "$(status poet states "$run" --by cow)" 2

# ---- who waits still, while it runs ----
compile deadlock
./deadlock &
program=$!
pids="$pids $program"
dead() { poet blocked latest | grep -q ^DEADLOCK; }
until_true dead
like "a deadlock: blocked to the end" "$(poet states latest --list --threads alice | grep '^T:alice' | tail -n 1)" "blocked .*M:knives"
poet states latest --follow >follow.txt &
following=$!
pids="$pids $following"
again() { [ "$(grep -c '^deadlock: states' follow.txt)" -ge 2 ]; }
check "followed, it comes again" until_true again
kill -KILL $program
wait $program 2>/dev/null
gone() { ! kill -0 $following 2>/dev/null; }
check "until the run ends" until_true gone

# ---- charts ----
for kind in gantt transitions overview; do
    check "$kind as a PDF" poet states "$run" --chart $kind -o $kind.pdf
done
poet states "$run" --chart gantt -o again.pdf
check "the same bytes again" cmp gantt.pdf again.pdf
like "it has a legend" "$(pdftotext -layout transitions.pdf - | tr -s ' ')" "created, exited runnable running (off-CPU .other. )?blocked"
is "a row each" "$(pdftotext gantt.pdf - | grep -c '^T:')" 6
like "and its colours in words" "$(pdftotext -layout gantt.pdf - | tr -s ' ')" "not started or exited active"
check "in grey" poet states "$run" --chart transitions --grey -o grey.png
like "in letters" "$(poet states "$run" --chart transitions | grep -c '^T:.*#')" "^[3-6]$"
is "no such chart" "$(status poet states "$run" --chart pie)" 2

# ---- one page ----
like "a report has what to look at first" "$(poet report "$run")" "^Key findings"
like "and where the time went" "$(poet report "$run")" "^Time per thread state"
is "a table each in JSON" "$(poet report "$run" --json | grep -c '^{"table"')" 10
done_testing
