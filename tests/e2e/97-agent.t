#!/bin/sh
# An agent forwards what it takes to a server, by TLS: what comes out is as if the programs had spoken to the server,
# whatever is killed or cut meanwhile; and nobody without the key comes in, or can read what goes by.
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
like "no key: an agent says what to do" "$(poet server --to poet://127.0.0.1:$far 2>&1)" \
    "^poet server: no key \($work/.config/poet/key\); create one with poet key"
like "no key: no door beyond this machine" "$(poet server -l poet://0.0.0.0:$far 2>&1)" "no key .* create one with poet key"
like "in the clear: never" "$(poet server -l tcp:127.0.0.1:$far 2>&1)" "^poet server: tcp:127.0.0.1:$far: unencrypted connections are not supported"
is "poet key makes one" "$(poet key)" "$work/.config/poet/key"
is "for its user alone" "$(stat -c %a:%s "$work/.config/poet/key")" 600:65
like "and never another over it" "$(poet key 2>&1)" "already exists"
is "elsewhere" "$(POET_KEY_FILE=$work/other poet key)" "$work/other"
like "none that others can read" "$(chmod 644 other; POET_KEY_FILE=$work/other poet server --to poet://127.0.0.1:$far 2>&1)" "key is readable by others"
chmod 600 other
like "unknown host" "$(poet server --to poet://nowhere.invalid:1 2>&1)" "^poet server: poet://nowhere.invalid:1: .*check the host name"
like "no port" "$(poet server --to poet://nowhere 2>&1)" "use poet://HOST:PORT"
like "in the clear: no" "$(poet server --to tcp:127.0.0.1:1 2>&1)" "an agent forwards to poet://HOST:PORT"
like "journals lie in a directory" "$(poet server --to poet://127.0.0.1:$far -o file.poet 2>&1)" "append /"

# ---- agent and server ----
server() {
    POET_TEST_ORDER_PAUSE="$work/pause" poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o "${1:-served/}" 2>>server.log &
    server=$!
    pids="$pids $server"
    until_true poet runs "unix:$work/server.sock"
}
is_agent() { poet runs "unix:$work/$1.sock" 2>&1 | grep -q 'this is a forwarding agent'; } # it listens
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
# the one file of a run
served() { ls served/"$1"-*.poet 2>/dev/null | head -n 1; }
kept() { ls kept/"$1"-*.poet 2>/dev/null | head -n 1; }
begun() { [ -s "$(served "$1")" ]; }
ended() { begun "$1" && finished "$(served "$1")"; }
# what is said of an event beside its time, the addresses of that run, and the numbers that its lines got there
plain() { poet dump "$1" | sed 's/  *[0-9]*\.[0-9]*  */ /; s/ (0x[0-9a-f]*)//g; s/+0x[0-9a-f]*//; s/[0-9]*:\([0-9]\)/:\1/g' | sort; }

server
agent $proxied
program one ./serial
until_true ended one
check "a run that came by an agent: sound" sound "$(served one)"
is "the same as the agent's own file, line by line" "$(poet dump "$(served one)" | cksum)" "$(poet dump "$(kept one)" | cksum)"
POET_SERVER="unix:$work/server.sock" POET_RUN=two ./serial
until_true ended two
is "and as without an agent" "$(plain "$(served one)" | cksum)" "$(plain "$(served two)" | cksum)"
[ "$(plain "$(served one)" | wc -l)" -gt 500 ] || not_ok "there was something to compare"
like "an agent answers no viewer" "$(poet runs "unix:$work/agent.sock" 2>&1)" "this is a forwarding agent; connect to the server at poet://127.0.0.1:$proxied"

# ---- viewers, from anywhere ----
is "a viewer by TLS: the same" "$(poet dump "poet://127.0.0.1:$far#one" | cksum)" "$(poet dump "$(served one)" | cksum)"
like "with another key: one line" "$(POET_KEY_FILE=$work/other poet runs poet://127.0.0.1:$far 2>&1)" \
    "^poet runs: poet://127.0.0.1:$far: key mismatch: the key file must be a copy of the server's"
like "without one" "$(POET_KEY_FILE=$work/none poet runs poet://127.0.0.1:$far 2>&1)" "^poet runs: no key \($work/none\); create one with poet key"
like "where nobody listens" "$(poet runs poet://127.0.0.1:1 2>&1)" "no server is listening; start: poet server --listen"

