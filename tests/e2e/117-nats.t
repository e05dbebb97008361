#!/bin/sh
# Agents forward to NATS JetStream, and a server reads from there: what comes out is as if the programs had spoken to it,
# whatever is killed meanwhile.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"

# ---- what cannot be ----
like "no port" "$(poet server --to nats://nowhere:x 2>&1)" "^poet server: nats://nowhere:x: invalid endpoint; use nats://HOST:PORT"
like "no run" "$(poet server --from nats://nowhere:1 2>&1)" "missing run; use nats://nowhere:1#RUN"
like "an agent does not read" "$(poet server --from nats://nowhere:1#a --to nats://nowhere:1 2>&1)" "--from and --to exclude each other"
said() { grep -q -- "$2" "$1.log"; }
agent unknown nats://somebody:secret@nowhere.invalid:1
check "unknown host: one line" until_true said unknown "nats://nowhere.invalid:1: .*check the host name; events are kept"
kill $agent
wait $agent
is "said once, and no password" "$(grep -c invalid unknown.log):$(grep -c secret unknown.log)" 1:0
nats_start
kept_url=$url
nats_kill
agent one
check "nobody there: one line says what to do" until_true said one "$url: no server is listening; start nats-server -js there; events are kept in one-kept"

# ---- it comes, and goes, and comes ----
nats_start $nats_port
is "on the same port" "$url" "$kept_url"
reader r first
program one first 1000
check "what an agent published is read" until_true ended r first
check "sound" sound "$(read_by r first)"
is "the same as the agent's own file" "$(sorted "$(read_by r first)")" "$(sorted "$(kept one first)")"
[ "$(figure "$(kept one first)" events)" -gt 5000 ] || not_ok "there was something to compare"
kill $reader
wait $reader 2>/dev/null

reader r killed
program one killed 60000 &
running=$!
for i in 1 2 3; do # killed when there is more of it than before
    before=$(nats_messages poet-killed)
    grown() { [ "$(nats_messages poet-killed)" -gt "$before" ] || ! kill -0 $running; }
    until_true grown
    nats_kill
    nats_start $nats_port
done
wait $running
check "NATS was killed: the end comes" until_true ended r killed
check "sound" sound "$(read_by r killed)"
is "nothing is missing, nothing twice" "$(figure "$(read_by r killed)" events)" "$(figure "$(kept one killed)" events)"
is "and each event is there" "$(sorted "$(read_by r killed)")" "$(sorted "$(kept one killed)")"
kill $reader
wait $reader 2>/dev/null

# ---- the agent is killed at full rate ----
env POET_SERVER="unix:$work/one.sock" POET_RUN=left ./rate 100000000 2>/dev/null & # (no function: it is killed itself)
running=$!
some() { [ "$(nats_messages poet-left)" -gt 300000 ]; }
until_true some
kill -KILL $agent
kill -KILL $running
wait $agent $running 2>/dev/null
cp -r one-kept gone
agent one
like "what was left is found" "$(cat one.log)" "forwarding leftover journal .*one-kept/left-"
reader r left
check "the next one goes on to the end" until_true ended r left
poet merge gone/left-*.poet -o merged.poet
is "nothing is missing" "$(figure "$(read_by r left)" events)" "$(figure merged.poet events)"
is "line by line" "$(sorted "$(read_by r left)")" "$(sorted merged.poet)"
noted() { ! ls -l "/proc/$agent/fd" | grep -q left-; } # that all of it is there: it has no use for the file any more
until_true noted
kill $agent
wait $agent 2>/dev/null
agent one
is "what is acknowledged is not sent again" "$(grep -c 'leftover journal' one.log)" 1
done_testing
