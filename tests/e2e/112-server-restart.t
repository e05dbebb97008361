#!/bin/bash
# A server that was killed and restarted on its own trace file: agents send the events again, none is missing or
# duplicated, and the order is that of an undisturbed run. Events that no agent has are never overwritten.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"

far=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
    done_testing
    exit 0
fi
poet key >/dev/null
cat >turns.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
/* Three threads take turns ROUNDS times: their order is the same each time. */
static sem_t turn[3];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static void *take_turns(void *a)
{
    long own = (long)a;
    for (long i = 0; i < rounds; i++) {
        sem_wait(&turn[own]);
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
        sem_post(&turn[(own + 1) % 3]);
    }
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    rounds = argc > 1 ? atol(argv[1]) : 100;
    for (int i = 0; i < 3; i++)
        sem_init(&turn[i], 0, i == 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -g turns.c -o turns -pthread
server() { # on the same file each time
    rm -f server.sock
    POET_TEST_ORDER_PAUSE="$work/pause" poet server -q -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o all.poet 2>>server.log &
    server=$!
    pids="$pids $server"
    until_true test -S server.sock
}
start_agent() { # start_agent DIRECTORY/ of its journals
    rm -f agent.sock
    poet server -q --to poet://127.0.0.1:$far -l "unix:$work/agent.sock" -o "$1" 2>>agent.log &
    agent=$!
    pids="$pids $agent"
    until_true test -S agent.sock
}
start_agent kept/
cut_off() {
    kill -KILL $server
    wait $server 2>/dev/null
}

touch pause # for the first servers: they receive but do not order, so that the run does not finish
server
POET_SERVER="unix:$work/agent.sock" POET_RUN=job ./turns 5000 &
running=$!
killed=0
grown() { [ "$(stat -c %s all.poet 2>/dev/null || echo 0)" -gt $((20000 * (killed + 1))) ]; }
while [ $killed -lt 5 ]; do
    until_true grown || break
    cut_off
    killed=$((killed + 1))
    server
done
is "the server is killed and restarted on the same file five times before it orders" $killed 5
rm pause
while kill -0 $running 2>/dev/null && [ $killed -lt 20 ] && until_true grown; do # while it orders, if that takes long enough
    cut_off
    killed=$((killed + 1))
    server
done
wait $running
until_true finished all.poet
check "the file of the restarted server passes poet check" sound all.poet
is "the order after restarts is that of the agent's own file, event by event" "$(poet dump all.poet | sort | cksum)" \
    "$(poet dump kept/job-*.poet | sort | cksum)"
poet dump --json all.poet | sed -n 's/^{"event":"\([^"]*\)".*/\1/p' >ids
is "each event occurs once after restarts" "$(sort -u ids | wc -l)" "$(wc -l <ids)"
check "the run has more than 100000 events" test "$(figure all.poet events)" -gt 100000
is "no backup file is made of events that agents have" "$(ls all-before*.poet 2>/dev/null)" ""

# ---- a program on the machine of the server ----
stop_process $agent # or it comes again with its run, to which the file belongs then
cut_off
server
POET_SERVER="unix:$work/server.sock" POET_RUN=own ./turns 100 &
wait $!
of_run() { head -c 48 all.poet | grep -qa "$1"; } # until then the file holds the previous contents
own_ended() { of_run own && finished all.poet; }
until_true own_ended
own=$(figure all.poet events)
cut_off
server
is "no backup file is made of a run that had finished" "$(ls all-before*.poet 2>/dev/null)" ""
POET_SERVER="unix:$work/server.sock" POET_RUN=more ./turns 100000000 &
running=$!
grown() { of_run more && [ "$(stat -c %s all.poet 2>/dev/null || echo 0)" -gt 20000 ]; }
until_true grown
cut_off
kill -KILL $running
wait $running 2>/dev/null
before=$(poet dump all.poet 2>/dev/null | cksum)
server
is "events that only the killed server had are kept in a backup file" "$(poet dump all-before.poet 2>/dev/null | cksum)" "$before"
like "the backup file is reported" "$(cat server.log)" "all.poet: its server was killed; its contents are kept as all-before.poet"
cp all-before.poet other.poet
cut_off
cp other.poet all.poet
server
is "a second backup file takes a free name" "$(ls all-before*.poet | xargs)" "all-before-2.poet all-before.poet"
[ "$own" -gt 500 ] || not_ok "the backup has more than 500 events" "$own"

# ---- a run with all events received, which ends before its agent reconnects ----
cut_off
kill -KILL $agent # the next one has no earlier run that it could bring first
wait $agent 2>/dev/null
rm -f all*.poet
touch pause
server
start_agent last/
POET_SERVER="unix:$work/agent.sock" POET_RUN=over ./turns 100
until_true finished last/over-*.poet
taken() { [ "$(figure all.poet connected) $(figure all.poet events)" = "0 $(figure last/over-*.poet events)" ]; }
check "the server's file has all events of a run that its agent has sent" until_true taken
stop_process $agent
cut_off
rm pause
server
check "a resumed run with all its events ends without its agent" until_true finished "unix:$work/server.sock"
kill -CONT $agent
POET_SERVER="unix:$work/agent.sock" POET_RUN=next ./turns 100
next_ended() { # in that file, or beside it
    for file in all*.poet; do head -c 48 "$file" | grep -qa next && finished "$file" && return; done
    return 1
}
check "an agent that reconnects after the end of its run does not stop the server" until_true next_ended
done_testing
