#!/bin/bash
# An agent forwards events to a server by TLS: the trace equals that of a direct connection, through kills and cut
# links; and no client without the key connects or can read the traffic.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"

if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this Poet was built without GnuTLS and zstd"
    done_testing
    exit 0
fi
far=$(free_port)
proxied=$(free_port)

# ---- the key ----
unset POET_KEY_FILE
like "without a key an agent refuses to start" "$(poet server --to poet://127.0.0.1:$far 2>&1)" \
    "^poet server: no key \($work/.config/poet/key\); create one with poet key"
like "without a key a server does not listen on the network" "$(poet server -l poet://0.0.0.0:$far 2>&1)" "no key .* create one with poet key"
like "a server never listens without encryption" "$(poet server -l tcp:127.0.0.1:$far 2>&1)" "^poet server: tcp:127.0.0.1:$far: unencrypted connections are not supported"
is "poet key creates a key" "$(poet key)" "$work/.config/poet/key"
is "the key is readable by its owner only" "$(stat -c %a:%s "$work/.config/poet/key")" 600:65
like "poet key does not overwrite a key" "$(poet key 2>&1)" "already exists"
is "POET_KEY_FILE selects another file" "$(POET_KEY_FILE=$work/other poet key)" "$work/other"
like "a key that others can read is refused" "$(chmod 644 other; POET_KEY_FILE=$work/other poet server --to poet://127.0.0.1:$far 2>&1)" "key is readable by others"
chmod 600 other
like "agent: an unknown host is reported" "$(poet server --to poet://nowhere.invalid:1 2>&1)" "^poet server: poet://nowhere.invalid:1: .*check the host name"
like "agent: an address without a port is refused" "$(poet server --to poet://nowhere 2>&1)" "use poet://HOST:PORT"
like "agent: an unencrypted address is refused" "$(poet server --to tcp:127.0.0.1:1 2>&1)" "an agent forwards to poet://HOST:PORT"
like "agent: -o must be a directory" "$(poet server --to poet://127.0.0.1:$far -o file.poet 2>&1)" "append /"

# ---- agent and server ----
server() {
    POET_TEST_ORDER_PAUSE="$work/pause" poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o "${1:-served/}" 2>>server.log &
    server=$!
    pids="$pids $server"
    until_true poet runs "unix:$work/server.sock"
}
is_agent() { poet runs "unix:$work/$1.sock" 2>&1 | grep -q 'this is a forwarding agent'; } # it is listening
agent() { # agent PORT
    rm -f agent.sock
    poet server --to "poet://127.0.0.1:$1" -l "unix:$work/agent.sock" -o kept/ 2>>agent.log &
    agent=$!
    pids="$pids $agent"
    until_true is_agent agent
}
python3 "$root/tests/e2e/proxy.py" $proxied $far wire.log 2>proxy.err &
proxy=$!
pids="$pids $proxy"

cat >rate.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t unmistakable = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static void *unmistakable_thread(void *a)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_t *m = i % 64 ? &own : &unmistakable;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    rounds = argc > 1 ? atol(argv[1]) : 100;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, unmistakable_thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    puts("done");
    return 0;
}
EOF
cat >serial.c <<'EOF'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *a)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return a;
}
int main(void)
{
    for (int i = 0; i < 5; i++) {
        pthread_t t;
        pthread_create(&t, NULL, one, NULL);
        pthread_join(t, NULL);
    }
    return 0;
}
EOF
poetcc -trace -g rate.c -o rate -pthread && poetcc -trace -g serial.c -o serial -pthread

program() { POET_SERVER="unix:$work/agent.sock" POET_RUN="$1" "$2" ${3:+"$3"}; }
# The one file of a run.
served() { ls served/"$1"-*.poet 2>/dev/null | head -n 1; }
kept() { ls kept/"$1"-*.poet 2>/dev/null | head -n 1; }
begun() { [ -s "$(served "$1")" ]; }
ended() { begun "$1" && finished "$(served "$1")"; }
# The text of an event without its time, the addresses of that run, and its line numbers.
plain() { poet dump "$1" | sed 's/  *[0-9]*\.[0-9]*  */ /; s/ (0x[0-9a-f]*)//g; s/+0x[0-9a-f]*//; s/[0-9]*:\([0-9]\)/:\1/g' | sort; }

