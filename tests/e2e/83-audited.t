#!/bin/bash
# Tables of a part of a run, of two runs, of a killed run and of runs without measurements: figures are those of
# the selection, or a note says that they are not.
. "$(dirname "$0")/lib.sh"

cat >locks.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void store(void)
{
    pthread_mutex_lock(&m);
    usleep(3000);
    pthread_mutex_unlock(&m);
}
static void *worker(void *a)
{
    for (int i = 0; i < 12; i++)
        store();
    return a;
}
__attribute__((noinline)) static void extra(void) { usleep(1); }
int main(int argc, char **argv)
{
    pthread_t t[3];
    (void)argv;
    for (int i = 1; i < argc; i++)
        extra();
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
END
poetcc -profile -g locks.c -o locks 2>compile.log || { not_ok "locks.c compiles with -profile" "$(cat compile.log)"; done_testing; exit 1; }
run() { # NAME [WORD=VALUE...]
    name=$1
    shift
    env "$@" POET_OUTPUT=$name.poet ./locks 2>$name.err
    until_true finished $name.poet
}
run one
run two

# Events of the second worker amid the run: whether a thread or the mutex has the third line depends on scheduling.
line=$(poet dump --json one.poet | sed -n 's/^{"line":\([0-9]*\),.*"name":"worker".*/\1/p' | sed -n 2p)
amid=$line:20

# ---- the critical path until an event ----
poet path --to $amid --json one.poet >to.json
is "path --to: the figures are those of the part" "$(json 'total |
    if .span_ns <= ([.length_ns, .work_ns] | min) and .bound_n >= 1 then "fits" else . end' to.json)" fits
check "path --to: the path is shorter than that of the run" \
    [ "$(json 'total.length_ns' to.json)" -lt "$(poet path --json one.poet | json 'total.length_ns')" ]
is "path --to --what-if with factor 1 has the same length" \
    "$(poet path --to $amid --what-if store=1 --json one.poet | json 'total.if_ns')" "$(json 'total.length_ns' to.json)"
poet path --past-of $amid --what-if store=0 --json one.poet >less.json
expect less.json <<'E'
path --to --what-if with factor 0 is shorter | total | .if_ns != null and .if_ns < .length_ns => true
E
at() { poet dump --json one.poet | json ".[] | select(.event == \"$1\").time_ns"; }
poet path --from $line:8 --to $amid --json one.poet >part.json
is "path --from --to: the length is that of the part" "$(json 'total | "\(.length_ns) \(.bound_n)"' part.json)" \
    "$(($(at $amid) - $(at $line:8))) null"
is "path --from --to: shares add up to 1" "$(printf %.3f "$(json 'sum(rows.share)' part.json)")" 1.000

# ---- the causal past of an event ----
poet report --past-of $amid one.poet >past.out 2>&1
is "report --past-of succeeds" $? 0
is "report --past-of: no finding has a share of more than 100 %" \
    "$(poet report --past-of $amid --json one.poet | json '[table("findings") | rows | select(.share > 1.001)] | length')" 0
like "usage --past-of is refused" "$(poet usage --past-of $amid one.poet 2>&1)" "is unknown for the causal past"
like "usage --threads as text" "$(poet usage --threads worker one.poet)" "T:worker +cpu"

# ---- comparison with a run of another number ----
# Two runs may have different rows: of one that ends before its process was sampled, only those that it reports at its exit.
for name in one two; do poet usage --json $name.poet >usage-$name.json; done
figures_of() { json "[rows | {key: .metric, value: .$2}] | from_entries" "$1.json"; }
poet usage --baseline one.poet --json two.poet >usage.json
jq -cn --argjson one "$(figures_of usage-one samples)" --argjson two "$(figures_of usage-two samples)" \
    --argjson got "$(figures_of usage samples_diff)" '{rows: [$one + $two | keys[] | {metric: ., got: $got[.],
        wanted: (if $one[.] and $two[.] then $two[.] - $one[.] else null end)}],
    same: ($one + $two | keys == ($got | keys))}' >matched.json
