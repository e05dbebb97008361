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
is "states: six threads" "$(json '[rows] | length' states.json)" 6
is "states add up to each lifetime to the nanosecond" \
    "$(json 'rows, total | select(time_in_states != .lifetime_ns)' states.json 2>&1)" ""
is "states: totals are the sums of the rows" "$(json '
    ("created_ns", "runnable_ns", "running_ns", "blocked_ns", "exited_ns", "lifetime_ns") as $time |
    select(sum(rows[$time]) != (total[$time] // 0)) | $time' states.json 2>&1)" ""
poet states --json --source order "$run" >part.json
is "states: a figure without a source is null" "$(json '[rows.other_off_cpu_ns][0]' part.json)" null
is "states: column names are as scripts expect them" "$(json '[columns][:8] | join(" ")' states.json)" \
    "thread created_ns runnable_ns running_ns blocked_ns other_off_cpu_ns exited_ns lifetime_ns"
expect states.json <<'E'
states: each column has its kind | .[0].columns[:2][].kind => line ns
E
like "states: the CPU column has its source" "$(json '.[0].columns[3].source' states.json)" "CPU time|CPU clock|context-switch records"
expect states.json <<'E'
states --json: the table and the run are named | .[0] | .table, .run => states five
states: threads were blocked on the mutex | [rows | select(.blocked_ns > 3e6)] | length | within(3; 6) => within
states: a row has the number of its line and its depth | .[1] | .lines[0], .depth => 1 0
E

# ---- all formats have the same figures ----
poet states "$run" >states.txt
poet states "$run" --csv >states.csv
poet states "$run" -o states.pdf
is "states --csv has the figures of --json" \
    "$(json '[columns] as $names | $names, (rows | [.[$names[]]]) | join(",") + "\r"' states.json)" "$(cat states.csv)"
json 'rows | [.thread, (.created_ns, .runnable_ns, .running_ns, .blocked_ns, .other_off_cpu_ns, .exited_ns, .lifetime_ns |
    . // "-")] | @tsv' states.json |
    awk -F'\t' '{ for (i = 2; i <= NF; i++) if ($i != "-") $i = sprintf("%.3f", $i / 1e6); $1 = $1; print }' >wanted.txt
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
    "$(json '[rows.lifetime_ns] | sort | reverse[:2][] | "\(.)\r"' states.json)"
is "states --sort -lifetime prints the shortest lifetime" "$(poet states "$run" --csv --columns lifetime --sort -lifetime --top 1 | sed 1d)" \
    "$(json '[rows.lifetime_ns] | min | "\(.)\r"' states.json)"
is "states --threads selects a thread" "$(poet states "$run" --threads main --csv --columns thread | sed 1d | tr -d '\r')" T:main
half() { poet states "$run" --json "$@" | tail -n 1 | sed 's/.*"lifetime_ns":\([0-9]*\).*/\1/'; }
at=$(poet states "$run" --list --threads main --json | sed -n 5p | sed 's/.*"from_ns":\([0-9]*\).*/\1/')
early=$((at / 2))ns
is "states of two parts of a run add up to the whole" "$(($(half --to "${at}ns") + $(half --from "${at}ns")))" "$(half)"

# ---- one answer, whatever the source and the range ----
figures() { # OPTION...: of each thread the time in each state, in ns
    poet states "$run" --json "$@" | json 'rows | [.thread, (.created_ns, .runnable_ns, .running_ns, .blocked_ns, .other_off_cpu_ns,
        .exited_ns | . // 0)] | @tsv'
}
sums() { awk -F'\t' '{ for (i = 2; i <= 7; i++) sum[$1, i] += $i; seen[$1] }
    END { for (t in seen) { printf "%s", t; for (i = 2; i <= 7; i++) printf "\t%d", sum[t, i]; print "" } }' | sort; }
for source in switches samples order; do
    is "states --source $source: parts of the run add up to the whole, state by state" \
        "$({ figures --source $source --to 1ns; figures --source $source --from 1ns --to $early; figures --source $source --from $early --to "${at}ns"
            figures --source $source --from "${at}ns"; } | sums)" "$(figures --source $source | sums)"
    is "states --source $source: the intervals of --list add up to the table" \
        "$(poet states "$run" --list --source $source --json | json 'rows | select(.state == "running") | [.thread, .duration_ns] | @tsv' |
            awk -F'\t' '{ sum[$1] += $2 } END { for (t in sum) print t, sum[t] }' | sort)" \
        "$(figures --source $source | awk -F'\t' '$4 { print $1, $4 }' | sort)"
