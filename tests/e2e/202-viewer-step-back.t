#!/bin/bash
# A viewer scene by time is restored exactly after a step back and forward; poet check rejects a trace that was
# truncated before its first event.
. "$(dirname "$0")/lib.sh"
start_server -q
python3 "$root/tests/e2e/pictured.py" run 14 260
run=$(ls "$XDG_STATE_HOME/poet/run"-*.poet)
until_true finished "$run"
cp "$run" run.poet
stop_server

head -c 600 run.poet >short.poet
is "poet check of a trace without an event: exit status 1" "$(poet check short.poet 2>/dev/null; echo $?)" 1
like "poet check of a trace without an event: the message says so" "$(poet check short.poet 2>&1)" \
    '^poet check: short.poet: contains no complete event; nothing to check$'
is "poet check --json of a trace without an event: exit status 1" "$(poet check --json short.poet 2>/dev/null; echo $?)" 1

. "$root/tests/e2e/display.sh"
cat >script <<'E2'
action time 0; action end
action time 3
action start
state scene scene0
action undo
action redo
state scene again0
action time 5
action pan -200 0
action go 20
state scene scene1
action undo
action redo
state scene again1
action end
action time 3.5
action pan -90 0
state scene scene2
action undo
action redo
state scene again2
quit
E2
check "the viewer runs the script" timeout 100 poet view run.poet --script script
for at in 0 1 2; do
    like "scene $at is by time" "$(head -n 1 scene$at)" ' time [1-9]'
    is "scene $at is the same after a step back and forward" "$(cat again$at)" "$(cat scene$at)"
done

done_testing
