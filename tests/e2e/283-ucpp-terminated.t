#!/bin/bash
# SIGTERM ends a program of real µC++ wherever it interrupts the adapter, also where that holds a lock of its own.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 XDG_CACHE_HOME=$PWD/cache
command -v u++ >/dev/null || { skip "u++ is not installed" && done_testing && exit; }
cat >busy.cc <<'C'
#include <cstdio>
uOwnerLock lock;
int main() {
    puts("running");
    fflush(stdout);
    for (;;) {
        lock.acquire();
        lock.release();
    }
}
C
CXX="u++ -multi" poetcc++ -trace -g busy.cc -o busy >built 2>&1 || cat built
has_ended() { ! kill -0 "$1" 2>/dev/null; }
ended=0 statuses=
for i in $(seq 60); do
    rm -f busy.poet out
    POET_OUTPUT=busy.poet ./busy >out 2>errors &
    busy=$!
    pids="$pids $busy"
    until_true test -s out
    kill -TERM $busy
    until_true has_ended $busy && ended=$((ended + 1)) || kill -9 $busy
    wait $busy 2>/dev/null
    statuses="$statuses $?"
done
is "each run ends" "$ended" 60
is "with uC++'s own status after SIGTERM" "$(echo $statuses | tr ' ' '\n' | sort -u)" 134
done_testing
