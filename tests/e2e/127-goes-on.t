#!/bin/sh
# A server that was killed goes on with its file where it got to: agents send what is missing and no more, nothing is there twice, and
# the order is that of a run that nobody disturbed.
. "$(dirname "$0")/lib.sh"

far=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this Poet was built without GnuTLS and zstd"
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
server() { # on the same file, each time
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
size() { stat -c %s "$1" 2>/dev/null || echo 0; }
# bytes of agents that the newest server has read, once they are gone
read_of() { sed -n '/listening on poet/h;/listening on poet/!H;${x;p}' server.log | sed -n 's/.* disconnected after \([0-9]*\) bytes.*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }'; }
begin() { # begin RUN ROUNDS [AGENT]
    mkfifo "$1.fifo"
    POET_SERVER="unix:$work/${3:-one}.sock" POET_RUN="$1" ./portions "$2" <"$1.fifo" >/dev/null &
    running=$!
    exec 5>"$1.fifo"
}
more() { printf . >&5; } # so many rounds: there is always something to come
go_on() { # the program, to its end
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

# ---- undisturbed, for what it takes ----
server whole.poet
agent one
begin whole 25000
printf ..... >&5
go_on
until_true finished whole.poet
leave
whole=$(read_of)
kill $server
wait $server 2>/dev/null
agent one

# ---- killed again and again, at full rate ----
server
begin job 25000
killed=0
while [ $killed -lt 5 ]; do
    more=$(($(size all.poet) + 1 + killed * 37777 % 50000))
    [ $more -gt 20000 ] || more=20000
    grown() { [ "$(size all.poet)" -gt $more ]; }
    until_true grown || break
    cut_off
    killed=$((killed + 1))
    more
    server
done
is "the server was killed in the middle of it, and started on the same file" $killed 5
is "each time it went on" "$(grep -c 'run 1 "job" resumed: all.poet' server.log)" 5
is "and from what was there" "$(grep 'cannot resume' server.log)" ""
much() { [ "$(figure "unix:$work/server.sock#job" events)" -gt 1000000 ]; }
check "and came to most of it" until_true much
cut_off
server
go_on
until_true finished all.poet
leave
check "the end comes: sound" sound all.poet
is "nothing is missing" "$(figure all.poet events)" "$(figure one-kept/job-*.poet events)"
is "nothing twice, and the order is that of one server that nobody killed" "$(events all.poet)" "$(events one-kept/job-*.poet)"
is "nothing contradicts, nothing waits" "$(figure all.poet inconsistent)$(figure all.poet pending)" 00
is "it is kept nowhere else" "$(ls all-*.poet 2>/dev/null)" ""
check "agents did not send it all again (bytes: $(read_of) of $whole)" test "$(read_of)" -lt $((whole / 2))

# ---- what is not to be gone on with ----
kill $server
wait $server 2>/dev/null
rm -f all*.poet server.sock
agent one
server
begin left 100
some() { [ "$(figure "unix:$work/server.sock#left" events)" -gt 500 ]; }
until_true some
kill -KILL $agent # and nobody comes for it any more
wait $agent 2>/dev/null
like "two servers on one file: the second one is told" "$(poet server -l "unix:$work/second.sock" -o all.poet 2>&1)" "all.poet: in use by another server"
cut_off
left=$(figure all.poet events)
cp all.poet copy.poet
server
is "what is there is shown at once" "$(figure "unix:$work/server.sock#left" events)" "$left"
rm -rf one-kept
agent one
exec 5>&-
POET_SERVER="unix:$work/one.sock" POET_RUN=next ./rate 100 </dev/null >/dev/null
next() { head -c 48 all.poet | grep -qa next && finished all.poet; }
check "another run takes the file" until_true next
is "what was there is kept" "$(figure all-before.poet events)" "$left"
is "and can be merged" "$(cp all-before.poet was.poet; poet merge was.poet -o merged.poet && figure merged.poet events)" "$left"
like "which is said" "$(cat server.log)" "all.poet: another run begins; its contents are kept as all-before.poet"
kill $server $agent
wait $server $agent 2>/dev/null
cp copy.poet all.poet # half a batch is at its end, which was not there
head -c 300 copy.poet | tail -c 172 >>all.poet
server
is "what was written in part is cut off" "$(figure "unix:$work/server.sock#left" events)" "$left"
cut_off

# ---- the same through NATS ----
. "$root/tests/e2e/nats.sh"
printf 'max_payload: 4096\n' >small.conf # batches are cut into parts
nats_start -1 -c "$work/small.conf"
reader() { # on the same file, each time
    rm -f reader.sock
    poet server --from "$url#$1" -l "unix:$work/reader.sock" -o read.poet 2>>reader.log &
    reader=$!
    pids="$pids $reader"
    until_true test -S reader.sock
}
agent three
reader parts
begin parts 60000 three
killed=0
while [ $killed -lt 5 ]; do
    more=$(($(size read.poet) + 1 + killed * 37777 % 50000))
    [ $more -gt 20000 ] || more=20000
    grown() { [ "$(size read.poet)" -gt $more ]; }
    until_true grown || break
    kill -KILL $reader
    wait $reader 2>/dev/null
    killed=$((killed + 1))
    more
    reader parts
done
go_on
until_true finished read.poet
is "NATS: the reading server was killed in the middle, and started on the same file" $killed 5
is "each time it went on" "$(grep -c 'run 1 "parts" resumed: read.poet' reader.log)" 5 || cat reader.log
check "sound" sound read.poet
is "nothing is missing, nothing twice, and the order is that of one server" "$(events read.poet)" "$(events three-kept/parts-*.poet)"
is "it is kept nowhere else" "$(ls read-*.poet 2>/dev/null)" ""
sed -n 's/.*is read from its message \([0-9]*\) on.*/\1/p' reader.log >began
is "where it was, and no earlier" "$(sort -n began | cksum)" "$(cksum <began)"
check "not from the begin" test "$(tail -n 1 began)" -gt 1
kill $reader
wait $reader 2>/dev/null
nats_kill
done_testing
