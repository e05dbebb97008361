#!/bin/bash
# Debug Here in the viewer starts poet debug at the selected event in a terminal; breakpoints are set in the diagram.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
command -v gdb >/dev/null && command -v script >/dev/null || { skip "gdb or script is not installed"; done_testing; exit; }
. "$root/tests/e2e/display.sh"
poetcc -trace -g -O1 "$root/tests/e2e/stops.c" -o stops
POET_OUTPUT=stops.poet timeout 60 ./stops
until_true finished stops.poet
trace=$work/stops.poet

# ---- a terminal that writes down its arguments and runs them in a pseudo-terminal that the test feeds ----
mkfifo keys
exec 9<>keys
cat >terminal <<'T'
#!/bin/bash
printf '%s\n' "$@" >"$WORK/words"
while [ "$1" != -e ]; do shift; done
shift
script -qfc "$(printf '%q ' "$@")" "$WORK/typescript" <"$WORK/keys" >/dev/null 2>&1
touch "$WORK/closed"
T
chmod +x terminal
export WORK=$work
plain() { tr -d '\r' <typescript | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g'; }
prompts() { [ "$(plain | grep -c '^(gdb) ')" -ge "$1" ]; }
gdb_does() { # COMMAND...: each one at a prompt
    local asked=1
    until_true prompts 1
    for word in "$@"; do
        printf '%s\n' "$word" >&9
        asked=$((asked + 1))
        until_true prompts "$asked"
    done
    printf 'kill\ny\nquit\n' >&9
    until_true test -e closed
}
# view LINE...: runs these lines as a script of the viewer
view() {
    rm -f closed words typescript
    printf '%s\n' 'action time 0; action end' "$@" quit >script
    timeout 200 poet view stops.poet --script script >log 2>&1 &
    viewer=$!
    pids="$pids $viewer"
}
ended() { wait $viewer; sed 's/^/# /' log; }

dump() { poet dump --json stops.poet; }
# A lock request of the thread with the soonest next two requests, so that a window shows all three.
at=$(dump | python3 -c '
import json, sys
of = {}
for i, e in enumerate(map(json.loads, sys.stdin)):
    if e.get("type") == "acquire" and "stops.c:26" in e.get("site", ""):
        of.setdefault(e["thread"], []).append((i, e["event"]))
three = [requests[k:k + 3] for requests in of.values() for k in range(2, len(requests) - 2)]
print(min(three, key=lambda t: t[2][0] - t[0][0])[1][1])')

export TERMINAL=$work/terminal
view "action select $at" "action go $at" "action debug" "state status" "await closed"
gdb_does "info locals"
ended
is "the terminal is started with poet debug at the selected event" "$(tail -n 5 words | tr '\n' ' ')" "debug -x poet follow $trace $at "
like "poet debug stops at the selected event" "$(plain)" "is about to perform acquire on M:m \\($at, stops.c:26\\)"
like "poet debug accepts commands of gdb" "$(plain)" 'turn = [0-9]+'
like "the viewer reports that the debugger was started" "$(cat log)" "said: The debugger runs to $at"

# ---- a terminal with options, started from another directory ----
mkdir other
cp stops.poet other/
mv stops.poet-breaks other/ 2>/dev/null
(cd other && TERMINAL="$work/terminal -title 'the order'" && export TERMINAL &&
    rm -f ../closed ../words ../typescript && printf '%s\n' 'action time 0; action end' "action select $at" "action go $at" "action debug" "await ../closed" quit >script &&
    exec timeout 200 poet view stops.poet --script script >../log 2>&1) &
viewer=$!
pids="$pids $viewer"
until_true test -e words
gdb_does "poet where"
ended
is "TERMINAL may contain options" "$(head -n 2 words | tr '\n' ' ')" "-title the order "
like "the program is found in the directory that the trace records" "$(plain)" "is about to perform acquire on M:m \\($at, stops.c:26\\)"

# ---- errors stay readable ----
mv stops away
view "action select $at" "action go $at" "action debug" "await closed"
asks() { plain | grep -q 'Exited with status 127. Press Enter to close this window.'; }
check "a missing program: the terminal stays open, with the exit status" until_true asks
like "a missing program: the terminal shows the error" "$(plain)" 'stops: No such file or directory'
echo >&9
ended
check "a missing program: Enter closes the terminal" test -e closed
mv away stops
export TERMINAL=$work/nix
view "action select $at" "action go $at" "action debug" "state status"
ended
like "a missing terminal: the viewer names it" "$(cat log)" 'said: \$TERMINAL: .*/nix: no such program'
unset TERMINAL
if command -v x-terminal-emulator >/dev/null; then
    skip "x-terminal-emulator is installed"
else
    view "action select $at" "action go $at" "action debug" "state status"
    ended
    like "no terminal: the viewer says how to set one" "$(cat log)" "said: No x-terminal-emulator found: set \\\$TERMINAL, or run in a terminal: poet debug $trace $at"
fi
view "action escape" "action debug" "state status"
ended
like "no selected event: the viewer asks for one" "$(cat log)" "said: Select an event first"

# ---- breakpoints at an event, and at a code place of a thread ----
export TERMINAL=$work/terminal
thread=$(dump | python3 -c '
import json, sys
print(next(e["thread"] for e in map(json.loads, sys.stdin) if e.get("event") == sys.argv[1]))' "$at")
calls=$(dump | python3 -c '
import json, sys
print(*(e["event"] for e in map(json.loads, sys.stdin) if e.get("thread") == int(sys.argv[1]) and e.get("site") == "stops.c:26"))' "$thread")
view "action select $at" "action go $at" "state breakpoints none" "image without.png" "action break" "state status" "state breakpoints one" "image one.png" "action break-place" "state status" \
    "state breakpoints both" "action break" "state status" "state breakpoints place" "image place.png" "action break-place" "state status" "action break" "state breakpoints again"
ended
is "no breakpoint is drawn before one is set" "$(cat none)" "stops"
is "a breakpoint at an event is drawn there" "$(cat one)" "stops $at"
# red FILE: the number of pixels in the red of breakpoints
red() { gm convert "$1" -depth 8 ppm:- | python3 -c '
import sys
data = sys.stdin.buffer.read()
pixels = data[-3 * int(data.split()[1]) * int(data.split()[2]):]
print(sum(pixels[i] == 0xBF and pixels[i + 1] == 0 and pixels[i + 2] in (0x19, 0x1A) for i in range(0, len(pixels), 3)))'; }
if command -v gm >/dev/null; then
    is "without breakpoints the picture has no red pixels" "$(red without.png)" 0
    check "a breakpoint is a red disc" test "$(red one.png)" -ge 10
else
    skip "GraphicsMagick is not installed (Debian: graphicsmagick)"
fi
drawn() { sed 's/^stops *//' "$1" | tr ' ' '\n'; }
is "a breakpoint at a code place is drawn at each event of its thread there" "$(drawn place | grep -vxF "$(tr ' ' '\n' <<<"$calls")")" ""
check "a breakpoint at a code place is drawn at several events" test "$(drawn place | wc -l)" -gt 2
is "a breakpoint at an event is drawn beside one at a code place" "$(drawn both | grep -cx "$at")" 1
is "the breakpoint at the event stays after the other one was removed" "$(cat again)" "stops $at"
is "the viewer reports each breakpoint that is set or removed" "$(grep said: log)" "said: Breakpoint set: $at
said: Breakpoint set: stops.c:26 thread $thread
said: Breakpoint removed: $at
said: Breakpoint removed: stops.c:26 thread $thread"
is "breakpoints are saved in the file beside the trace" "$(cat stops.poet-breaks)" "$at"

# ---- the debugger reads the breakpoints, and those with an arrival count that were added by hand ----
{ echo "stops.c:26 thread $thread"; echo "stops.c:26 thread $thread arrival 3"; echo "a line that is none"; } >>stops.poet-breaks
first=$(dump | python3 -c '
import json, sys
print(next(e["event"] for e in map(json.loads, sys.stdin) if e.get("event")))')
view "action select $first" "state breakpoints seen" "action debug" "await closed"
gdb_does "poet breaks" "poet continue" "poet continue" "poet continue" "info locals"
ended
like "gdb lists the breakpoint at the event" "$(plain)" "^1: $at \\(1\\)"
like "gdb lists the breakpoint at the code place" "$(plain)" "^2: stops.c:26 thread $thread \\([0-9]+\\)"
like "gdb lists the breakpoint at the third arrival" "$(plain)" "^3: stops.c:26 thread $thread arrival 3 \\(1\\)"
like "a malformed breakpoint line is reported" "$(plain)" "poet break a line that is none:"
like "gdb stops at the breakpoints in the order of arrivals" "$(plain)" '^turn = 2'
is "the viewer prints no warnings" "$(grep -Ec 'CRITICAL|WARNING' log)" 0
done_testing
