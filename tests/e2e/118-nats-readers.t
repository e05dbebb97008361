#!/bin/bash
# Servers that read a run from NATS JetStream: any number of them read it from its begin and get the same trace;
# one that was killed starts at the begin again.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"
printf 'max_payload: 4096\n' >small.conf
nats_start -1 -c "$work/small.conf"

said() { grep -q -- "$2" "$1.log"; }
reader a both
check "missing stream: the message says that an agent creates it" until_true said a "$url: the stream poet-both does not exist; an agent creates it"

# ---- two agents, messages that are smaller than batches, two servers ----
agent one
first=$agent
agent two
second=$agent
export WAIT_FOR="$work/both.go" # an agent that is alone could end the run
program one both 20000 &
running=$!
program two both 20000 &
other=$!
both_there() { poet runs --json "unix:$work/a.sock" | grep '"both"' | grep -q '"connected":2'; }
until_true both_there
touch "$WAIT_FOR"
unset WAIT_FOR
wait $running $other
check "two agents: the run is read to its end" until_true ended a both
check "two agents: the trace passes poet check" sound "$(read_by a both)"
reader b both
check "two agents: a second server reads the run to its end" until_true ended b both
is "two agents: both servers have the same trace" "$(by_name "$(read_by a both)")" "$(by_name "$(read_by b both)")"
poet merge one-kept/both-*.poet two-kept/both-*.poet -o merged.poet
is "two agents: the number of events is that of poet merge" "$(figure "$(read_by a both)" events)" "$(figure merged.poet events)"

# ---- the reading server is killed before the end ----
reader c left
program one left 100000 &
running=$!
begun() { [ -s "$(read_by c left)" ]; }
until_true begun
kill -KILL $reader
wait $reader 2>/dev/null
mv c-read killed
reader c left
wait $running
check "reading server killed: the next one reads the run from its begin" until_true ended c left
is "reading server killed: no event is missing" "$(sorted "$(read_by c left)")" "$(sorted "$(kept one left)")"
kill $first $second
wait $first $second 2>/dev/null

# ---- authentication ----
nats_kill
printf 'authorization { user: anna, password: open }\n' >users.conf
nats_start -1 -c "$work/users.conf"
agent wrong
check "no user and password: the error says that authentication failed" until_true said wrong "authentication failed: check USER:PASSWORD@"
kill $agent
at=${url#nats://}
agent right "nats://anna:open@$at"
reader d mine "nats://anna:open@$at"
program right mine 100
check "user and password in the URL: the run is read to its end" until_true ended d mine
is "user and password in the URL: logs do not contain them" "$(cat right.log d.log | grep -c open@)" 0
kill $agent
wait $agent 2>/dev/null
nats_kill

# ---- a full stream ----
printf 'jetstream { max_file_store: 20000 }\n' >few.conf
rm -rf nats
nats_start -1 -c "$work/few.conf"
agent few
program few much 20000
check "full stream: the error says to increase its limits" until_true said few "the stream poet-much is full; increase its limits"
is "full stream: the error is printed once" "$(grep -c "is full" few.log)" 1
nats_kill
printf 'jetstream { max_file_store: 200000000 }\n' >few.conf
nats_start "$nats_port" -c "$work/few.conf"
reader few-r much
check "full stream: forwarding continues after the limits were increased" until_true ended few-r much
is "full stream: no event is missing" "$(sorted "$(read_by few-r much)")" "$(sorted "$(kept few much)")"
done_testing
