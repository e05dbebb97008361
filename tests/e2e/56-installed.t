#!/bin/bash
# Tables of arbitrary programs: progress, Ctrl-C, growing runs, and attribution of waits.
. "$(dirname "$0")/lib.sh"
cat >phases.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t b;
static void go(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    pthread_barrier_wait(&b);
}
static void *work(void *x)
{
    go(30000), go(30000);
    return x;
}
int main(void)
{
    char c;
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, work, 0);
    go(30000);
    if (write(1, "half\n", 5) != 5 || read(0, &c, 1) != 1) return 1;
    go(30000);
    pthread_join(t, 0);
}
C
check "phases.c compiles with -trace" poetcc -trace -g phases.c -o phases
start_server -o traces/ -q

# ---- a growing run: the answer to an earlier request is extended ----
mkfifo more
./phases <more >said &
program=$! pids="$pids $!"
exec 3>more
until_true grep -q half said
asked() { # waits path: requests while the program runs, and waits for their answers
    for table in waits path states; do poet $table --json "unix:$XDG_RUNTIME_DIR/poet.sock" >"half.$table" || return 1; done
}
check "waits and path answer while the program runs" asked
echo >&3
wait $program
exec 3>&-
until_true finished latest
file=$(ls traces/phases-*.poet)
for table in waits path states; do
    poet $table --json "unix:$XDG_RUNTIME_DIR/poet.sock" >"whole.$table"
    poet $table --json "$file" >"fresh.$table"
    check "$table of the grown run equals that of a new request" cmp "whole.$table" "fresh.$table"
done
check "the grown run has more states than before" sh -c '! cmp -s half.states whole.states'

# ---- a slow table ----
export ASK=$(sed -n 's/.*M(\([0-9]*\), REQUEST).*/\1/p' "$root/wire/message.h")
slow() { # slow NAME [HOLD]: a slow connection to the server
    python3 "$root/tests/e2e/slow.py" "$XDG_RUNTIME_DIR/poet.sock" "$work/$1.sock" "$work/$1.asked" $2 &
    pids="$pids $!"
    until_true test -S "$work/$1.sock"
}
slow terminal
python3 -c '
import os, pty, sys
def read(fd):
    data = os.read(fd, 4096)
    open("seen", "ab").write(data)
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", "poet waits --json unix:terminal.sock >told"], read)))' </dev/null >/dev/null
is "waits over a slow connection succeeds" $? 0
like "waits over a slow connection shows its progress on a terminal" "$(tr '\r' '\n' <seen)" "examined [0-9]+ of [0-9]+ events"
check "waits over a slow connection prints the same" cmp told whole.waits
slow plain
poet waits --json unix:plain.sock >told 2>errors
is "waits without a terminal prints no progress" "$(cat errors)" ""

slow held hold
python3 -c '
import os, signal, subprocess, time
signal.signal(signal.SIGINT, signal.SIG_DFL) # ignored in what a shell without job control runs in the background
p = subprocess.Popen(["poet", "waits", "unix:held.sock", "-o", "held.txt"])
while not os.path.exists("held.asked"):
    time.sleep(0.01)
p.send_signal(signal.SIGINT)
print(p.wait())' >status
is "Ctrl-C ends waits with 130" "$(cat status)" 130
check "Ctrl-C: the request is canceled at the server" until_true test -e held.asked.gone
is "Ctrl-C: no partial file remains" "$(ls held.txt* 2>/dev/null)" ""
check "Ctrl-C: the server answers the next request" sh -c "poet waits --json unix:$XDG_RUNTIME_DIR/poet.sock | cmp - whole.waits"
stop_server

# ---- programs with given times ----
mkdir conf
cat >conf/meeting.conf <<'CONF'
name = "meeting";
version = 1;
line_types = ( { name = "one"; letter = "P"; title = "one"; color = "#1b4f8f"; } );
events = (
    { name = "begin"; line_types = ["one"]; label = "begins"; shape = "square"; allowed_after_on_line = [""]; },
    { name = "tell"; line_types = ["one"]; label = "tells"; shape = "circle"; relation = "send"; },
    { name = "ask"; line_types = ["one"]; label = "asks"; shape = "circle"; thread_state = "blocked"; wait_class = "rendezvous"; },
    { name = "get"; line_types = ["one"]; label = "gets"; shape = "circle"; relation = "receive"; thread_state = "running"; },
    { name = "arrive"; line_types = ["one"]; label = "comes"; shape = "circle"; thread_state = "blocked"; wait_class = "rendezvous"; woken_by = ["arrive"]; },
    { name = "meet"; line_types = ["one"]; label = "meets"; shape = "circle"; relation = "group"; thread_state = "running"; }
);
CONF
# told FILE: each wait, the longest first, with its attribution in ms and cause; the total
told() {
    poet waits --by wait --json "$1" | json '.[] |
        if .total then .total | "\(.waited_ns | ms) of it unexplained \(.unattributed_ns | ms)"
        elif .row and .depth == 0 then .row | "\(.waited_ns | ms) \(.thread) \(.cause):"
        elif .row then .row | "  \(.attributed_ns | ms) \(.segment) \(.thread) \(.direct)"
        else empty end'
}
start_server -o condition.poet -q
check "a program of a condition variable and a barrier" python3 "$root/tests/e2e/causes.py" condition
until_true finished latest
stop_server
check "condition: the trace is sound" sound condition.poet
is "condition: waits are attributed to the late thread, the signaler and the lock's holder" "$(told condition.poet)" "50 T:fast serialization 80 %, imbalance 20 %:
  40 0xc1 → 0xe1 T:slow direct
  10 0xc0 → 0xc1 T:slow direct
30 T:fast serialization 83 %, contention 17 %:
  25 0xc1 → 0xe1 T:slow direct
  5 0xe1 → 0xf1 T:slow direct
80 of it unexplained 0"
is "condition: the critical path with its segments" "$(poet path --json condition.poet | json '
    (rows | select((.critical_path_ns // 0) != 0) | "\(.segment) \(.critical_path_ns | ms)"), (total.length_ns | ms)')" \
    "0xc1 → 0xe1 65
0xc0 → 0xc1 40
0xe1 → 0xf1 5
110"
POET_CONFIG=$work/conf start_server -o late.poet -q
check "a program with one late thread" python3 "$root/tests/e2e/causes.py" propagation
until_true finished latest
stop_server
check "propagation: the trace is sound" sound late.poet
is "propagation: waits are attributed to the late thread, propagated along the chain" "$(told late.poet | sed 's/ \(serialization\|imbalance\|contention\).*//')" "60 P:p2
  60 0xa0 → 0xa1 P:late propagated
50 P:p1
  50 0xa0 → 0xa1 P:late direct
15 P:late
  10 0xf0 → 0xf0 P:p1 propagated
  5 0xf0 → 0xf0 P:p2 direct
5 P:p1
  5 0xf0 → 0xf0 P:p2 direct
130 of it unexplained 0"

# ---- less than a hundredth of the wait time is unattributed ----
explained() { # explained FILE: of the waits longer than a moment
    [ "$(poet waits --json "$1" | json 'total | .waited_ns > 0 and .unattributed_ns < 0.01 * .waited_ns')" = true ]
}
head -c 3000000 /dev/urandom | base64 >paper
if command -v pigz >/dev/null; then
    poet record -o pigz.poet pigz -p 4 -b 128 -c paper >/dev/null
    check "pigz: wait time is attributed" explained pigz.poet
else
    skip "pigz is not installed"
fi
done_testing