server
agent $proxied
is "a server for other hosts, and an agent, have the process name of a server" \
    "$(cat /proc/$server/comm /proc/$agent/comm | uniq)" poet-server
program one ./serial
until_true ended one
check "a run through an agent: the trace is sound" sound "$(served one)"
is "a run through an agent: the dump equals that of the agent's journal" "$(poet dump "$(served one)" | cksum)" "$(poet dump "$(kept one)" | cksum)"
POET_SERVER="unix:$work/server.sock" POET_RUN=two ./serial
until_true ended two
is "a run through an agent: the dump equals that of a direct run" "$(plain "$(served one)" | cksum)" "$(plain "$(served two)" | cksum)"
[ "$(plain "$(served one)" | wc -l)" -gt 500 ] || not_ok "a run through an agent: the dump has more than 500 lines"
like "an agent refuses viewers and names its server" "$(poet runs "unix:$work/agent.sock" 2>&1)" "this is a forwarding agent; connect to the server at poet://127.0.0.1:$proxied"

# ---- remote viewers ----
is "poet dump by TLS equals that of the file" "$(poet dump "poet://127.0.0.1:$far#one" | cksum)" "$(poet dump "$(served one)" | cksum)"
like "a client with another key is refused in one line" "$(POET_KEY_FILE=$work/other poet runs poet://127.0.0.1:$far 2>&1)" \
    "^poet runs: poet://127.0.0.1:$far: key mismatch: the key file must be a copy of the server's"
like "a client without a key is refused" "$(POET_KEY_FILE=$work/none poet runs poet://127.0.0.1:$far 2>&1)" "^poet runs: no key \($work/none\); create one with poet key"
like "a connection without a server is reported" "$(poet runs poet://127.0.0.1:1 2>&1)" "no server is listening; start: poet server --listen"

# ---- the link is cut several times ----
program cut ./rate 20000 >/dev/null &
running=$!
for i in 1 2 3 4 5; do
    grown() { [ "$(wc -c <wire.log)" -gt "$before" ]; }
    before=$(wc -c <wire.log)
    until_true grown || break
    kill -USR1 $proxy
    kill -0 $running 2>/dev/null || break
done
wait $running
until_true ended cut
check "cut link: the trace is sound" sound "$(served cut)"
is "cut link: no event is missing or duplicated" "$(figure "$(served cut)" events)" "$(figure "$(kept cut)" events)"
is "cut link: every event equals that of the journal" "$(poet dump "$(served cut)" | sort | cksum)" "$(poet dump "$(kept cut)" | sort | cksum)"
is "the traffic does not contain a thread's name in the clear" "$(grep -c -a unmistakable wire.log)" 0
is "the file contains that thread's name" "$(poet dump "$(served cut)" | grep -c -m 1 unmistakable)" 1

# ---- the server is killed ----
touch pause # it has received what it has not ordered
program killed ./rate 20000 >/dev/null &
running=$!
until_true begun killed
kill -KILL $server
wait $server 2>/dev/null
rm pause
mv served before
mkdir served
server
wait $running
until_true ended killed
check "killed server: the trace is sound" sound "$(served killed)"
is "killed server: the new server's file has every event of the journal" "$(poet dump "$(served killed)" | sort | cksum)" "$(poet dump "$(kept killed)" | sort | cksum)"

