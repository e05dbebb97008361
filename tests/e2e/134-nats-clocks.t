#!/bin/bash
# Clocks of hosts with agents that publish through NATS: a reading server exchanges messages with all of them, and the
# bounds contain the true offsets, even if readers are killed and restarted.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"
. "$root/tests/e2e/clocks.sh"

nats_start
for h in A B C D; do
    on $h poet server --to "$url" -l "unix:$work/$h.sock" -o "kept-$h/" 2>$h.log &
    pids="$pids $!"
    until_true test -S $h.sock
done
# The reader has another clock; no program runs on its host.
read_it() { # read_it RUN SOCKET FILE
    rm -f "$2.sock"
    POET_TEST_CLOCK="-2500000000,120,$since,reader-$2" poet server --from "$url#$1" -l "unix:$work/$2.sock" -o "$3" 2>>"$2.log" &
    reader=$!
    pids="$pids $reader"
    until_true test -S "$2.sock"
}
one_way=yes
read_it once server once.poet
ring once 200 B C
until_true finished once.poet
is "one-way messages: exchanges with the reader give the clock bounds" "$(truth once.poet B C)" \
    "2 clocks, 0 unknown, wrong: none; 200 messages, 0 before they went; within 1 s"
kill $reader
wait $reader

one_way=
read_it four server four.poet
read_it four second second.poet
ring four 400 A B C D
until_true finished four.poet
until_true finished second.poet
four="4 clocks, 0 unknown, wrong: none; 1600 messages, 0 before they went; within 1 s"
is "four hosts: clock bounds contain the true offsets" "$(truth four.poet A B C D)" "$four"
is "four hosts: a second reader has the same result" "$(truth second.poet A B C D)" "$four"

again() { # kills the reader and starts another one on its file
    kill -KILL $reader
    wait $reader 2>/dev/null
    read_it round server round.poet
    until_true all_there
}
meanwhile=again
read_it round server round.poet
ring round 400 D A B
until_true finished round.poet
is "reader killed and restarted: clock bounds contain the true offsets" "$(truth round.poet D A B)" \
    "3 clocks, 0 unknown, wrong: none; 1200 messages, 0 before they went; within 1 s"

# A reader that starts after the agents have exited has only the messages of the programs.
read_it once late late.poet
until_true finished late.poet
like "reader started after the agents exited: wrong bounds are not given" "$(truth late.poet B C)" "^2 clocks, [01] unknown, wrong: none; 200 messages, 0 before they went"
done_testing