done
is "states: a thread does not depend on which others are in the table" "$(figures --threads main)" "$(figures | grep -P '^T:main\t')"
poet usage "$run" --by thread --json | json 'rows | select(.thread != null and .metric == "cpu") | [.thread, .last] | @tsv' | sort >cpu.txt
is "states --source samples: no thread ran for longer than its CPU clock says" \
    "$(figures --source samples | cut -f 1,4 | sort | join -t "$(printf '\t')" - cpu.txt | awk -F'\t' '$2 > $3')" ""
is "states: each row names its source" "$(poet states "$run" --json --source order | json '[rows.source] | unique | join(",")')" \
    "order: time outside traced waits"
is "states --source order: all running time is an estimate" \
    "$(poet states "$run" --json --source order | json 'rows | select(.estimated_ns != .running_ns)')" ""
is "states --list: the accuracy of each interval" "$(poet states "$run" --list --json --source order |
    json '[rows | select((.accuracy == "estimated") != (.state == "running"))] | length')" 0
is "states --past-of a thread's first event has no row" "$(poet states "$run" --past-of 1:1 --csv --columns thread | sed 1d | wc -l)" 0
like "states --past-of another thread's event" "$(poet states "$run" --past-of 1:4 --threads main --csv --columns lifetime | sed 1d)" "^[1-9]"

# ---- state intervals, tasks, creation ----
poet states "$run" --list --threads main --json >list.json
is "states --list: the intervals of a thread add up to its lifetime" \
    "$(json 'reduce rows as $row ({to: [rows.from_ns][0], sum: 0};
        if $row.from_ns != .to then .wrong += "gap" else . end |
        .to += $row.duration_ns | .sum += $row.duration_ns |
        if $row.elapsed_ns != .sum then .wrong += "sum" else . end) | "\(.wrong // "")\(.sum)"' list.json)" \
    "$(json 'rows | of("T:main").lifetime_ns' states.json)"
expect list.json <<'END'
states --list: after a wait, a thread is where it waited | [.[].row | select(.state?)] | [range(1; length) as $i | select(.[$i - 1].state == "blocked" and (.[$i].state == "runnable" or .[$i].state == "running")) | .[$i].location == .[$i - 1].location] | length > 0 and all => true
END
like "states --list: an interval has the source line where it starts" "$(poet states "$run" --list --threads main)" "blocked .* main \(five\.c:[0-9]+\) +T:work"
poet states "$run" --tasks --json >tasks.json
expect tasks.json <<'E'
states --tasks: rows are in the order of creation | rows.created => 1 2 3 4 5 6
E
is "states --tasks: executing is created less ended" \
    "$(json 'rows | select(.executing != .created - .ended)' tasks.json 2>&1)" ""
is "states --tasks: no task ended before all were created" "$(json '[rows][5] | "\(.ended)\(.deleted)"' tasks.json)" "00"
is "states --created: main created all others" "$(poet states "$run" --created --json | sed '1d;$d' | grep -o '"depth":[0-9]' | tr -d '\n')" \
    '"depth":0"depth":1"depth":1"depth":1"depth":1"depth":1'

# ---- comparison with another run ----
poet states "$run" --baseline "$run" --json >same.json
is "states --baseline: a run does not differ from itself" \
    "$(json '[rows | .lifetime_diff_ns, .running_percent | select(. // 0 | . != 0)] | length' same.json)" 0
