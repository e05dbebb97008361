#!/bin/bash
# Saving the state of a live run delays no client, and a server killed meanwhile loses nothing.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_TEST_WATCHDOG_MS=${SANITIZED:+1000} POET_KEEP=
: "${POET_TEST_WATCHDOG_MS:=50}" # of work in one iteration
attack() { timeout 900 python3 "$root/tests/e2e/loop.py" "$@"; }
file() { ls r/"$1"-*.poet; }
bytes() { stat -c %s "$(file "$1")"; }
# The events of a dump are numbered without gaps, in the order in which they were sent.
in_turn() {
    poet dump --json "$1" 2>/dev/null |
        sed -nE 's/^\{"event":"([0-9]+):([0-9]+)".*"order_after":\[("([0-9]+):[0-9]+")?\].*/\1 \2 \4/p' |
        awk -v lines="$2" '
            $1 != 2 + k % lines || $2 != 1 + int(k / lines) { wrong = wrong ? wrong : $1 ":" $2 " is not event " k }
            k && $3 != 2 + (k - 1) % lines { wrong = wrong ? wrong : $1 ":" $2 " is after " $3 }
            { k++ }
            END { print wrong ? wrong : k + 0 }'
}

start_server -o r/
mkfifo leave
attack many 300000 <leave >rounds &
pids="$pids $!"
exec 9>leave
large() { [ "$(bytes many)" -gt 60000000 ]; }
until_true large
exec 9>&-
check "a run with 300 000 lines finishes" until_true finished "$(file many)"
is "a run with 300 000 lines has all events" "$(figure "$(file many)" events)/$(figure "$(file many)" lost)" $(($(head -n 1 rounds) * 300000))/0
kill "$server"
wait "$server" 2>/dev/null
is "no iteration of the event loop was long" "$(grep -E 'event loop stalled' server.log)" ""
like "the server logs the longest iteration of its event loop" "$(cat server.log)" "longest event loop iteration"
rm -r r

for size in 7 11; do
    start_server -o r/ -q
    rm -f leave
    mkfifo leave
    attack many 10000 <leave >rounds &
    client=$!
    pids="$pids $client"
    exec 9>leave
    grown() { [ "$(bytes many)" -gt "$size"000000 ]; }
    until_true grown
    known=$(figure "unix:$XDG_RUNTIME_DIR/poet.sock#many" events)
    kill -KILL "$server"
    wait "$server" "$client" 2>/dev/null
    exec 9>&-
    there=$(figure "$(file many)" events)
    is "killed at $size MB: the file has each event once, in order" "$(in_turn "$(file many)" 10000)" "$there"
    check "killed server: the file has all events that were ordered" test "$there" -ge "${known:-1}"
    is "killed server: no event is lost or pending" "$(figure "$(file many)" lost)/$(figure "$(file many)" pending)" 0/0
    rm -r r
done
done_testing
