#!/bin/bash
# `concurrent` is a claim: where events were lost or not traced, the answer is `unknown`, or a warning names what
# else may order the two events.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
event() { poet dump --json "$1" | sed -n 's/^{"event":"\([0-9:]*\)","type":"'"$2"'".*/\1/p' | head -n 1; }

# ---- the end of a thread is lost ----
cat >lostend.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void turn(void)
{
    char c;
    puts("your turn");
    fflush(stdout);
    if (read(0, &c, 1) != 1) _exit(1);
}
static void *work(void *p)
{
    poet_text("work");
    turn();
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    turn();
    poet_text("done");
    return 0;
}
C
poetcc -trace -g lostend.c -o lostend
turns() { [ "$(grep -c turn turns)" = "$1" ]; }
start_server -o lostend.poet -q
mkfifo go
POET_QUEUE_KIB=16 POET_MAX_STALL_MS=1 ./lostend <go >turns &
exec 3>go
until_true turns 1
stop_process "$server"
printf x >&3
until_true turns 2
kill -CONT "$server"
printf x >&3
exec 3>&-
check "a run that lost the end of a thread finishes" until_true finished latest
stop_server
worked=$(poet dump --json lostend.poet | grep '"annotations":\["work"\]' | grep -o '"event":"[^"]*"' | grep -o '[0-9]\+:[0-9]\+')
joined=$(event lostend.poet joined)
like "the thread with a lost end is not concurrent with its join" "$(poet order lostend.poet "$worked" "$joined" 2>why)" "before|unknown"
like "the join of that thread is uncertain because of loss" "$(poet dump --json lostend.poet | grep '"joined"')" '"uncertain":"lost"'
like "events before any loss are certain" "$(poet dump --json lostend.poet | grep '"create"')" '"uncertain":null'
is "the run that lost the end of a thread has no pending event" "$(figure lostend.poet pending)" 0
is "poet dump reports as many lost events as poet stat" \
    "$(poet dump --json lostend.poet | sed -n 's/^{"lost":.*"count":\([0-9]*\)}/\1/p' | paste -sd+ | bc)" \
    "$(figure lostend.poet lost)"
like "events were lost" "$(figure lostend.poet lost)" '^[1-9]'
like "poet stat counts events with uncertain order" "$(poet stat lostend.poet)" '^uncertain order +[1-9]'

# ---- answers after random losses, against the vector clocks of the program itself ----
poetcc -trace -g -O1 "$root/tests/e2e/vclock.c" -o vclock
start_server -o clocks.poet -q
POET_QUEUE_KIB=16 POET_MAX_STALL_MS=1 ./vclock 6 4500 3 40 &
clocks=$!
while kill -0 $clocks 2>/dev/null; do
    kill -STOP "$server"
    sleep 0.02
    kill -CONT "$server"
    sleep 0.02
done
until_true finished latest
stop_server
python3 "$root/tests/e2e/vclock.py" clocks.poet 20000 1 >answers
is "no answer about order after losses is wrong" "$(tail -n 1 answers)" "wrong 0"
like "some orders after losses are known" "$(cat answers)" "before [0-9]"
is "no event is pending after losses" "$(figure clocks.poet pending)" 0

# ---- by the protocol: uncertainty that a program reports itself ----
cat >tell.py <<'P'
import sys
sys.argv, what = ["x"], sys.argv[1:]
source = open(what[0]).read().split("\npoet = ")[0]
exec(source)
UNSEEN, GROUP = 17, 5
def doubtful(poet, line, name, flags, key=0, count=0, doubt=0):
    poet.numbers[line] += 1
    poet.send(SLOTS, struct.pack("<I", line) + struct.pack("<HHIQQIIQQIIQ", poet.type(name), flags | doubt << 12, 0,
              time.monotonic_ns(), 0, line, 0, poet.numbers[line], key, 0, count, KEY))
poet = Poet("tell", "actors")
a, b, c = (poet.line("actor", n) for n in "abc")
if "runtime" in what:
    poet.send(UNSEEN, struct.pack("<B", 10) + string("Rust"))
    poet.send(UNSEEN, struct.pack("<B", 10) + string("OpenMP"))
if "hides" in what:
    poet.send(UNSEEN, struct.pack("<B", 3) + string("a pool of threads"))
poet.event(a, "note"), poet.event(b, "note")           # 1:1, 2:1
if "many" not in what:
    doubtful(poet, b, "note", 0, doubt=2)              # 2:2
if "group" in what:
    doubtful(poet, a, "met", GROUP | KEYED, 1, 3)      # 1:2
    doubtful(poet, b, "met", GROUP | KEYED, 1, 3)      # 2:3; the third participant never arrives
    doubtful(poet, c, "receive", RECEIVE | KEYED, 2, 1) # 3:1; without a send
    poet.event(a, "note"), poet.event(c, "note")       # 1:3, 3:2
if "many" in what:
    for _ in range(20000):
        poet.event(a, "note"), poet.event(b, "note")
if "wait" in what:
    print("told", flush=True)
    sys.stdin.read()
P
tell() { python3 tell.py "$root/examples/python/events.py" "$@"; }
said() { # said FILE PAIRS...: answers, then messages on standard error
    file=$1
    shift
    printf '%s\n' "$@" | poet order "$file" - 2>why | tr '\n' ' '
    cat why
}
start_server -o tell.poet -q
tell runtime
until_true finished latest
is "events before an uncertain one have a known order" "$(said tell.poet "1:1 2:1")" \
    "concurrent poet order: concurrent, considering traced synchronization only: a language runtime or library uses untraced synchronization: Rust, OpenMP"