is "states --baseline: each figure has its difference" "$(json '[columns | select(contains("_diff"))] | length' same.json)" \
    "$(json '[columns] | length - 2' states.json)" # (thread, source)

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
is "states: an unknown thread exits with 2" "$(status poet states "$run" --threads absent)" 2
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
# On a terminal, in place: what stood there moves up once, lines are not wrapped, the last one counts what does not fit.
TERM=xterm script -qefc "stty rows 6 cols 40; poet blocked --follow" screen.txt >/dev/null </dev/null &
drawing=$!
pids="$pids $drawing"
drawn() { [ "$(grep -c $'\e''.*DEADLOCK:' screen.txt)" -ge 2 ]; }
check "blocked --follow draws a live deadlock again" until_true drawn
poet blocked --follow >blocked.txt &
blocked=$!
pids="$pids $blocked"
twice() { [ "$(grep -c ^DEADLOCK blocked.txt)" -ge 2 ]; }
check "blocked --follow prints again into a file" until_true twice
kill -KILL $program
wait $program 2>/dev/null
gone() { ! kill -0 $following 2>/dev/null && ! kill -0 $drawing 2>/dev/null && ! kill -0 $blocked 2>/dev/null; }
check "states --follow and blocked --follow end with the run" until_true gone
like "the screen is drawn from its first line on" "$(grep -c $'\e''\[H' screen.txt)" "^[2-9]|^[1-9][0-9]"
is "it is never blank in between" "$(grep -c $'\e''\[2J' screen.txt)" 0
like "its last line says what does not fit" "$(grep -o '^\.\.\. [0-9]* more lines' screen.txt | tail -n 1)" "^\.\.\. [1-9][0-9]* more lines$"

# ---- a killed program ----
cat >killed.c <<'END'
#include <pthread.h>
#include <unistd.h>
static volatile unsigned long n;
__attribute__((noinline)) static void spin(void) { for (;;) n++; }
static void *busy(void *a) { spin(); return a; }
static void *asleep(void *a) { for (;;) pause(); return a; }
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, busy, 0);
    pthread_create(&threads[1], 0, asleep, 0);
    pthread_join(threads[0], 0);
}
END
check "killed.c compiles with -profile" poetcc -profile -g killed.c -o killed
./killed &
program=$!
pids="$pids $program"
in_calls() { [ "$(poet calls latest --by thread --json | json '[rows | select(.function | test("^(spin|asleep) "))] | length')" -ge 2 ]; }
check "killed: both threads are in calls" until_true in_calls
kill -KILL $program
wait $program 2>/dev/null
ended() { finished "$(ls traces/killed-*.poet)"; }
check "killed: the run has ended" until_true ended
run=$(ls traces/killed-*.poet)
is "killed: a thread's lifetime is the same in poet calls and in poet states" \
    "$(poet calls "$run" --by thread --json | json '.[] | select(.depth == 0) | .row | [.function, .total_ns] | @tsv' | sort)" \
    "$(poet states "$run" --json | json 'rows | [.thread, .lifetime_ns - .created_ns] | @tsv' | sort)"
is "killed: the states fill the lifetimes" "$(poet states "$run" --json | json 'rows | select(time_in_states != .lifetime_ns)')" ""
check "killed: the trace is sound" sound "$run"
run=$(ls traces/five-*.poet)

# ---- charts ----
for kind in gantt transitions overview; do
    check "states --chart $kind writes a PDF" poet states "$run" --chart $kind -o $kind.pdf
done
poet states "$run" --chart gantt -o again.pdf
check "states --chart gantt writes the same bytes each time" cmp gantt.pdf again.pdf
like "states --chart has a legend of the states" "$(pdftotext -layout transitions.pdf - | tr -s ' ')" "created exited runnable running (off-CPU .other. )?blocked"
is "states --chart gantt has a row per thread" "$(pdftotext gantt.pdf - | grep -c '^T:')" 6
like "states --chart gantt explains its colors" "$(pdftotext -layout gantt.pdf - | tr -s ' ')" "not started exited active"
check "states --chart --grayscale writes a PNG" poet states "$run" --chart transitions --grayscale -o grey.png
like "states --chart as text draws the states in characters" "$(poet states "$run" --chart transitions | grep -c '^T:.*#')" "^[3-6]$"
is "states: an unknown chart exits with 2" "$(status poet states "$run" --chart pie)" 2

# ---- one page ----
like "report has the key findings" "$(poet report --all "$run")" "^Key findings$"
like "report has the time per thread state" "$(poet report --all "$run")" "^Time per thread state"
is "report --json has eleven tables" "$(poet report "$run" --json | grep -c '^{"table"')" 11
done_testing
