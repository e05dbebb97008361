#!/bin/bash
# A viewer that shows the trace follows the position of poet follow in gdb; viewers of other traces do not;
# malformed data on its socket is rejected.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
command -v gdb >/dev/null || { skip "gdb is not installed"; done_testing; exit; }
. "$root/tests/e2e/display.sh"
poetcc -trace -g -O1 "$root/tests/e2e/stops.c" -o stops
POET_OUTPUT=stops.poet timeout 60 ./stops
until_true finished stops.poet
cp stops.poet other.poet
# The arrivals of each thread at its lock: two of one thread, and one of another in between.
poet dump --json stops.poet >dumped
set -- $(python3 -c '
import json
events = [e for e in map(json.loads, open("dumped")) if e.get("type") == "acquire" and e.get("site") == "stops.c:26"]
of = [e for e in events if e["thread"] == events[0]["thread"]]
other = [e for e in events if e["thread"] != events[0]["thread"]]
print(of[3]["event"], of[12]["event"], other[-1]["event"])')

view() { # view TRACE SCRIPT-LINE...
    local trace=$1
    printf '%s\n' 'action time 0; action end' "${@:2}" quit >"$trace.script"
    timeout 200 poet view "$trace" --script "$trace.script" >"$trace.log" 2>&1 &
    pids="$pids $!"
}
# At each stop of gdb the viewer writes what it shows, and gdb continues after that.
shown() { printf '%s\n' "await $1.come" "state selection $1.state" "state highlights $1.marks" "state positions $1.spots" "state status" "image $1.done"; }
look() { printf 'shell touch %s.come; until [ -s %s.done ]; do sleep 0.05; done' "$1" "$1"; }
mapfile -t lines < <(shown first && shown second && shown third && shown off && shown end)
view stops.poet "${lines[@]}"
viewer=$!
view other.poet "await end.done" "state selection other.state"
other=$!
sockets() { [ "$(ls run/poetview-*.sock 2>/dev/null | wc -l)" -eq "$1" ]; }
check "each viewer listens on a socket" until_true sockets 2
shown_title() { [ -n "$(window "$1")" ]; }
until_true shown_title '^stops$'
is "the sockets of viewers are accessible to their user only" "$(stat -c %A run/poetview-*.sock | sort -u)" "srwx------"

# A viewer does not have a run yet when it begins to listen.
asks() { # asks TRACE: whether a viewer shows it
    python3 -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import poet_viewers
sys.exit(not poet_viewers.show("run", sys.argv[2], None, []))' "$B/share/poet/gdb" "$1"
}
check "a viewer answers that it shows the trace" until_true asks "$work/stops.poet"
check "a viewer recognizes another path of its trace" asks "$work/run/../stops.poet"
check "a viewer answers that it does not show another file" test "$(asks "$work/stops" && echo yes)" = ""

timeout 200 poet debug stops.poet "$1" -o again.poet --batch -x "poet follow" -x "$(look first)" -x "poet until $2" -x "$(look second)" \
    -x "poet until $3" -x "poet view" -x "$(look third)" -x "poet follow off" -x "poet next" -x "$(look off)" -x "poet follow" -x "poet continue" \
    -x "$(look end)" </dev/null >said 2>&1
wait $viewer $other
selected() { awk '{ print $2 }' "$1.state"; }
is "the viewer selects the event of the first stop" "$(selected first)" "$1"
[ "$(selected first)" = "$1" ] || sed 's/^/# gdb: /' said
is "the viewer selects the event of the second stop" "$(selected second)" "$2"
is "the viewer selects the event of the third stop" "$(selected third)" "$3"
for n in first second third; do
    like "the event of stop $n is inside the visible range" "$(cat $n.spots)" "(^| )$(selected $n)( |\$)"
done
next=$(sed 's/^events //; s/ lines.*//' second.marks)
is "the next event of each thread is ringed, that of the stop included" "$(tr ' ' '\n' <<<"$next" | grep -cx "$2")" 1
# The ringed events are one per thread at most, and none of them happened before another one: a cut.
python3 - $next >cut <<'P'
import json, sys
of = {e["event"]: e["thread"] for e in map(json.loads, open("dumped")) if e.get("event")}
threads = [of[e] for e in sys.argv[1:]]
print(len(threads), len(set(threads)))
P
is "the ringed events: one for each of the five threads" "$(cat cut)" "5 5"
# (Of a pair on two lines that one record makes, the other half may be in the order already; of a barrier, that
# all threads pass at once, so may be the event of another thread that has not returned from the call yet.)
at_once=$(python3 -c '
import json
print(*(e["event"] for e in map(json.loads, open("dumped")) if e.get("partner") or e.get("relation") == "group"))')
is "no event before the stop is still to be performed" \
    "$(for e in $next; do [ "$e" = "$2" ] || [[ " $at_once " == *" $e "* ]] || echo "$e $2"; done | poet order stops.poet - 2>/dev/null | grep '^before')" ""
is "a viewer with following turned off stays at its event" "$(selected off)" "$3"
is "after the end no event is ringed" "$(cat end.marks)" "events lines"
is "a viewer of another trace stays at its event" "$(awk '{ print $2 }' other.state)" none
like "poet follow prints the diagram around the stop in the terminal" "$(cat said)" '^T:work#3 .*[━╌]'
is "poet follow does not report a missing viewer" "$(grep -c 'no viewer currently shows' said)" 0
check "the sockets are removed when the viewers exit" sockets 0
is "the viewers print no warnings" "$(cat ./*.log | grep -Ec 'CRITICAL|WARNING')" 0

# ---- without a viewer poet follow reports that; poet view opens one on the new run ----
timeout 200 poet debug stops.poet "$1" -o again.poet --batch -x "poet follow" -x "poet view" \
    -x "shell until [ -e seen ]; do sleep 0.1; done" </dev/null >said 2>&1 &
debugger=$!
shown_live() { until_true shown_title 'stops — live' || { cat said; window . ; ls run; false; }; }
check "poet view in gdb opens a viewer of the new run" shown_live
touch seen
wait $debugger
like "poet follow reports that no viewer shows the trace" "$(cat said)" "no viewer currently shows $work/stops.poet"
end_viewers
forgotten() { asks "$work/stops.poet"; sockets 0; }
check "the socket of a killed viewer is removed at the next query" until_true forgotten

# ---- malformed data on the socket ----
view stops.poet "await asked" "state selection after.state"
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
is "incomplete, malformed and excess messages are ignored" "$(cat asked.log)" "slow True
far 1
last 1"
touch asked
wait $viewer
is "the viewer still answers and follows after malformed messages" "$(selected after)" "$1"
is "a viewer that received malformed messages prints no warnings" "$(grep -Ec 'CRITICAL|WARNING' stops.poet.log)" 0
done_testing
