#!/bin/bash
# A test ends at its end what it started, and never a process of others that has got the number of one that has ended.
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
check "a process of others goes on" kill -0 $other
gone() { ! kill -0 "$(cat "$1")" 2>/dev/null; }
check "what was started is ended" until_true gone child
check "and what does not inherit the test's directory" until_true gone bare
done_testing
