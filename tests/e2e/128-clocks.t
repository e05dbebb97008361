#!/bin/bash
# Clocks of hosts that are seconds apart and drift: estimated bounds contain the true offsets, and no message
# arrives before it was sent.
. "$(dirname "$0")/lib.sh"

if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
    done_testing
    exit 0
fi
. "$root/tests/e2e/clocks.sh"
served() { ls served/"$1"-*.poet 2>/dev/null | head -n 1; }
ended() { [ -s "$(served "$1")" ] && finished "$(served "$1")"; }

poet key >/dev/null
far=$(free_port)
poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>server.log &
pids="$pids $!"
until_true poet runs "unix:$work/server.sock"
for h in A B C D; do
    on $h poet server --to "poet://127.0.0.1:$far" -l "unix:$work/$h.sock" -o "kept-$h/" 2>$h.log &
    pids="$pids $!"
    until_true test -S $h.sock
    until_true grep "the agent of $h connected" server.log
done
one_way=
ring four 400 A B C D
until_true ended four
is "four hosts: no event is lost, pending or inconsistent" "$(figure "$(served four)" lost pending inconsistent)" "0 0 0"
is "four hosts: clock bounds contain the true offsets, and no message arrives before it was sent" "$(truth "$(served four)" A B C D)" \
    "4 clocks, 0 unknown, wrong: none; 1600 messages, 0 before they went; within 1 s"
like "poet stat shows offset, bound and drift of each clock" "$(poet stat "$(served four)" | grep '^host')" 'clock [+-][0-9.]+ s, within [0-9.]+ us, drift [+-][0-9.]+ ppm, within'
is "poet stat marks the first host as the reference clock" "$(poet stat "$(served four)" | grep -c '(reference clock)')" 1

ring long 5000 A B C D
until_true ended long
is "fast drift: clock bounds contain the true offsets, and no message arrives before it was sent" "$(truth "$(served long)" A B C D)" \
    "4 clocks, 0 unknown, wrong: none; 20000 messages, 0 before they went; within 1 s"

# The programs send in one direction only; the exchanges of the server with its agents relate their clocks.
one_way=yes
ring once 30 B C
until_true ended once
is "one-way messages with a server: exchanges with the agents give the clock bounds" "$(truth "$(served once)" B C)" \
    "2 clocks, 0 unknown, wrong: none; 30 messages, 0 before they went; within 1 s"

# The journals of the agents alone: no server exchanged messages with them.
poet merge kept-B/once-*.poet kept-C/once-*.poet -o merged.poet
is "one-way messages without a server: one clock is unknown" "$(truth merged.poet B C)" \
    "2 clocks, 1 unknown, wrong: none; 30 messages, 0 before they went; within 1 s"
like "poet stat names an unknown clock" "$(poet stat merged.poet)" "clock unknown: no two-way messages"
poet merge kept-?/four-*.poet -o merged4.poet
is "one-way messages in a ring: no message arrives before it was sent" "$(truth merged4.poet A B C D | sed 's/.*messages, //')" \
    "0 before they went; within 1 s"
one_way=
ring two 400 D A
until_true ended two
poet merge kept-D/two-*.poet kept-A/two-*.poet -o merged2.poet
is "two-way messages without a server: clock bounds contain the true offsets" "$(truth merged2.poet D A)" \
    "2 clocks, 0 unknown, wrong: none; 800 messages, 0 before they went; within 1 s"
done_testing
