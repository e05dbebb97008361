#!/bin/bash
# Network security: traffic is encrypted, connections without the key are refused, and a malicious agent that has
# the key affects only its own lines.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/hosts.sh"

if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
    done_testing
    exit 0
fi
cat >work.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t LOCK = PTHREAD_MUTEX_INITIALIZER;
static void *THREAD(void *a)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&LOCK);
        pthread_mutex_unlock(&LOCK);
    }
    poet_text("a text of %s", "unmistakable words");
    return a;
}
static void three(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        pthread_create(&t, NULL, THREAD, NULL);
        pthread_join(t, NULL);
    }
}
int main(void)
{
    three();
    getchar();
    three();
    return 0;
}
C
poetcc -trace -g -DLOCK=unmistakable_lock -DTHREAD=unmistakable_thread work.c -o unmistakable_program -pthread
poetcc -trace -g -DLOCK=template -DTHREAD=made_up work.c -o template -pthread
poet key >/dev/null
key=$(cat .config/poet/key)
POET_KEY_FILE=$work/other poet key >/dev/null

# ---- authentication ----
far=$(free_port)
poet server -l "unix:$work/server.sock" -l "poet://127.0.0.1:$far" -o served/ 2>server.log &
server=$!
pids="$pids $server"
until_true poet runs "unix:$work/server.sock"
knock() { # knock ARGUMENT...: whether it is let in by openssl's client
    lines=$(wc -l <server.log)
    openssl s_client -connect 127.0.0.1:$far -quiet "$@" </dev/null >knock.out 2>&1
    since() { tail -n +$((lines + 1)) server.log | grep -c "$1"; }
}
refused() { # refused NAME ARGUMENT...
    name=$1
    shift
    knock "$@"
    said() { [ "$(since 'dropped')" = 1 ]; }
    check "$name: refused" until_true said
    is "$name with one log line" "$(tail -n +$((lines + 1)) server.log | wc -l)" 1
}
if command -v openssl >/dev/null; then
    printf '\003\000\000\000\050\000PO\001\002\003' >first.words # a malformed AGENT message: the server answers it once TLS has accepted the key
    lines=$(wc -l <server.log)
    mkfifo words
    openssl s_client -connect 127.0.0.1:$far -quiet -tls1_3 -psk "$key" -psk_identity poet <words >in.out 2>&1 &
    knocks=$!
    exec 6>words
    cat first.words >&6
    let_in() { tail -n +$((lines + 1)) server.log | grep -q "different version of Poet\|install the same Poet"; }
    check "correct key and TLS 1.3: accepted (so that the following refusals mean something)" until_true let_in
    exec 6>&-
    wait $knocks
    refused "wrong key" -tls1_3 -psk "$(cat other)" -psk_identity poet
    refused "correct key with another identity" -tls1_3 -psk "$key" -psk_identity another
    refused "no key" -tls1_3
    refused "correct key with TLS 1.2" -tls1_2 -psk "$key" -psk_identity poet -cipher 'PSK:ECDHE-PSK:DHE-PSK:@SECLEVEL=0'
    refused "TLS 1.2 without a key" -tls1_2
    refused "cipher without encryption" -tls1_2 -psk "$key" -psk_identity poet -cipher 'NULL-SHA256:PSK-NULL-SHA256:@SECLEVEL=0'
else
    skip "openssl is not installed"
fi