# ---- the link is cut, some times ----
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
check "the link was cut: sound" sound "$(served cut)"
is "nothing is missing, nothing twice" "$(figure "$(served cut)" events)" "$(figure "$(kept cut)" events)"
is "and each event is there" "$(poet dump "$(served cut)" | sort | cksum)" "$(poet dump "$(kept cut)" | sort | cksum)"
is "no name of a thread can be read on the way" "$(grep -c -a unmistakable wire.log)" 0
is "(it is in the file)" "$(poet dump "$(served cut)" | grep -c -m 1 unmistakable)" 1

# ---- the server is killed ----
touch pause # it has taken what it has not ordered
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
check "the server was killed: sound" sound "$(served killed)"
is "all is in the file of the new one" "$(poet dump "$(served killed)" | sort | cksum)" "$(poet dump "$(kept killed)" | sort | cksum)"

# ---- the server is away, and the agent is killed at full rate ----
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
check "what was left is found" until_true grep 'forwarding leftover journal .*kept/left-' agent.log
until_true ended left
acknowledged() { ! cmp -s kept/left-*.poet gone/left-*.poet; } # then the agent marks its file
until_true acknowledged
# (what was in the queues then is lost: the program was killed, too)
is "the agent was killed: nothing contradicts" "$(figure "$(served left)" inconsistent)$(figure "$(served left)" pending)" 00
poet merge gone/left-*.poet -o merged.poet
is "nothing is missing" "$(figure "$(served left)" events)" "$(figure merged.poet events)"
is "line by line" "$(poet dump "$(served left)" | sort | cksum)" "$(poet dump merged.poet | sort | cksum)"
[ "$(figure merged.poet events)" -gt 10000 ] || not_ok "there was something"
kill -KILL $agent
wait $agent 2>/dev/null
from=$(wc -l <agent.log)
agent $proxied
goes_on() { tail -n +$((from + 1)) agent.log | grep -E "connected to|listening"; }
check "the agent goes on" until_true goes_on
is "what was acknowledged is not sent again" "$(grep -c 'leftover journal' agent.log)" 1

# ---- strangers ----
POET_KEY_FILE=$work/other poet server --to poet://127.0.0.1:$far -o strange/ -l "unix:$work/s.sock" 2>strange.log &
strange=$!
pids="$pids $strange"
check "another key: one line" until_true grep \
    "poet://127.0.0.1:$far: key mismatch: .*the key file must be a copy of the server's" strange.log
kill $strange
wait $strange 2>/dev/null
check "the server logs it" until_true grep "127.0.0.1 port [0-9]*: key mismatch: .*: dropped" server.log
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
check "an older TLS, and one without the key: refused and logged" until_true dropped 2
lines=$(wc -l <server.log)
python3 -c '
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(open("wire.log.client", "rb").read())
while s.recv(4096):
    pass' $far 2>/dev/null
check "a connection that is played again: refused and logged" until_true dropped 1
lines=$(wc -l <server.log)
python3 -c '
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"\x12\0\0\0\1\0PO")
while s.recv(4096):
    pass' $far 2>/dev/null
check "no TLS at all: refused and logged" until_true dropped 1
program after ./serial
until_true ended after
check "and programs go on" sound "$(served after)"

# ---- clocks: here there is one ----
kill $agent
wait $agent 2>/dev/null
said() { grep 'its clock is ahead' server.log; }
until_true said
like "how far the agent's clock may be off" "$(said | tail -n 1)" "ahead of ours by -[0-9]* to [0-9]* ns"

# ---- files of two agents, ordered later ----
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
check "poet merge" poet merge host1/*.poet host2/*.poet -o all.poet
check "is sound" sound all.poet
is "and has the events of both" "$(figure all.poet events)" "$(($(figure host1/*.poet events) + $(figure host2/*.poet events)))"
like "the same file twice" "$(poet merge host1/*.poet host1/*.poet -o twice.poet 2>&1)" "duplicate journal"
like "no trace" "$(poet merge rate.c -o none.poet 2>&1)" "^poet merge: rate.c: not a Poet trace file"
like "no file" "$(poet merge nowhere.poet -o none.poet 2>&1)" "^poet merge: nowhere.poet: No such file"
done_testing