# ---- the server is down, and the agent is killed at full rate ----
kill $server
wait $server 2>/dev/null
env POET_SERVER="unix:$work/agent.sock" POET_RUN=left ./rate 100000000 >/dev/null 2>&1 &
running=$!
grown() { [ "$(stat -c %s "$(kept left)")" -gt 3000000 ]; }
until_true grown
kill -KILL $agent
wait $agent 2>/dev/null
kill -KILL $running
wait $running 2>/dev/null
mv kept gone
mkdir kept
cp gone/left-*.poet kept/
agent $proxied
server
check "killed agent: the leftover journal is found" until_true grep 'forwarding leftover journal .*kept/left-' agent.log
until_true ended left
acknowledged() { ! cmp -s kept/left-*.poet gone/left-*.poet; } # the agent then marks its file
until_true acknowledged
# Events that were in the queues then are lost: the program was killed, too.
is "killed agent: no event is inconsistent or pending" "$(figure "$(served left)" inconsistent pending)" "0 0"
poet merge gone/left-*.poet -o merged.poet
is "killed agent: no event of the journal is missing" "$(figure "$(served left)" events)" "$(figure merged.poet events)"
is "killed agent: every event equals that of the journal" "$(poet dump "$(served left)" | sort | cksum)" "$(poet dump merged.poet | sort | cksum)"
[ "$(figure merged.poet events)" -gt 10000 ] || not_ok "killed agent: the journal has more than 10000 events"
kill -KILL $agent
wait $agent 2>/dev/null
from=$(wc -l <agent.log)
agent $proxied
goes_on() { tail -n +$((from + 1)) agent.log | grep -E "connected to|listening"; }
check "killed agent: the restarted agent is running" until_true goes_on
is "killed agent: acknowledged events are not sent again" "$(grep -c 'leftover journal' agent.log)" 1

# ---- unauthorized peers ----
POET_KEY_FILE=$work/other poet server --to poet://127.0.0.1:$far -o strange/ -l "unix:$work/s.sock" 2>strange.log &
strange=$!
pids="$pids $strange"
check "another key: the agent reports it in one line" until_true grep \
    "poet://127.0.0.1:$far: key mismatch: .*the key file must be a copy of the server's" strange.log
kill $strange
wait $strange 2>/dev/null
check "another key: the server logs the peer" until_true grep "127.0.0.1 port [0-9]*: key mismatch: .*: dropped" server.log
lines=$(wc -l <server.log)
python3 - $far >strangers.out <<'EOF'
import socket, ssl, sys
for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
    c.minimum_version = c.maximum_version = version
    try:
        c.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
        print("let in")
    except (ssl.SSLError, OSError) as e:
        print("refused")
EOF
dropped() { [ "$(tail -n +$((lines + 1)) server.log | grep -c dropped)" -ge "$1" ]; }
check "an older TLS, and a client without the key: refused and logged" until_true dropped 2
lines=$(wc -l <server.log)
python3 -c '
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(open("wire.log.client", "rb").read())
while s.recv(4096):
    pass' $far 2>/dev/null
check "a replayed connection: refused and logged" until_true dropped 1
lines=$(wc -l <server.log)
python3 -c '
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"\x12\0\0\0\1\0PO")
while s.recv(4096):
    pass' $far 2>/dev/null
check "a connection without TLS: refused and logged" until_true dropped 1
program after ./serial
until_true ended after
check "after unauthorized peers a program is recorded" sound "$(served after)"

# ---- clock offsets: agent and server share one clock ----
kill $agent
wait $agent 2>/dev/null
said() { grep 'its clock is ahead' server.log; }
until_true said
like "poet stat has the offset of the agent's clock" "$(said | tail -n 1)" "ahead of ours by -[0-9]* to [0-9]* ns"

# ---- journals of two agents, merged later ----
kill $server
wait $server 2>/dev/null
for i in 1 2; do
    mkdir -p host$i
    poet server --to poet://127.0.0.1:$far -l "unix:$work/host$i.sock" -o host$i/ -q 2>host$i.log &
    hosts="$hosts $!"
    pids="$pids $!"
    until_true is_agent host$i
    POET_SERVER="unix:$work/host$i.sock" POET_RUN=both ./serial
done
kill $hosts
wait $hosts 2>/dev/null
check "merge of two agents' journals succeeds" poet merge host1/*.poet host2/*.poet -o all.poet
check "merge: the trace is sound" sound all.poet
is "merge: the trace has the events of both journals" "$(figure all.poet events)" "$(($(figure host1/*.poet events) + $(figure host2/*.poet events)))"
like "merge: a duplicate journal is refused" "$(poet merge host1/*.poet host1/*.poet -o twice.poet 2>&1)" "duplicate journal"
like "merge: a file that is not a trace is refused" "$(poet merge rate.c -o none.poet 2>&1)" "^poet merge: rate.c: not a Poet trace file"
like "merge: a missing file is reported" "$(poet merge nowhere.poet -o none.poet 2>&1)" "^poet merge: nowhere.poet: No such file"
done_testing