is "events after an uncertain one have an unknown order, each reason is printed once" "$(said tell.poet "1:1 2:2" "2:2 1:1" "2:1 2:2")" \
    "unknown unknown before poet order: unknown: a byte stream was no longer traced"
is "order --json has the reasons beside the answer" "$(poet order --json tell.poet 1:1 2:2 2>&1)" \
    '{"a":"1:1","b":"2:2","order":"unknown","reasons":["a byte stream was no longer traced"]}'
like "poet stat lists the reasons" "$(poet stat tell.poet)" "^not traced +a language runtime or library .*: Rust$"
like "stat --json lists the reasons" "$(poet stat --json tell.poet)" '"uncertain":1,"untraced_reasons":\[\{"reason":"runtime","detail":"Rust","count":1\},'
stop_server

start_server -o hides.poet -q
tell hides
until_true finished latest
is "a reason that covers the run makes every unordered pair unknown" "$(said hides.poet "1:1 2:1" "2:1 2:2")" \
    "unknown before poet order: unknown: a thread or process was not traced from start to end: a pool of threads"
stop_server

# ---- waits for partners that never came ----
start_server -o group.poet -q
tell group
until_true finished latest
is "a finished run with an incomplete group has no pending event" "$(figure group.poet pending inconsistent)" "0 0"
is "those that arrived of an incomplete group are simultaneous" "$(poet order group.poet 1:2 2:3)" same
like "events of an incomplete group are uncertain" "$(poet dump --json group.poet | grep '"met"')" '"uncertain":"thread"'
is "a receive without a send has an unknown order" "$(poet order group.poet 1:1 3:2 2>&1 | tr '\n' ' ')" \
    "poet order: unknown: a thread or process was not traced from start to end unknown "
stop_server

# ---- an incomplete file is reported ----
start_server -o whole.poet -q
mkfifo more
tell runtime wait <more >told 2>/dev/null &
exec 4>more
until_true grep told told
there() { [ "$(figure whole.poet events)" = 3 ]; }
until_true there
for command in stat show dump "order 1:1 2:1" blocked check "export -f dot -o x.dot"; do
    set -- $command
    name=$1
    shift
    case $name in order) set -- whole.poet "$@" ;; *) set -- "$@" whole.poet ;; esac
    like "$name: warns that the file is still being written" "$(poet "$name" "$@" 2>&1 >/dev/null)" "file is still being written"
done
like "poet stat reports that the file is still being written" "$(poet stat whole.poet 2>/dev/null)" "still being written"
kill -KILL "$server"
wait "$server" 2>/dev/null
exec 4>&-
like "poet stat warns that the file is truncated" "$(poet stat whole.poet 2>&1 >/dev/null)" "is truncated: the server exited first"
is "a truncated file is not finished" "$(figure whole.poet finished)" false
like "a truncated file keeps the reasons of uncertainty" "$(poet order whole.poet 1:1 2:1 2>&1)" "untraced synchronization: Rust"
is "a complete file gives no warning" "$(poet stat tell.poet 2>&1 >/dev/null)" ""

# ---- reasons are kept in the saved states of the trace file ----
cat >futex.c <<'C'
#include <linux/futex.h>
#include <poet.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int word;
int main(void)
{
    char c;
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
    for (int i = 0; i < 300000; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
    puts("done");
    fflush(stdout);
    return read(0, &c, 1) < 0;
}
C
poetcc -trace -g futex.c -o futex
start_server -o futex.poet -q
mkfifo last
./futex <last >done 2>/dev/null &
exec 5>last
until_true grep done done
seen() { [ "$(figure latest events)" -gt 1500000 ] && [ "$(figure latest untraced)" = 1 ]; }
until_true seen
kill -KILL "$server"
wait "$server" 2>/dev/null
exec 5>&-
is "the count of untraced calls survives kill -9 of the server" "$(figure futex.poet untraced)" 1

# ---- reasons survive --keep ----
start_server -o keep.poet -q --keep 300K
tell runtime many
until_true finished latest
stop_server
like "--keep: the oldest events were discarded" "$(poet dump --json keep.poet | grep -m 1 '"event"')" '"event":"[12]:[0-9]{3,}"'
like "--keep: reasons of uncertainty are kept" "$(poet order keep.poet 1:19990 2:19990 2>&1)" \
    "untraced synchronization: Rust, OpenMP"

# ---- the viewer: colors, counts and reasons of unknown order ----
. "$root/tests/e2e/display.sh"
poet dump --json clocks.poet | sed -n 's/^{"event":"\([0-9:]*\)".*"state":"ordered".*/\1/p' >events
awk 'NR % 97 == 1' events >some
chosen=$(sed -n "$(($(wc -l <some) / 2 + 1))p" some) # the last events may come after all others
read -r event < <(sed "s|^|$chosen |" events | poet order clocks.poet - 2>/dev/null |
    paste - events | awk '$1 == "unknown" { print $2 }')
printf 'action time 0; action end\naction go %s\naction select %s second\nstate selection asked\nquit\n' "$chosen" "$event" >script
check "the viewer selects events of the trace" timeout 300 poet view clocks.poet --script script
like "the viewer's relation is unknown" "$(cat asked)" "related 4 "
is "the viewer counts as many unknown events as poet order" "$(sed 's/.* unknown \([0-9]*\) .*/\1/' asked)" \
    "$(sed "s|^|$chosen |" events | poet order clocks.poet - 2>/dev/null | grep -c unknown)"
done_testing
