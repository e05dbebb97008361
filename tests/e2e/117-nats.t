#!/bin/bash
# Agents forward to NATS JetStream and a server reads from there: the resulting trace is that of a direct
# connection, whichever process is killed meanwhile.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"

# ---- wrong usage ----
like "--to with a malformed port: the error names the form of an endpoint" "$(poet server --to nats://nowhere:x 2>&1)" "^poet server: nats://nowhere:x: invalid endpoint; use nats://HOST:PORT"
like "--from without a run: the error names the form with a run" "$(poet server --from nats://nowhere:1 2>&1)" "missing run; use nats://nowhere:1#RUN"
like "--from and --to exclude each other" "$(poet server --from nats://nowhere:1#a --to nats://nowhere:1 2>&1)" "--from and --to exclude each other"
said() { grep -q -- "$2" "$1.log"; }
agent unknown nats://user:secret@nowhere.invalid:1
check "unknown host: the error says to check the name" until_true said unknown "nats://nowhere.invalid:1: .*check the host name; events are kept"
kill $agent
wait $agent
is "unknown host: the error is printed once and without the password" "$(grep -c invalid unknown.log):$(grep -c secret unknown.log)" 1:0
nats_start
kept_url=$url
nats_kill
agent one
check "no NATS server is listening: the error says how to start one and where events are kept" until_true said one "$url: no server is listening; start nats-server -js there; events are kept in one-kept"

# ---- the NATS server starts, stops and starts again ----
nats_start $nats_port
is "NATS restarts on the same port" "$url" "$kept_url"
reader r first
program one first 1000
check "a run that an agent published is read to its end" until_true ended r first
check "the trace read from NATS passes poet check" sound "$(read_by r first)"
is "the trace read from NATS is equal to the agent's journal" "$(sorted "$(read_by r first)")" "$(sorted "$(kept one first)")"
[ "$(figure "$(kept one first)" events)" -gt 5000 ] || not_ok "the journal has more than 5000 events"
kill $reader
wait $reader 2>/dev/null

reader r killed
program one killed 60000 &
running=$!
for i in 1 2 3; do # when it has grown
    before=$(nats_messages poet-killed)
    grown() { [ "$(nats_messages poet-killed)" -gt "$before" ] || ! kill -0 $running; }
    until_true grown
    nats_kill
    nats_start $nats_port
done
wait $running
check "NATS killed: the run is read to its end" until_true ended r killed
check "NATS killed: the trace passes poet check" sound "$(read_by r killed)"
is "NATS killed: the number of events is that of the journal" "$(figure "$(read_by r killed)" events)" "$(figure "$(kept one killed)" events)"
is "NATS killed: the events are those of the journal" "$(sorted "$(read_by r killed)")" "$(sorted "$(kept one killed)")"
kill $reader
wait $reader 2>/dev/null

# ---- the agent is killed at full rate ----
env POET_SERVER="unix:$work/one.sock" POET_RUN=left ./rate 100000000 2>/dev/null & # (not a function: the program itself is killed)
running=$!
some() { [ "$(nats_messages poet-left)" -gt 300000 ]; }
until_true some
kill -KILL $agent
kill -KILL $running
wait $agent $running 2>/dev/null
cp -r one-kept gone
agent one
like "agent killed: the next agent finds the leftover journal" "$(cat one.log)" "forwarding leftover journal .*one-kept/left-"
reader r left
check "agent killed: the run is read to its end" until_true ended r left
poet merge gone/left-*.poet -o merged.poet
is "agent killed: the number of events is that of the journal" "$(figure "$(read_by r left)" events)" "$(figure merged.poet events)"
is "agent killed: the events are those of the journal" "$(sorted "$(read_by r left)")" "$(sorted merged.poet)"
noted() { ! ls -l "/proc/$agent/fd" | grep -q left-; } # that all of it is acknowledged: the agent has closed the file
until_true noted
kill $agent
wait $agent 2>/dev/null
agent one
is "agent killed: an acknowledged journal is not sent again" "$(grep -c 'leftover journal' one.log)" 1
done_testing
