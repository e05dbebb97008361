#!/bin/bash
# A server that was killed and restarted resumes its trace file: agents send only what is missing, no event is
# duplicated, and the order is that of an undisturbed run.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"

far=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
    done_testing
    exit 0
fi
poet key >/dev/null
cat >rate.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t both = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static void *lock_often(void *a)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_t *m = i % 16 ? &own : &both;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    return a;
}
/* rate ROUNDS: two threads at full rate, two more for each byte that is read, and at the end two for a tenth of it */
static void both_threads(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, lock_often, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}
int main(int argc, char **argv)
{
    rounds = argc > 1 ? atol(argv[1]) : 100;
    both_threads();
    while (getchar() == '.')
        both_threads();
    rounds /= 10;
    both_threads();
    return 0;
}
C
poetcc -trace -g rate.c -o rate -pthread && cp rate portions
server() { # on the same file each time
    rm -f server.sock
    poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o "${1:-all.poet}" 2>>server.log &
    server=$!
    pids="$pids $server"
    until_true test -S server.sock
}
agent() {
    rm -f "$1.sock"
    poet server --to poet://127.0.0.1:$far -l "unix:$work/$1.sock" -o "$1-kept/" 2>>"$1.log" &
    agent=$!
    pids="$pids $agent"
    until_true test -S "$1.sock"
}
cut_off() {
    kill -KILL $server
    wait $server 2>/dev/null
}
events() { poet dump "$1" | LC_ALL=C sort | cksum; }
# kill_five SOCKET KILL START...: five times, kills the server of that socket (KILL) once it has recorded so many events
# more, lets the program do another batch, of more events than that, and starts the next server (START...). (The file's
# size would not do: it has space for what is to come, and space of earlier states is used again.)
kill_five() {
    local socket=$1 kill=$2 wanted=20000
    shift 2
    grown() { local events; events=$(figure "unix:$work/$socket" events) && [ "${events:-0}" -gt $wanted ]; }
    for killed in 0 1 2 3 4; do
        until_true grown || return
        $kill
        more
        "$@"
        wanted=$((wanted + 20000 + killed * 37777 % 50000))
    done
    killed=5
}
# read_of: the bytes that the newest server has read from agents, once they have disconnected
read_of() { sed -n '/listening on poet/h;/listening on poet/!H;${x;p}' server.log | sed -n 's/.* disconnected after \([0-9]*\) bytes.*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }'; }
begin() { # begin RUN ROUNDS [AGENT]
    mkfifo "$1.fifo"
    POET_SERVER="unix:$work/${3:-one}.sock" POET_RUN="$1" ./portions "$2" <"$1.fifo" >/dev/null &
    running=$!
    exec 5>"$1.fifo"
}
more() { printf . >&5; } # lets the program do another batch of rounds: there is always more to come
go_on() { # lets the program run to its end
    echo >&5
    exec 5>&-
    wait $running
}
leave() {
    kill $agent
    wait $agent 2>/dev/null
    gone() { sed -n '/listening on poet/h;/listening on poet/!H;${x;p}' server.log | grep -q ' disconnected after '; }
    until_true gone
}

# ---- an undisturbed run, to measure the bytes of a whole transfer ----
server whole.poet
agent one
begin whole 25000
printf ..... >&5
go_on
order_ends whole.poet
leave
whole=$(read_of)
kill $server
wait $server 2>/dev/null
agent one

