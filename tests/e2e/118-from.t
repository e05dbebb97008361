#!/bin/sh
# Servers that read a run from NATS JetStream: any number of them, from its begin, say the same; one that is killed begins again.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"
printf 'max_payload: 4096\n' >small.conf
nats_start -1 -c "$work/small.conf"

said() { grep -q -- "$2" "$1.log"; }
reader a both
check "no stream yet: one line" until_true said a "$url: the stream poet-both does not exist; an agent creates it"

# ---- two agents, messages that are smaller than batches, two servers ----
agent one
first=$agent
agent two
second=$agent
export WAIT_FOR="$work/both.go" # or whichever is there alone may end the run
program one both 20000 &
running=$!
program two both 20000 &
other=$!
both_there() { poet runs --json "unix:$work/a.sock" | grep '"both"' | grep -q '"connected":2'; }
until_true both_there
touch "$WAIT_FOR"
unset WAIT_FOR
wait $running $other
check "two agents: the end comes" until_true ended a both
check "sound" sound "$(read_by a both)"
reader b both
check "a second server reads it all" until_true ended b both
is "they say the same" "$(by_name "$(read_by a both)")" "$(by_name "$(read_by b both)")"
poet merge one-kept/both-*.poet two-kept/both-*.poet -o merged.poet
is "as one server that orders both" "$(figure "$(read_by a both)" events)" "$(figure merged.poet events)"

# ---- the reading server is killed in the middle ----
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
check "the reading server was killed: the next one reads from the begin" until_true ended c left
is "nothing is missing" "$(sorted "$(read_by c left)")" "$(sorted "$(kept one left)")"
kill $first $second
wait $first $second 2>/dev/null

# ---- who may ----
nats_kill
printf 'authorization { user: anna, password: open }\n' >users.conf
nats_start -1 -c "$work/users.conf"
agent wrong
check "nobody in particular: one line" until_true said wrong "authentication failed: check USER:PASSWORD@"
kill $agent
at=${url#nats://}
agent right "nats://anna:open@$at"
reader d mine "nats://anna:open@$at"
program right mine 100
check "a user and a password" until_true ended d mine
is "which are not in the logs" "$(cat right.log d.log | grep -c open@)" 0
kill $agent
wait $agent 2>/dev/null
nats_kill

# ---- no room ----
printf 'jetstream { max_file_store: 20000 }\n' >few.conf
rm -rf nats
nats_start -1 -c "$work/few.conf"
agent few
program few much 20000
check "no room: one line says what to do" until_true said few "the stream poet-much is full; increase its limits"
is "once" "$(grep -c "is full" few.log)" 1
nats_kill
printf 'jetstream { max_file_store: 200000000 }\n' >few.conf
nats_start "$nats_port" -c "$work/few.conf"
reader few-r much
check "where there is room again it all comes" until_true ended few-r much
is "nothing is missing" "$(sorted "$(read_by few-r much)")" "$(sorted "$(kept few much)")"
done_testing
