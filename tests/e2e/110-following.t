#!/bin/bash
# A viewer that shows the trace goes to where the debugger is; others do not; and nothing that comes to its socket disturbs it.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
command -v gdb >/dev/null || { skip "there is no gdb"; done_testing; exit; }
. "$root/tests/e2e/display.sh"
poetcc -trace -g -O1 "$root/tests/e2e/stops.c" -o stops
POET_OUTPUT=stops.poet timeout 60 ./stops
until_true finished stops.poet
cp stops.poet other.poet
# The arrivals of each thread at its lock: two of one thread, one of another in between.
poet dump --json stops.poet >dumped
set -- $(python3 -c '
import json
events = [e for e in map(json.loads, open("dumped")) if e.get("type") == "acquire" and e.get("site") == "stops.c:26"]
of = [e for e in events if e["thread"] == events[0]["thread"]]
other = [e for e in events if e["thread"] != events[0]["thread"]]
print(of[3]["event"], of[12]["event"], other[-1]["event"])')

view() { # view TRACE SCRIPT-LINE...
    local trace=$1
    printf '%s\n' "${@:2}" quit >"$trace.script"
    timeout 200 poet view "$trace" --script "$trace.script" >"$trace.log" 2>&1 &
    pids="$pids $!"
}
# Each time that gdb has come somewhere, the viewer writes what it shows: gdb goes on when it has.
shown() { printf '%s\n' "await $1.come" "state $1.state" "marks $1.marks" "spots $1.spots" "said" "image $1.done"; }
look() { printf 'shell touch %s.come; until [ -s %s.done ]; do sleep 0.05; done' "$1" "$1"; }
mapfile -t lines < <(shown first && shown second && shown third && shown off && shown end)
view stops.poet "touch ready" "${lines[@]}"
viewer=$!
view other.poet "await end.done" "state other.state"
other=$!
sockets() { [ "$(ls run/poetview-*.sock 2>/dev/null | wc -l)" -eq "$1" ]; }
check "each viewer listens" until_true sockets 2
shown_title() { [ -n "$(window "$1")" ]; }
until_true shown_title '^stops$'
is "nobody else can come there" "$(stat -c %A run/poetview-*.sock | sort -u)" "srwx------"

# A viewer has no run yet when it begins to listen.
asks() { # asks TRACE: is it shown?
    python3 -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import poet_viewers
sys.exit(not poet_viewers.show("run", sys.argv[2], None, []))' "$B/share/poet/gdb" "$1"
}
check "who asks hears that the trace is shown" until_true asks "$work/stops.poet"
check "also by another way to it" asks "$work/run/../stops.poet"
check "or that it is not" test "$(asks "$work/stops" && echo yes)" = ""

timeout 200 poet debug stops.poet "$1" -o again.poet --batch -x "poet follow" -x "$(look first)" -x "poet until $2" -x "$(look second)" \
    -x "poet until $3" -x "poet view" -x "$(look third)" -x "poet follow off" -x "poet next" -x "$(look off)" -x "poet follow" -x "poet continue" \
    -x "$(look end)" </dev/null >said 2>&1
wait $viewer $other
selected() { awk '{ print $2 }' "$1.state"; }
is "the viewer goes to where the debugger is" "$(selected first)" "$1"
[ "$(selected first)" = "$1" ] || sed 's/^/# gdb: /' said
is "and to the next stop" "$(selected second)" "$2"
is "and to the next one" "$(selected third)" "$3"
for n in first second third; do
    like "it is seen ($n)" "$(cat $n.spots)" "(^| )$(selected $n)( |\$)"
done
next=$(sed 's/^events //; s/ lines.*//' second.marks)
is "what each thread does next is ringed: also that" "$(tr ' ' '\n' <<<"$next" | grep -cx "$2")" 1
# Of each thread one event at most, and none of them before another one's: a cut.
python3 - $next >cut <<'P'
import json, sys
of = {e["event"]: e["thread"] for e in map(json.loads, open("dumped")) if e.get("event")}
threads = [of[e] for e in sys.argv[1:]]
print(len(threads), len(set(threads)))
P
is "one of each of the five threads" "$(cat cut)" "5 5"
# (Of a pair on two lines, which a thread makes by one record, the other half may be done in the order already; and of a barrier,
# which all pass at once, the event of another thread, which has not returned from the call yet.)
at_once=$(python3 -c '
import json
print(*(e["event"] for e in map(json.loads, open("dumped")) if e.get("partner") or e.get("relation") == "group"))')
is "and no event before it is still to be performed" \
    "$(for e in $next; do [ "$e" = "$2" ] || [[ " $at_once " == *" $e "* ]] || echo "$e $2"; done | poet order stops.poet - 2>/dev/null | grep '^before')" ""
is "told to leave them it does" "$(selected off)" "$3"
is "at the end nothing is ringed" "$(cat end.marks)" "events lines"
is "another trace stays where it is" "$(awk '{ print $2 }' other.state)" none
like "the picture at this moment is in the terminal, too" "$(cat said)" '^T:work#3 .*[━╌]'
is "and no other viewer was opened" "$(grep -c 'no viewer currently shows' said)" 0
check "the sockets go with the viewers" sockets 0
is "without a complaint" "$(cat ./*.log | grep -Ec 'CRITICAL|WARNING')" 0

# ---- nobody is there: it is said, and poet view opens one on the new run ----
timeout 200 poet debug stops.poet "$1" -o again.poet --batch -x "poet follow" -x "poet view" \
    -x "shell until xdotool search --onlyvisible --name 'stops — live' >/dev/null 2>&1 || [ -e late ]; do sleep 0.1; done" </dev/null >said 2>&1 &
debugger=$!
shown_live() { until_true shown_title 'stops — live' || { cat said; window . ; ls run; false; }; }
check "poet view opens a viewer of the new run where none shows the trace" shown_live
touch late
wait $debugger
like "and poet follow says that there is none" "$(cat said)" "no viewer currently shows $work/stops.poet"
end_viewers
forgotten() { asks "$work/stops.poet"; sockets 0; }
check "what a viewer leaves that was killed goes with the next question" until_true forgotten

# ---- whoever comes to the socket ----
view stops.poet "await asked" "state after.state"
viewer=$!
until_true asks "$work/stops.poet"
python3 -B - "$B/share/poet/gdb" "$1" >asked.log 2>&1 <<'P'
import glob, os, random, socket, struct, sys, time
sys.path.insert(0, sys.argv[1])
import poet_viewers
random.seed(3)
trace = os.path.abspath("stops.poet")
at = tuple(map(int, sys.argv[2].split(":")))
good = poet_viewers.message(trace, at, [at])
path, = glob.glob("run/poetview-*.sock")

def send(data, close=True):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(path)
    try:
        s.sendall(data)
        if close:
            s.shutdown(socket.SHUT_WR)
            return s.recv(100)
    except (BrokenPipeError, ConnectionResetError):
        return b""
    return s

frame = lambda body, kind=37, mark=0x4F50: struct.pack("<IHH", len(body), kind, mark) + body
bad = [b"", b"GET / HTTP/1.0\r\n\r\n", b"\0" * 5000, frame(b"", 32), frame(good[8:], 37, 1), struct.pack("<IHH", 1 << 30, 37, 0x4F50),
       good[:20], os.urandom(200000)]
for data in bad:
    assert send(data) == b"", data[:20]
no = struct.pack("<IHHB", 1, 37, 0x4F50, 0)
wrong = [b"", good[8:-1], good[8:] + b"x", struct.pack("<I", 0xFFFFFFFF) + b"/", struct.pack("<I", 1) + b"\0" + good[8 + 4 + len(trace):],
         good[8:-16] + struct.pack("<I", 0x10000000)]
for body in wrong:
    assert send(frame(body)) == no, body
for _ in range(300):
    body = bytearray(good[8:])
    for _ in range(random.randint(1, 4)):
        body[random.randrange(len(body))] = random.randrange(256)
    assert len(send(frame(bytes(body)))) in (0, 9)
held = [send(good[:5], close=False) for _ in range(20)]  # more than are heard at once; they say no more
for s in held:
    if isinstance(s, socket.socket):
        s.close()
for _ in range(1000):  # it hears of that in its own time
    if poet_viewers.show("run", trace, None, []):
        break
    time.sleep(0.02)
slow = send(b"", close=False)
for i in range(len(good)):
    slow.sendall(good[i:i + 1])
print("slow", slow.recv(9) == struct.pack("<IHHB", 1, 37, 0x4F50, 1))
print("far", poet_viewers.show("run", trace, (99, 7), [(1, 1 << 60), (4000000000, 1)]))
print("last", poet_viewers.show("run", trace, at, [at]))
P
is "half words, wrong ones and too many are left alone" "$(cat asked.log)" "slow True
far 1
last 1"
touch asked
wait $viewer
is "the viewer lives, and is where it was asked to be" "$(selected after)" "$1"
is "without a complaint, too" "$(grep -Ec 'CRITICAL|WARNING' stops.poet.log)" 0
done_testing