# ---- killed repeatedly, at full rate ----
server
begin job 25000
kill_five server.sock#job cut_off server
is "the server is killed while it records and restarted on the same file five times" $killed 5
is "each restarted server resumes the file" "$(grep -c 'run 1 "job" resumed: all.poet' server.log)" 5
is "no restarted server rejects the saved state" "$(grep 'cannot resume' server.log)" ""
much() { [ "$(figure "unix:$work/server.sock#job" events)" -gt 1000000 ]; }
check "the restarted server records more than 1000000 events" until_true much
cut_off
server
go_on
order_ends all.poet
leave
check "the resumed file passes poet check" sound all.poet
is "the resumed file has as many events as the agent's journal" "$(figure all.poet events)" "$(figure one-kept/job-*.poet events)"
is "the resumed file has the events and the order of the agent's journal" "$(events all.poet)" "$(events one-kept/job-*.poet)"
is "the resumed file has no inconsistent or pending events" "$(figure all.poet inconsistent pending)" "0 0"
is "no backup file is made of a resumed file" "$(ls all-*.poet 2>/dev/null)" ""
check "agents send less than half of the run again ($(read_of) of $whole bytes)" test "$(read_of)" -lt $((whole / 2))

# ---- files that are not resumed ----
kill $server
wait $server 2>/dev/null
rm -f all*.poet server.sock
agent one
server
begin left 100
some() { [ "$(figure "unix:$work/server.sock#left" events)" -gt 500 ]; }
until_true some
kill -KILL $agent # no agent reconnects for this run
wait $agent 2>/dev/null
like "two servers on one file: the second one exits with an error" "$(poet server -l "unix:$work/second.sock" -o all.poet 2>&1)" "all.poet: in use by another server"
cut_off
left=$(figure all.poet events)
cp all.poet copy.poet
server
is "a restarted server shows the recorded events at once" "$(figure "unix:$work/server.sock#left" events)" "$left"
rm -rf one-kept
agent one
exec 5>&-
POET_SERVER="unix:$work/one.sock" POET_RUN=next ./rate 100 </dev/null >/dev/null
next() { head -c 48 all.poet | grep -qa next && finished all.poet; }
check "another run takes over the file" until_true next
is "the previous contents are kept in a backup file" "$(figure all-before.poet events)" "$left"
is "poet merge accepts the backup file" "$(cp all-before.poet was.poet; poet merge was.poet -o merged.poet && figure merged.poet events)" "$left"
like "the backup file is reported" "$(cat server.log)" "all.poet: another run begins; its contents are kept as all-before.poet"
kill $server $agent
wait $server $agent 2>/dev/null
cp copy.poet all.poet # append a truncated batch to its end
head -c 300 copy.poet | tail -c 172 >>all.poet
server
is "a truncated batch at the end of the file is cut off" "$(figure "unix:$work/server.sock#left" events)" "$left"
cut_off

# ---- the same through NATS ----
. "$root/tests/e2e/nats.sh"
printf 'max_payload: 4096\n' >small.conf # batches are split into messages
nats_start -1 -c "$work/small.conf"
reader() { # on the same file each time
    rm -f reader.sock
    poet server --from "$url#$1" -l "unix:$work/reader.sock" -o read.poet 2>>reader.log &
    reader=$!
    pids="$pids $reader"
    until_true test -S reader.sock
}
cut_off_reader() {
    kill -KILL $reader
    wait $reader 2>/dev/null
}
agent three
reader parts
begin parts 60000 three
kill_five reader.sock#parts cut_off_reader reader parts
go_on
order_ends read.poet
is "NATS: the reading server is killed while it records and restarted on the same file five times" $killed 5
is "NATS: each restarted server resumes the file" "$(grep -c 'run 1 "parts" resumed: read.poet' reader.log)" 5 || cat reader.log
check "NATS: the resumed file passes poet check" sound read.poet
is "NATS: the resumed file has the events and the order of the agent's journal" "$(events read.poet)" "$(events three-kept/parts-*.poet)"
is "NATS: no backup file is made of a resumed file" "$(ls read-*.poet 2>/dev/null)" ""
sed -n 's/.*is read from its message \([0-9]*\) on.*/\1/p' reader.log >began
is "NATS: each restarted server begins to read where the previous one stopped" "$(sort -n began | cksum)" "$(cksum <began)"
check "NATS: the last restarted server does not read from the begin of the stream" test "$(tail -n 1 began)" -gt 1
kill $reader
wait $reader 2>/dev/null
nats_kill
done_testing
