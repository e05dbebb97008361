#!/bin/bash
# A step back and on restores the very picture by time; of a file that was cut
# short before its first event nothing is good.
. "$(dirname "$0")/lib.sh"
start_server -q
python3 "$root/tests/e2e/pictured.py" run 14 260
run=$(ls "$XDG_STATE_HOME/poet/run"-*.poet)
until_true finished "$run"
cp "$run" run.poet
stop_server

head -c 600 run.poet >short.poet
is "check: a file without a whole event is not good" "$(poet check short.poet 2>/dev/null; echo $?)" 1
like "and it says why" "$(poet check short.poet 2>&1)" \
    '^poet check: short.poet: contains no complete event; nothing to check$'
is "nor is it as JSON" "$(poet check --json short.poet 2>/dev/null; echo $?)" 1

. "$root/tests/e2e/display.sh"
cat >script <<'E2'
time 3
action start
scene scene0
action undo
action redo
scene again0
time 5
pan -200 0
goto 20
scene scene1
action undo
action redo
scene again1
action end
time 3.5
pan -90 0
scene scene2
action undo
action redo
scene again2
quit
E2
check "the viewer is led about" timeout 100 poet view run.poet --script script
for at in 0 1 2; do
    like "scene $at is by time" "$(head -n 1 scene$at)" ' time [1-9]'
    is "scene $at is the same after a step back and on" "$(cat again$at)" "$(cat scene$at)"
done

done_testing
