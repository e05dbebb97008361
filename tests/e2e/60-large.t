#!/bin/bash
# Tables of large runs: ranges that are too long to analyze, Ctrl-C during a request, and the layout of tables.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
poetcc -trace -O2 "$root/tests/bench/contend.c" -o contend || exit 1
POET_QUIET=1 POET_KEEP=10G POET_SERVER= POET_OUTPUT=large.poet ./contend 8 4 1000000
finished() { poet stat --json large.poet 2>/dev/null | grep -q '"finished":true'; }
until_true finished
check "large: the trace is sound" sound large.poet
events=$(poet stat --json large.poet | sed -n 's/.*"events":\([0-9]*\).*/\1/p')
check "large: the run has more than 500 000 events" test "$events" -gt 500000

# ---- a host with little memory ----
cat >little.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
long sysconf(int name)
{
    long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_PHYS_PAGES ? atol(getenv("PAGES")) : next(name);
}
C
${CC:-cc} -shared -fPIC little.c -o little.so -ldl || exit 1
# little PAGES COMMAND...: memory for threads' states is a sixth of so many pages
little() { PAGES=$1 LD_PRELOAD=$work/little.so "${@:2}"; }
last=$(poet stat --json large.poet | sed -n 's/.*"duration_ns":\([0-9]*\).*/\1/p')
from=$((last / 2)) to=$from
# A range in which no thread had a CPU has no states.
some() { to=$((to + last / 100)) && [ "$(poet waits --by wait --top 9 --json --from ${from}ns --to ${to}ns large.poet | grep -c '"row"')" -gt 0 ]; }
until some || [ $to -gt "$last" ]; do :; done
little 9000 poet waits large.poet >told 2>&1
is "a run that is too long to analyze exits with 2" $? 2
like "a run that is too long to analyze is reported with a suggestion" "$(cat told)" \
    "run too long to analyze as a whole .memory limit after [0-9]+ of $events events.; select a part"
most=9000 # just not enough for the whole run
until little $((most * 5 / 4)) poet waits large.poet >/dev/null 2>&1 || [ $most -gt 1000000 ]; do most=$((most * 5 / 4)); done
range="--from ${from}ns --to ${to}ns"
for verb in waits states path; do
    little $most poet $verb --json $range large.poet >$verb.part
    is "poet $verb analyzes a part of the run" $? 0
    like "poet $verb notes that only a part was analyzed" "$(json '.[-1].notes | join("; ")' $verb.part)" \
        "only [0-9.]+ ms to [0-9.]+ ms was analyzed .run too long."
    poet $verb --json $range large.poet >$verb.whole
done
states() {
    json '.[] | select(.depth == 0) | .row | [.thread, .running_ns, .runnable_ns, .blocked_ns, .lifetime_ns] |
        map(. // "-") | join(" ")' "$1"
}
is "states of the part are those of the whole run" "$(states states.part)" "$(states states.whole)"
little $most poet waits --by wait --top 100000 --json $range large.poet >each.part
poet waits --by wait --top 100000 --json $range large.poet >each.whole
each() { json '.[] | select(.depth == 0) | "\(.event) \(.row.waited_ns) \(.row.end_event)"' "$1" | sort; }
each each.part >part.txt
each each.whole >whole.txt
check "the part has waits" test -s part.txt
is "waits that end in the part are those of the whole run" "$(comm -23 part.txt whole.txt)" ""
going=$(json '.[-1].notes | join("; ")' each.part |
    sed -n 's/.*[^0-9]\([0-9]*\) waits\{0,1\} extends\{0,1\} beyond.*/\1/p')
is "waits that do not end in the part are counted" "$(($(wc -l <part.txt) + ${going:-0}))" "$(wc -l <whole.txt)"
rm -f large.poet-results # which have the answer already
little 60 poet waits $range large.poet >told 2>&1
like "a range that is too long is reported with a suggestion" "$(cat told)" "range too long to analyze as a whole .*; select a smaller part"

# ---- Ctrl-C ----
start_server -q -o traces/
export ASK=$(sed -n 's/.*M(\([0-9]*\), REQUEST).*/\1/p' "$root/wire/message.h")
poetcc -trace "$root/examples/prodcons.c" -o prodcons 2>/dev/null && POET_QUIET=1 ./prodcons >/dev/null
for verb in waits path states report; do
    python3 "$root/tests/e2e/slow.py" "$XDG_RUNTIME_DIR/poet.sock" "$work/$verb.sock" "$work/$verb.asked" hold &
    pids="$pids $!"
    until_true test -S $verb.sock
    echo old >$verb.txt
    python3 -c '
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL) # ignored in what a shell without job control runs in the background
verb = sys.argv[1]
p = subprocess.Popen(["poet", verb, f"unix:{verb}.sock", "-o", f"{verb}.txt"], stderr=open("said", "w"))
while not os.path.exists(f"{verb}.asked"):
    time.sleep(0.01)
p.send_signal(signal.SIGINT)
print(p.wait())' $verb >status
    is "poet $verb: Ctrl-C exits with 130 and a message" "$(cat status): $(cat said)" "130: poet $verb: interrupted; nothing was changed"
    check "poet $verb: Ctrl-C cancels the request" until_true test -e $verb.asked.cancelled
    is "poet $verb: Ctrl-C leaves the output file unchanged" "$(cat $verb.txt) $(ls $verb.txt*)" "old $verb.txt"
done

# ---- layout ----
longest=$(json 'first(.[] | select(.depth == 0) | .event)' each.whole)
for words in waits path states report "waits --why $longest" "waits --knots"; do
    poet $words large.poet >text 2>errors
    is "poet $words: no trailing blanks, and no zero totals below empty columns" \
        "$(wc -l <errors) $(grep -c ' $' text) $(grep -cE -- '-0\.0+( |$)' text)" "0 0 0"
done
done_testing
