#!/bin/bash
# Programs, agents and servers are killed and links are cut, twenty times each, at full rate: no event is missing
# or duplicated, and the order is that of the agent's journal, which poet merge orders as well.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"

far=$(free_port)
proxied=$(free_port)
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
    done_testing
    exit 0
fi
poet key >/dev/null
mkdir served kept
server() {
    rm -f server.sock
    POET_TEST_ORDER_PAUSE="$work/pause" poet server -q -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>>server.log &
    server=$!
    pids="$pids $server"
    until_true test -S server.sock
}
agent() {
    rm -f agent.sock
    poet server -q --to "poet://127.0.0.1:$proxied" -l "unix:$work/agent.sock" -o kept/ 2>>agent.log &
    agent=$!
    pids="$pids $agent"
    until_true test -S agent.sock
}
cut_off() {
    kill -KILL "$1"
    wait "$1" 2>/dev/null
}
python3 "$root/tests/e2e/proxy.py" $proxied $far wire.log 2>proxy.err &
proxy=$!
pids="$pids $proxy"
cat >rate.c <<'C'
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static pthread_mutex_t both = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static volatile long done[3]; /* by each thread; the last one is main */
static void *lock_often(void *number)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < rounds; i++, done[(long)number]++) {
        pthread_mutex_t *m = i % 16 ? &own : &both;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    return NULL;
}
static int is_written(const char *file, long bytes)
{
    glob_t found;
    struct stat s;
    int is = glob(file, 0, NULL, &found) == 0 && stat(found.gl_pathv[0], &s) == 0 && s.st_size >= bytes;
    globfree(&found);
    return is;
}
static int is_told_to_end(int ms) { return poll(&(struct pollfd){0, POLLIN, 0}, 1, ms); }
/* rate ROUNDS
 * rate ROUNDS stay|go-on: waits for input before it exits; go-on does a few rounds more now and then
 * rate ROUNDS kill MS [PID FILE]: MS after its threads have done something, or at once if MS is 0, and after
 *   FILE is not empty, it kills the process PID and then itself */
int main(int argc, char **argv)
{
    pthread_t t[2];
    rounds = argc > 1 ? atol(argv[1]) : 0;
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, lock_often, (void *)i);
    if (argc > 3) {
        while (atoi(argv[3]) && (done[0] < 1000 || done[1] < 1000))
            usleep(100);
        while (argc > 5 && !is_written(argv[5], 50000))
            usleep(100);
        usleep(1000 * atoi(argv[3]));
        if (argc > 4)
            kill(atoi(argv[4]), SIGKILL);
        kill(getpid(), SIGKILL);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    rounds = argc > 2 && strcmp(argv[2], "go-on") == 0 ? 100 : 0;
    while (argc > 2 && !is_told_to_end(5))
        lock_often((void *)2);
    return 0;
}
C
poetcc -trace -g rate.c -o rate -pthread
program() { POET_MAX_STALL_MS=10000 POET_SERVER="unix:$work/agent.sock" POET_RUN="$1" exec ./rate $2 $3 $4 $5 $6; }
served() { ls served/"$1"-*.poet 2>/dev/null | head -n 1; }
kept() { ls kept/"$1"-*.poet 2>/dev/null | head -n 1; }
size() { stat -c %s "$1" 2>/dev/null || echo 0; }
begun() { [ -s "$(served "$1")" ]; }
ended() { begun "$1" && finished "$(served "$1")"; }
events() { poet dump "$1" | LC_ALL=C sort | cksum; }
same() { # same NAME RUN FILE
    is "$1: no event is missing or duplicated, and the order is that of the agent's journal" "$(events "$(served "$2")")" "$(events "$3")"
    is "$1: no event is inconsistent or pending" "$(figure "$(served "$2")" inconsistent pending)" "0 0"
    [ "$(figure "$(served "$2")" events)" -gt "$4" ] || not_ok "$1: the run has enough events" "$(figure "$(served "$2")" events)"
}

server
agent
# ---- programs ----
mkfifo stay
program killed 10 stay <stay >/dev/null & # keeps the run open
stays=$!
exec 5>stay
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    (program killed 100000000 kill $((i / 2))) 2>/dev/null
done
echo >&5
exec 5>&-
wait $stays
until_true ended killed
is "the run of the killed programs lists twenty of them and the one that exits" "$(poet stat "$(served killed)" | grep -c '^program')" 21
same "killed programs" killed "$(kept killed)" 20000

# ---- links ----
program cut 20000 go-on <stay >/dev/null & # keeps a connection open that can be cut
running=$!
exec 5>stay
cuts=0
while [ $cuts -lt 20 ]; do
    before=$(size wire.log)
    grown() { [ "$(size wire.log)" -gt "$before" ]; }
    until_true grown || break
    kill -USR1 $proxy
    cuts=$((cuts + 1))
done
echo >&5
exec 5>&-
wait $running
until_true ended cut
is "the link is cut twenty times" $cuts 20
same "cut links" cut "$(kept cut)" 150000

# ---- servers ----
touch pause # the servers receive but do not order, so that the run does not finish
program orders 10000 >/dev/null &
running=$!
kills=0
while [ $kills -lt 20 ]; do
    until_true begun orders || break
    cut_off $server
    kills=$((kills + 1))
    rm -f served/orders-*
    server
done
rm pause
wait $running
until_true ended orders
is "the server is killed twenty times" $kills 20
same "killed servers" orders "$(kept orders)" 70000

# ---- agents ----
mkdir left
differ=0 doubts= much=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    (program "agent$i" 100000000 kill $((4 + i / 2)) $agent "kept/agent$i-*.poet") 2>/dev/null # what is in its queues then is lost with the agent
    wait $agent 2>/dev/null
    cp "$(kept "agent$i")" left/agent$i.poet
    agent
    until_true ended "agent$i"
    poet merge left/agent$i.poet -o merged.poet 2>/dev/null
    [ "$(events "$(served "agent$i")")" = "$(events merged.poet)" ] || differ=$((differ + 1))
    much=$((much + $(figure merged.poet events)))
    doubts=$doubts$(figure merged.poet inconsistent)$(figure merged.poet pending)
done
is "twenty agents are killed: the server has the events of each journal in the same order" $differ 0
check "the runs of the killed agents have more than 20000 events" test $much -gt 20000
is "no event of the killed agents is inconsistent or pending" "$(echo "$doubts" | tr -d 0)" ""
check "poet merge accepts the journals of three killed agents" poet merge left/agent1.poet left/agent2.poet left/agent3.poet -o all.poet
sum=0
for i in 1 2 3; do sum=$((sum + $(figure "$(served agent$i)" events))); done
is "the merged file has the events of all three journals" "$(figure all.poet events)" $sum
done_testing