# ---- a malicious agent ----
record() { # record NAME TO: between the agent NAME and a server
    python3 "$root/tests/e2e/attack.py" record "$work/$1.between" "$2" "$1.chunks" 2>"$1.err" &
    pids="$pids $!"
    until_true test -S "$1.between"
    poet server --to "unix:$work/$1.between" -l "unix:$work/$1.sock" -o "$1-kept/" 2>"$1.log" &
    pids="$pids $!"
    until_true test -S "$1.sock"
    until_true grep 'connected to ' "$1.log"
}
poet server -l "unix:$work/scratch.sock" -o scratch/ 2>scratch.log &
scratch=$!
pids="$pids $scratch"
until_true poet runs "unix:$work/scratch.sock"
record maker "$work/scratch.sock"
POET_SERVER="unix:$work/maker.sock" POET_RUN=job ./template </dev/null
made() { finished "$(ls scratch/job-*.poet)"; }
until_true made
record victim "$work/server.sock"
mkfifo go
POET_SERVER="unix:$work/victim.sock" POET_RUN=job ./unmistakable_program <go &
running=$!
exec 5>go
begun() { [ -s victim.chunks ] && [ "$(figure "unix:$work/server.sock#job" events)" -gt 300 ]; }
until_true begun
attack() { python3 "$root/tests/e2e/attack.py" attack "$work/server.sock" maker.chunks victim.chunks "$1" "$2"; }
check "malicious agent: 1000 modified streams are sent" attack 136 1000
echo >&5
exec 5>&-
wait $running
own() { poet dump --json "$(ls victim-kept/job-*.poet)" >own.json && python3 "$root/tests/e2e/attack.py" lines own.json own.json; }
theirs() { poet dump --json "unix:$work/server.sock#job" >all.json && python3 "$root/tests/e2e/attack.py" lines all.json own.json; }
own >own.said
whole() { theirs >theirs.said && [ "$(wc -l <theirs.said)" -ge "$(wc -l <own.said)" ]; }
until_true whole
check "the victim has more than 900 events to compare ($(wc -l <own.said) events)" test "$(wc -l <own.said)" -gt 900
is "malicious agent: events of other agents are unchanged" "$(diff own.said theirs.said | head -n 5)" ""
like "malicious agent: events on lines of another program are logged and dropped" "$(cat server.log)" "records events on a line of another program: dropped"
check "malicious agent: the server still answers" poet runs "unix:$work/server.sock"
is "malicious agent: AddressSanitizer and UBSan report nothing in the server" "$(grep -c 'AddressSanitizer\|runtime error' server.log)" 0
attack 137 40 &
attacking=$!
POET_SERVER="unix:$work/server.sock" POET_RUN=after ./template </dev/null
wait $attacking
after() { finished "$(ls served/after-*.poet)"; }
until_true after
check "malicious agent: another run at the same time passes poet check" sound "$(ls served/after-*.poet)"

# ---- eavesdropping ----
two_hosts 136
cat >capture.py <<'P'
"""All that goes through an interface, into a file; on a signal it ends."""
import signal, socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind((sys.argv[1], 0))
s.settimeout(0.2)
end = []
signal.signal(signal.SIGTERM, lambda *_: end.append(1))
with open(sys.argv[2], "wb", buffering=0) as f:
    print("captures", flush=True)
    while True:
        try:
            f.write(s.recv(1 << 16))
        except socket.timeout:
            if end:
                break
P
ip netns exec ${hosts}a python3 capture.py ${hosts}va wire.bytes >capturing &
capture=$!
pids="$pids $capture"
until_true test -s capturing
ip netns exec ${hosts}a poet server -q -l poet://10.136.0.1:7711 -l "unix:$work/host.sock" -o host.poet 2>host.log &
pids="$pids $!"
until_true poet runs "unix:$work/host.sock"
ip netns exec ${hosts}b poet server --to poet://10.136.0.1:7711 -l "unix:$work/agent.sock" -o agent-kept/ 2>agent.log &
pids="$pids $!"
until_true test -S agent.sock
POET_SERVER="unix:$work/agent.sock" POET_RUN=unmistakable_run ./unmistakable_program </dev/null
until_true finished host.poet
ip netns exec ${hosts}b poet dump "poet://10.136.0.1:7711#unmistakable_run" >seen.dump # the traffic of a viewer as well
kill $capture
wait $capture
found() { grep -c -a -i -E 'unmistakable|pthread|work\.c' "$1"; }
is "captured traffic does not contain names of the program" "$(found wire.bytes)" 0
check "the captured traffic has more than 10000 bytes ($(stat -c %s wire.bytes))" test "$(stat -c %s wire.bytes)" -gt 10000
[ "$(found "$(ls agent-kept/*.poet)")" -gt 0 ] && ok "the same search finds the names in the agent's journal" || not_ok "the same search finds the names in the agent's journal"
is "the viewer received the names" "$(grep -c -m 1 unmistakable_lock seen.dump)" 1
done_testing