expect matched.json <<'E'
usage --baseline: it has the rows of both runs | .[].same => true
usage --baseline: more than five rows are of both | [.[].rows[] | select(.wanted != null)] | length > 5 => true
usage --baseline: rows of both runs have their difference, others none | [.[].rows[] | select(.got != .wanted)] => []
E
like "usage --baseline as text has differences" "$(poet usage --baseline one.poet two.poet)" "total \+/- %"
like "metrics --baseline as text has differences" "$(poet metrics --baseline one.poet two.poet)" "lock wait time .* -?[0-9.]+ %"
is "calls --baseline --columns adds the differences of the column" "$(poet calls --baseline one.poet --columns calls --csv two.poet | head -n 1 | tr -d '\r')" "calls,calls_diff,calls_percent"
POET_OUTPUT=extra.poet ./locks one two 2>extra.err
until_true finished extra.poet
diff_of() { poet calls --baseline "$1" --json "$2" | json 'row("extra") | cells(.calls, .calls_diff, .calls_percent)'; }
is "calls --baseline: a function that only this run called differs by its calls" "$(diff_of one.poet extra.poet)" "2 2 -"
is "calls --baseline: so does one that only the other run called" "$(diff_of extra.poet one.poet)" "- -2 -1"

# ---- names of tables ----
for table in states waits path calls usage metrics source; do poet $table --json one.poet | head -n 1; done |
    json '.[].table' | tr '\n' ' ' >names.out
is "--json: a table's name is its command's" "$(cat names.out)" "states waits path calls usage metrics source "

# ---- missing measurements, and errors ----
poet calls --with store one.poet >with.out
like "calls --with without calls=every is refused with a suggestion" "$(cat with.out)" "POET_MEASURE=calls=every"
is "calls --with without calls=every does not report a function as not called" "$(grep -c 'not called' with.out)" 0
run every POET_MEASURE=calls=every
is "calls --with with calls=every has the function" "$(poet calls --with store every.poet | grep -c 'store')" 1
poet record --report=where.rep ./locks >record.out 2>&1
is "record --report=FILE of an unknown suffix exits with 2 before the program runs" "$? $(ls locks.*.poet where.rep 2>/dev/null | wc -l)" "2 0"
printf 'metrics = ( { name = "rate"; formula = "hits / 2"; } );\n' >broken.meters
like "check of an invalid metrics file has its line" "$(poet check broken.meters 2>&1)" "^broken.meters:1: .*hits"

# ---- a killed program ----
cat >on.c <<'END'
#include <unistd.h>
__attribute__((noinline)) void step(void) { usleep(1000); }
int main(void)
{
    for (;;)
        step();
}
END
poetcc -profile -g on.c -o on 2>/dev/null
start_server
./on 2>/dev/null &
program=$!
pids="$pids $program"
steps() { poet calls latest --json 2>/dev/null | json 'row("step").calls'; }
many() { [ "$(steps)" -gt "$1" ]; }
check "live: calls are counted" until_true many 100
# ---- switched off and on: calls that ended meanwhile are not an error ----
poet measure latest calls=off
sleep 0.1 # it does not matter whether a call ended meanwhile
poet measure latest calls=cpu
before=$(steps)
check "measure calls on: calls are counted again" until_true many $((before + 20))
kill -9 $program
wait $program 2>/dev/null
stopped() { poet ls --json 2>/dev/null | grep -q killed || poet ls | grep -q killed; }
check "the run of the killed program is listed as killed" until_true stopped
is "killed: no return without a matching entry" "$(poet calls latest | grep -Ec '([2-9]|[0-9]{2,}) returns without a matching entry')" 0
is "killed: the time of a function is at least that of its calls" \
    "$(took=$(poet report --json latest | json 'table("run") | rows.duration_ns')
       called=$(poet calls --json latest | json 'row("main").total_ns')
       [ "$took" -ge "$called" ] && [ "$called" -gt 100000000 ] && echo "no less" || echo "$took $called")" "no less"
like "killed: states note the threads that were alive" "$(poet states latest)" "1 thread was still alive when the program died"
stop_server

# ---- under --keep sums cover the whole run, and shares refer to them ----
cat >forgets.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int n;
__attribute__((noinline)) void step(void)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
}
int main(void)
{
    for (int i = 0; i < 300000; i++)
        step();
    return 0;
}
C
poetcc -profile -g forgets.c -o forgets
POET_KEEP=1M POET_MAX_STALL_MS=20000 POET_OUTPUT=forgets.poet POET_QUIET=1 ./forgets
until_true finished forgets.poet
check "--keep: events were discarded" test "$(poet dump forgets.poet | wc -l)" -lt 1000000
is "--keep: calls were not discarded" "$(poet calls forgets.poet | awk '$1 == "step" { print $3 }')" 300000
like "--keep: shares are of the measured time" "$(poet calls forgets.poet)" "note: [0-9.]+ ms measured in 1 thread since they started \\(base of all shares,"
is "--keep: shares add up to 100 %" "$(poet calls forgets.poet | sed -nE 's/^total .* (100.0|99.9) %.*/whole/p')" whole

done_testing
