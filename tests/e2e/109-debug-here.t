#!/bin/bash
# Debug here in the viewer: a terminal with `poet debug` at the selected event; and breakpoints that are set in the picture.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
command -v gdb >/dev/null && command -v script >/dev/null || { skip "there is no gdb, or no script"; done_testing; exit; }
. "$root/tests/e2e/display.sh"
poetcc -trace -g -O1 "$root/tests/e2e/stops.c" -o stops
POET_OUTPUT=stops.poet timeout 60 ./stops
until_true finished stops.poet
trace=$work/stops.poet

# ---- a terminal: it writes down its words, and does them in a pseudo-terminal that is fed by the test ----
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
gdb_does() { # COMMAND...: each at a prompt
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
# view LINE...: a viewer that does them
view() {
    rm -f closed words typescript
    printf '%s\n' "$@" quit >script
    timeout 200 poet view stops.poet --script script >log 2>&1 &
    viewer=$!
    pids="$pids $viewer"
}
ended() { wait $viewer; sed 's/^/# /' log; }

dump() { poet dump --json stops.poet; }
# A lock request of a thread whose two next ones there come soonest, so that a window shows all three.
at=$(dump | python3 -c '
import json, sys
of = {}
for i, e in enumerate(map(json.loads, sys.stdin)):
    if e.get("type") == "acquire" and "stops.c:26" in e.get("site", ""):
        of.setdefault(e["thread"], []).append((i, e["event"]))
three = [requests[k:k + 3] for requests in of.values() for k in range(2, len(requests) - 2)]
print(min(three, key=lambda t: t[2][0] - t[0][0])[1][1])')

export TERMINAL=$work/terminal
view "select $at" "goto $at" "action debug" said "await closed"
gdb_does "info locals"
ended
is "the terminal is told to run the debugger at the selected event" "$(tail -n 5 words | tr '\n' ' ')" "debug -x poet follow $trace $at "
like "which goes there" "$(plain)" "is about to perform acquire on M:m \\($at, stops.c:26\\)"
like "and is gdb" "$(plain)" 'turn = [0-9]+'
like "it is said" "$(cat log)" "said: The debugger runs to $at"

# ---- a terminal with words of its own, and from another folder ----
mkdir other
cp stops.poet other/
mv stops.poet-breaks other/ 2>/dev/null
(cd other && TERMINAL="$work/terminal -title 'the order'" && export TERMINAL &&
    rm -f ../closed ../words ../typescript && printf '%s\n' "select $at" "goto $at" "action debug" "await ../closed" quit >script &&
    exec timeout 200 poet view stops.poet --script script >../log 2>&1) &
viewer=$!
pids="$pids $viewer"
until_true test -e words
gdb_does "poet where"
ended
is "a terminal may have words of its own" "$(head -n 2 words | tr '\n' ' ')" "-title the order "
like "the program is found where the trace says that it was" "$(plain)" "is about to perform acquire on M:m \\($at, stops.c:26\\)"

# ---- what goes wrong is to be read ----
mv stops away
view "select $at" "goto $at" "action debug" "await closed"
asks() { plain | grep -q 'It ended with 127. Enter closes this window.'; }
until_true asks
like "of a program that is gone" "$(plain)" 'stops: No such file or directory'
echo >&9
ended
check "and Enter closes the terminal" test -e closed
mv away stops
export TERMINAL=$work/nix
view "select $at" "goto $at" "action debug" said
ended
like "a terminal that is not there" "$(cat log)" 'said: \$TERMINAL: .*/nix: no such program'
unset TERMINAL
if command -v x-terminal-emulator >/dev/null; then
    skip "there is an x-terminal-emulator"
else
    view "select $at" "goto $at" "action debug" said
    ended
    like "none at all: what to do" "$(cat log)" "said: No x-terminal-emulator found: set \\\$TERMINAL, or run in a terminal: poet debug $trace $at"
fi
view "action escape" "action debug" said
ended
like "no event is selected" "$(cat log)" "said: Select an event first"

# ---- breakpoints: at an event, and at its place for its thread ----
export TERMINAL=$work/terminal
thread=$(dump | python3 -c '
import json, sys
print(next(e["thread"] for e in map(json.loads, sys.stdin) if e.get("event") == sys.argv[1]))' "$at")
calls=$(dump | python3 -c '
import json, sys
print(*(e["event"] for e in map(json.loads, sys.stdin) if e.get("thread") == int(sys.argv[1]) and e.get("site") == "stops.c:26"))' "$thread")
view "select $at" "goto $at" "stops none" "image without.png" "action break" said "stops one" "image one.png" "action break-place" said \
    "stops both" "action break" said "stops place" "image place.png" "action break-place" said "action break" "stops again"
ended
is "there is none" "$(cat none)" "stops"
is "one at an event is drawn there" "$(cat one)" "stops $at"
# pixels of its red
red() { gm convert "$1" -depth 8 ppm:- | python3 -c '
import sys
data = sys.stdin.buffer.read()
pixels = data[-3 * int(data.split()[1]) * int(data.split()[2]):]
print(sum(pixels[i] == 0xBF and pixels[i + 1] == 0 and pixels[i + 2] in (0x19, 0x1A) for i in range(0, len(pixels), 3)))'; }
if command -v gm >/dev/null; then
    is "none is painted" "$(red without.png)" 0
    check "one is a red disc" test "$(red one.png)" -ge 10
else
    skip "GraphicsMagick is not installed (Debian: graphicsmagick)"
fi
drawn() { sed 's/^stops *//' "$1" | tr ' ' '\n'; }
is "at a place: each event that its thread made there" "$(drawn place | grep -vxF "$(tr ' ' '\n' <<<"$calls")")" ""
check "which are several" test "$(drawn place | wc -l)" -gt 2
is "the other one is there meanwhile" "$(drawn both | grep -cx "$at")" 1
is "and stays until it is taken away" "$(cat again)" "stops $at"
is "what is said" "$(grep said: log)" "said: Breakpoint set: $at
said: Breakpoint set: stops.c:26 thread $thread
said: Breakpoint removed: $at
said: Breakpoint removed: stops.c:26 thread $thread"
is "what is kept" "$(cat stops.poet-breaks)" "$at"

# ---- the debugger has them, also those for the n-th arrival that were written by hand ----
{ echo "stops.c:26 thread $thread"; echo "stops.c:26 thread $thread arrival 3"; echo "a line that is none"; } >>stops.poet-breaks
first=$(dump | python3 -c '
import json, sys
print(next(e["event"] for e in map(json.loads, sys.stdin) if e.get("event")))')
view "select $first" "stops seen" "action debug" "await closed"
gdb_does "poet breaks" "poet continue" "poet continue" "poet continue" "info locals"
ended
like "the one at the event" "$(plain)" "^1: $at \\(1\\)"
like "the one at the place" "$(plain)" "^2: stops.c:26 thread $thread \\([0-9]+\\)"
like "the third arrival" "$(plain)" "^3: stops.c:26 thread $thread arrival 3 \\(1\\)"
like "one that is none is said" "$(plain)" "poet break a line that is none:"
like "they are met, one arrival after the other" "$(plain)" '^turn = 2'
is "no complaint" "$(grep -Ec 'CRITICAL|WARNING' log)" 0
done_testing
