#!/bin/bash
# make cluster-soak N=100 CUTS=20: in each of N rounds a program, its agent, the server and NATS between them are killed
# (kill -9), and in CUTS of them the link is cut for a while; then the server must have each event that the agent's journal holds, once,
# in the order that poet merge finds for that journal.  SAY=1 tells of each round; ORACLE=COMMAND, in which FILE is
# the server's, is run every tenth round.
# usage: cluster-soak.sh N CUTS
n=${1:-100} cuts=${2:-20}
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/nats.sh"
# (a quarter of a million events a second: what is compared in each round stays small)
sed 's/^#include <stdlib.h>/&\n#include <unistd.h>/; s/        pthread_mutex_lock(m);/        if (i % 16 == 0) usleep(1000);\n&/' rate.c >paced.c
poetcc -trace -g paced.c -o paced -pthread
nats_start
proxied=$(free_port)
python3 "$root/tests/e2e/proxy.py" "$proxied" "$nats_port" wire.log 2>proxy.err &
proxy=$!
pids="$pids $proxy"
through=nats://127.0.0.1:$proxied
moment() { sleep "0.0$((RANDOM % 9 + 1))"; }
grown() { [ "$(nats_messages "poet-$run")" -gt "$before" ]; }
start_reader() {
    rm -f r.sock
    poet server --from "$url#$run" -l "unix:$work/r.sock" -o "$run.poet" 2>>reader.log &
    reader=$!
    pids="$pids $reader"
}
cut_link() { # for up to two seconds
    kill -USR1 $proxy
    kill -STOP $proxy
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    kill -CONT $proxy
}
gone() { kill -KILL "$@" 2>/dev/null; wait "$@" 2>/dev/null; }
whole() { [ -s "$run.poet" ] && finished "$run.poet"; }

events=0 killed=0 cut=0
agent a "$through"
for round in $(seq "$n"); do
    run=soak$round
    start_reader
    env POET_SERVER="unix:$work/a.sock" POET_RUN=$run ./paced 1000000000 2>>program.log &
    steady=$!
    before=0
    until_true grown
    env POET_SERVER="unix:$work/a.sock" POET_RUN=$run ./paced 1000000000 2>>program.log &
    moment
    gone $!
    gone $reader
    start_reader
    moment
    gone $nats_pid
    nats_start "$nats_port"
    if [ $((round * cuts / n)) -gt $(((round - 1) * cuts / n)) ]; then
        cut_link
        cut=$((cut + 1))
    fi
    moment
    gone $agent
    gone $steady
    killed=$((killed + 1))
    [ -z "$SAY" ] || echo "# round $round: $(wc -c <"$(ls a-kept/$run-*.poet | head -n 1)") bytes in the journal, at $SECONDS s"
    rm -rf gone merged.poet
    mkdir gone
    cp a-kept/$run-*.poet gone/
    agent a "$through"
    if ! until_true whole; then
        not_ok "round $round: the end comes" "$(tail -n 3 a.log reader.log)"
        break
    fi
    poet merge gone/$run-*.poet -o merged.poet
    bad=$(figure "$run.poet" inconsistent):$(figure "$run.poet" pending)
    [ "$bad" = 0:0 ] || not_ok "round $round: inconsistent events, pending" "$bad"
    [ "$(sorted "$run.poet")" = "$(sorted merged.poet)" ] ||
        not_ok "round $round: each event once, in its order" "$(figure "$run.poet" events) events, $(figure merged.poet events) in the journal"
    [ $((round % 10)) = 0 ] && [ -n "$ORACLE" ] && { said=$(${ORACLE//FILE/$run.poet} 2>&1) || not_ok "round $round: $ORACLE" "$said"; }
    events=$((events + $(figure "$run.poet" events)))
    gone $reader
    rm -f "$run.poet" a-kept/$run-*.poet wire.log*
    rm -rf nats/jetstream/*/streams/"poet-$run"
done
kill $agent
echo "# $killed of each of program (twice), agent, server and nats-server killed, $cut links cut: $events events"
grep -h "ERROR: \|WARNING: ThreadSanitizer\|runtime error" ./*.log && not_ok "a sanitizer has something to say" "$(grep -h -A 30 "ERROR: \|WARNING: ThreadSanitizer\|runtime error" ./*.log | head -n 80)"
[ $count -gt 0 ] || ok "nothing is missing, twice, or in another order"
done_testing
