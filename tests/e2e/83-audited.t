#!/bin/sh
# What tables say of a part of a run, of two runs, of one that was killed, and of what was not measured: each must be
# of what was asked, or say that it is not.
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
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
END
poetcc -profile -g locks.c -o locks 2>compile.log || { not_ok "it compiles" "$(cat compile.log)"; done_testing; exit 1; }
run() { # NAME [WORD=VALUE...]
    name=$1
    shift
    env "$@" POET_OUTPUT=$name.poet ./locks 2>$name.err
    until_true finished $name.poet
}
run one
run two

# total FIELD FILE: of the first table in it
total() { perl -MJSON::PP -ne 'BEGIN { $f = shift } $t = decode_json($_); if ($t->{total}) { print $t->{total}{$f} // "null"; exit }' "$@"; }
# events of the second worker, amid the run: whether a thread or the mutex has the third line is luck
line=$(poet dump --json one.poet | sed -n 's/^{"line":\([0-9]*\),.*"name":"worker".*/\1/p' | sed -n 2p)
amid=$line:20

# ---- the critical path until an event ----
poet path --to $amid --json one.poet >to.json
is "the path to an event: its figures are of that" \
    "$(perl -MJSON::PP -ne '$t = decode_json($_)->{total} or next; print $t->{span_ns} <= $t->{length_ns} && $t->{span_ns} <= $t->{work_ns} && $t->{bound_n} >= 1 ? "fits" : "does not"' to.json)" fits
check "it is shorter than the run" [ "$(total length_ns to.json)" -lt "$(poet path --json one.poet >all.json && total length_ns all.json)" ]
is "unchanged, it takes as long as it took" "$(poet path --to $amid --what-if store=1 --json one.poet >same.json && total if_ns same.json)" "$(total length_ns to.json)"
poet path --past-of $amid --what-if store=0 --json one.poet >less.json
check "changed, less" [ "$(total if_ns less.json)" -lt "$(total length_ns less.json)" ]
at() { poet dump --json one.poet | perl -MJSON::PP -ne '$e = decode_json($_); print $e->{time_ns} if ($e->{event} // "") eq "'"$1"'"'; }
poet path --from $line:8 --to $amid --json one.poet >part.json
is "of a part it is as long as that" "$(total length_ns part.json) $(total bound_n part.json)" "$(($(at $amid) - $(at $line:8))) null"
is "and so are its shares" "$(perl -MJSON::PP -ne '$s += decode_json($_)->{row}{share} // 0; END { printf "%.3f", $s }' part.json)" 1.000

# ---- the past of an event ----
poet report --past-of $amid one.poet >past.out 2>&1
is "a report of an event's past" $? 0
is "no hint has more than all of it" "$(poet report --past-of $amid --json one.poet | perl -MJSON::PP -ne '$r = decode_json($_)->{row}; $n++ if $r && $r->{finding} && $r->{share} > 1.001; END { print $n // 0 }')" 0
like "usage of the past is not known" "$(poet usage --past-of $amid one.poet 2>&1)" "is unknown for the causal past"
like "usage of threads that are named" "$(poet usage --threads worker one.poet)" "T:worker +cpu"

# ---- against another run, with another number ----
poet usage --baseline one.poet --json two.poet >usage.json
is "rows of usage meet" "$(perl -MJSON::PP -ne '$r = decode_json($_)->{row} or next; $n++; $m++ if defined $r->{samples_diff}; END { print $n == $m && $n > 5 ? "all" : "$m of $n" }' usage.json)" all
like "and say how much more" "$(poet usage --baseline one.poet two.poet)" "total \+/- %"
like "so do meters" "$(poet metrics --baseline one.poet two.poet)" "lock wait time .* -?[0-9.]+ %"
is "a column that is named brings its differences" "$(poet calls --baseline one.poet --columns calls --csv two.poet | head -n 1 | tr -d '\r')" "calls,calls_diff,calls_percent"

# ---- names of tables ----
for table in states waits path calls usage metrics source; do poet $table --json one.poet | head -n 1; done |
    perl -MJSON::PP -ne '$t = decode_json($_); print "$t->{table} "' >names.out
is "a table's name in JSON is its command's" "$(cat names.out)" "states waits path calls usage metrics source "

# ---- what was not measured, and what cannot be ----
poet calls --with store one.poet >with.out
like "calls were not written down" "$(cat with.out)" "POET_MEASURE=calls=every"
is "and nothing is said of whether it was called" "$(grep -c 'not called' with.out)" 0
run every POET_MEASURE=calls=every
is "with them it is" "$(poet calls --with store every.poet | grep -c 'store')" 1
poet record --report=where.rep ./locks >record.out 2>&1
is "a report into a file of no known kind: before the program runs" "$? $(ls locks.*.poet where.rep 2>/dev/null | wc -l)" "2 0"
printf 'metrics = ( { name = "rate"; formula = "hits / 2"; } );\n' >broken.meters
like "what is wrong with a file here" "$(poet check broken.meters 2>&1)" "^broken.meters:1: .*hits"

# ---- killed ----
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
many() { [ "$(poet calls latest --json 2>/dev/null | perl -MJSON::PP -ne '$r = decode_json($_)->{row}; print $r->{calls} if $r && $r->{function} =~ /^step/')" -gt "$1" ]; }
check "it is called" until_true many 100
# ---- off and on again: what ended meanwhile is no fault ----
poet measure latest calls=off
sleep 0.1 # (it makes no difference to what is asked whether any call ended meanwhile)
poet measure latest calls=cpu
before=$(poet calls latest --json | perl -MJSON::PP -ne '$r = decode_json($_)->{row}; print $r->{calls} if $r && $r->{function} =~ /^step/')
check "and again" until_true many $((before + 20))
kill -9 $program
wait $program 2>/dev/null
stopped() { poet ls --json 2>/dev/null | grep -q killed || poet ls | grep -q killed; }
check "it was killed" until_true stopped
is "nothing ended that had not begun" "$(poet calls latest | grep -Ec '([2-9]|[0-9]{2,}) returns without a matching entry')" 0
is "how long it took is no less than its calls" \
    "$(took=$(poet report --json latest | perl -MJSON::PP -ne '$r = decode_json($_)->{row}; print $r->{duration_ns} if $r && exists $r->{duration_ns}')
       called=$(poet calls --json latest | perl -MJSON::PP -ne '$r = decode_json($_)->{row}; print $r->{total_ns} if $r && $r->{function} =~ /^main/')
       perl -e 'print $ARGV[0] >= $ARGV[1] && $ARGV[1] > 1e8 ? "no less" : "@ARGV"' "$took" "$called")" "no less"
like "states say what they lack" "$(poet states latest)" "1 thread was still alive when the program died"
stop_server

# ---- of a run whose begin is forgotten the sums are still whole, and shares are of them ----
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
check "events were forgotten" test "$(poet dump forgets.poet | wc -l)" -lt 1000000
is "calls were not" "$(poet calls forgets.poet | awk '$1 == "step" { print $3 }')" 300000
like "their time is what shares are of" "$(poet calls forgets.poet)" "note: [0-9.]+ ms measured in 1 thread since they started \\(base of all shares,"
is "so all together is a hundred" "$(poet calls forgets.poet | sed -nE 's/^total .* (100.0|99.9) %.*/whole/p')" whole

done_testing
