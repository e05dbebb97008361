#!/bin/bash
# Cleanup of the tests: a test ends the processes that it started, and never a process that has got the PID of one
# that has exited.
. "$(dirname "$0")/lib.sh"
cat >inner.sh <<'END'
. "$1/lib.sh"
pids=$2 # as that of a child that has ended long ago
sleep 1000 &
echo $! >"$3/child"
env -i sleep 1000 & # found by its number alone
bare=$!
pids="$pids $bare"
echo $bare >"$3/bare"
until_true sh -c "tr '\\0' ' ' </proc/$bare/cmdline | grep -q ^sleep" # it is no more this shell
END
sleep 1000 &
other=$!
pids=$other
bash inner.sh "$root/tests/e2e" $other "$work"
check "a process of another test with a reused PID survives" kill -0 $other
gone() { ! kill -0 "$(cat "$1")" 2>/dev/null; }
check "processes that the test started are ended" until_true gone child
check "a started process without the environment of the test is ended" until_true gone bare
done_testing
