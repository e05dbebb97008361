#!/bin/bash
# TCP connections between two hosts (network namespaces) with an agent each: each read is ordered after the writes
# of its bytes, whichever processes and threads use the sockets; where that is not known, the read is marked
# uncertain.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/hosts.sh"

two_hosts 133
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this build of Poet lacks GnuTLS and zstd"
    done_testing
    exit 0
fi
# on HOST COMMAND: runs it on that host with the agent there, and with a clock of its own if one is set
clock_a= clock_b=
on() {
    eval "clock=\$clock_$1"
    ip netns exec $hosts"$1" unshare --uts bash -c \
        "hostname $hosts$1; export POET_SERVER=unix:$work/$1.sock POET_QUIET=1 ${clock:+POET_TEST_CLOCK=$clock}; $2"
}
serve() {
    rm -f server.sock
    on a "exec poet server -q -l poet://10.133.0.1:7711 -l unix:$work/server.sock -o $1.poet" 2>>server.log &
    until_true poet runs "unix:$work/server.sock"
}
hosts_up() { # hosts_up WHERE: a server for both hosts, and agents that keep their journals
    rm -f ./*.sock
    serve "$1"
    for host in a b; do
        mkdir -p "$1.$host"
        on $host "exec poet server --to poet://10.133.0.1:7711 -l unix:$work/$host.sock -o $1.$host/" 2>$host.log &
        until_true test -S $host.sock
        until_true grep 'connected to ' $host.log
    done
}
hosts_down() {
    for host in b a; do
        for pid in $(ip netns pids $hosts$host); do kill "$pid" 2>/dev/null; done
    done
    wait
}
ended() { finished "$1.poet" && [ "$(poet stat --json "$1.poet" | grep -o '"pid":' | wc -l)" -ge "$2" ]; }
judged() { # judged TRACE LOG...
    trace=$1
    shift
    poet dump --json "$trace" >dump.json
    python3 "$root/tests/e2e/far-log.py" dump.json "$@" 2>&1
}
cc -O1 -g "$root/tests/e2e/far-talk.c" -o talk || { not_ok "far-talk.c compiles"; done_testing; exit 1; }
poet key >/dev/null

# Clocks that are seconds apart and drift.
since=$(python3 -c 'import time; print(time.monotonic_ns())')
clock_a=4999871000,150,$since,${hosts}a clock_b=0,-120,$since,${hosts}b
hosts_up one
on a "POET_RUN=one exec poet record -- ./talk server 9000 3 one.s" &
talks=$!
on b "export POET_RUN=one
for i in 1 2 3; do poet record -- ./talk client 10.133.0.1 9000 30 one.c\$i \$i & done; wait"
wait $talks
check "one server, three clients: the run ends" until_true ended one 4
check "one server, three clients: the trace passes poet check" sound one.poet
like "one server, three clients: each read is after the writes of its bytes and not before" "$(judged one.poet one.s one.c*)" \
    "^[0-9]{3,} reads, 0 in doubt, 0 wrong, 0 early; 6 ends, 0 in doubt, 0 unknown"
like "one server, three clients: the clocks are related by the messages" "$(poet stat one.poet)" "host +${hosts}.: clock [-+](4\\.99|5\\.00)"
hosts_down
clock_a= clock_b=
poet merge one.a/*.poet one.b/*.poet -o merged.poet 2>merge.log
like "one server, three clients: poet merge orders the reads in the same way" "$(judged merged.poet one.s one.c*)" \
    "^[0-9]{3,} reads, 0 in doubt, 0 wrong, 0 early; 6 ends, 0 in doubt, 0 unknown"

# A process for each connection.
hosts_up forks
on a "POET_RUN=forks exec poet record -- ./talk server 9000 12 forks.s forks" &
talks=$!
on b "export POET_RUN=forks
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do poet record -- ./talk client 10.133.0.1 9000 10 forks.c\$i \$i & done; wait"
wait $talks
until_true ended forks 25
check "forking server: the trace passes poet check" sound forks.poet
like "forking server: each read is after the writes of its bytes" "$(judged forks.poet forks.s forks.c*)" \
    "^[0-9]{3,} reads, 0 in doubt, 0 wrong, 0 early; 24 ends, .* 0 unknown"
hosts_down

python=$(python3 -c "import sys; print(sys.executable)") # (python3 may be a script)
# An untraced peer, untraced calls, and a killed client.
hosts_up odd
ip netns exec ${hosts}b python3 - <<'P' &
import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("10.133.0.2", 9001))
s.listen()
while True:
    c, _ = s.accept()
    while True:
        said = c.recv(4096)
        if not said:
            break
        c.sendall(b"x" * (len(said) // 2))
    c.close()
P
cat >ask.py <<'P'
import os, socket, sys, time
for _ in range(2):
    c = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    c.sendall(b"question")
    open("asked", "w").close()
    c.recv(100)
    c.close()
while not os.path.exists("go"):
    time.sleep(0.01)
P
until_true ip netns exec ${hosts}a python3 -c 'import socket; socket.create_connection(("10.133.0.2", 9001))'
on a "POET_RUN=odd exec poet record -- $python ask.py 10.133.0.2 9001" &
until_true test -e asked
heard() { [ "$(poet dump --json "unix:$work/server.sock" | grep -c '"type":"read".*"state":"ordered".*"uncertain":"stream"')" = 2 ]; }
check "untraced peer: its bytes do not delay the order for long" until_true heard
for pid in $(ip netns pids ${hosts}a); do
    grep -q server.sock "/proc/$pid/cmdline" 2>/dev/null && kill -KILL "$pid"
done
is "untraced peer: a server that was killed has recorded the uncertain reads" \
    "$(poet dump --json odd.poet 2>/dev/null | grep -c '"type":"read".*"state":"ordered".*"uncertain":"stream"')" 2
serve odd
until_true heard
on b "POET_RUN=odd exec poet record -- ./talk server 9000 2 odd.s" &
on a "POET_RUN=odd exec poet record -- ./talk client 10.133.0.2 9000 5 odd.c1 1 stdio" &
stdio=$!
wait $stdio
on a "POET_RUN=odd exec poet record -- ./talk client 10.133.0.2 9000 5 odd.c2 2 waits killed" &
answered() { [ "$(grep -c read odd.c2)" -gt 20 ] && [ "$(tail -n 1 odd.c2 | cut -d' ' -f 5)" = "$(awk '/write/ { n = $5 } END { print n }' odd.s)" ]; }
until_true answered
kill -KILL "$(awk 'NR == 1 { print $1 }' odd.c2)"
touch go
check "untraced peer: the run ends" until_true ended odd 4
check "untraced peer: the trace passes poet check" sound odd.poet
like "untraced calls: reads of their bytes are uncertain, later reads are not" "$(judged odd.poet odd.s odd.c1 odd.c2)" \
    "^[0-9]+ reads, [1-9][0-9]? in doubt, 0 wrong, 0 early"
read=$(grep '"type":"read".*"partner":null.*"uncertain":"stream"' dump.json | head -n 1 | sed 's/{"event":"\([0-9:]*\)".*/\1/')
other=$(grep '"type":"write"' dump.json | grep -v "\"event\":\"${read%%:*}:" | head -n 1 | sed 's/{"event":"\([0-9:]*\)".*/\1/')
like "untraced peer: poet order answers unknown for a read from it" "$(poet order odd.poet "$other" "$read" 2>&1)" "^unknown"
hosts_down

# Redis as an unmodified server, and a link that is cut.
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
    hosts_up redis
    on a "POET_RUN=redis exec poet record -- redis-server --bind 10.133.0.1 --port 9002 --save '' --appendonly no --protected-mode no" >redis.out 2>&1 &
    until_true ip netns exec ${hosts}b redis-cli -h 10.133.0.1 -p 9002 ping
    on b "POET_RUN=redis exec poet record -- redis-benchmark -h 10.133.0.1 -p 9002 -n 400 -c 5 -t set,get -q" >bench.out 2>&1 &
    bench=$!
    until_true grep -q rps bench.out
    ip -n ${hosts}b link set ${hosts}vb down
    ip -n ${hosts}b link set ${hosts}vb up
    wait $bench
    on b "POET_RUN=redis exec poet record -- redis-cli -h 10.133.0.1 -p 9002 shutdown nosave" >/dev/null 2>&1
    check "redis: the run ends" until_true ended redis 3
    check "redis: the trace passes poet check" sound redis.poet
    poet dump --json redis.poet >dump.json
    reads() { grep '"type":"read"' dump.json | grep -c "$1"; }
    like "redis: reads are after writes of the other host" "$(reads '"partner":["[].*"uncertain":null')" "^[0-9]{3,}"
    is "redis: only reads from untraced peers are uncertain" "$(reads '"uncertain":"stream"')" "$(reads '"partner":null')"
    hosts_down
else
    skip "redis is not installed"
fi

# Agents that forward through NATS.
if command -v nats-server >/dev/null && ! poet server --from nats://127.0.0.1:1 2>&1 | grep -q "built without"; then
    ip netns exec ${hosts}a nats-server -js -sd "$work/nats" -a 10.133.0.1 -p 4222 >nats.log 2>&1 &
    until_true grep -q "Server is ready" nats.log
    for host in a b; do
        rm -f $host.sock
        on $host "exec poet server --to nats://10.133.0.1:4222 -l unix:$work/$host.sock -o nats.$host/" 2>$host.log &
        until_true test -S $host.sock
    done
    on a "POET_RUN=nats exec poet record -- ./talk server 9000 2 nats.s" &
    talks=$!
    on b "export POET_RUN=nats
for i in 1 2; do poet record -- ./talk client 10.133.0.1 9000 10 nats.c\$i \$i & done; wait"
    wait $talks
    on a "exec poet server -q --from nats://10.133.0.1:4222#nats -l unix:$work/reads.sock -o nats.poet" 2>reads.log &
    until_true ended nats 3
    check "NATS: the trace passes poet check" sound nats.poet
    like "NATS: each read is after the writes of its bytes and not before" "$(judged nats.poet nats.s nats.c*)" \
        "^[0-9]{3,} reads, 0 in doubt, 0 wrong, 0 early; 4 ends, 0 in doubt, 0 unknown"
    hosts_down
else
    skip "nats-server is not installed, or this build of Poet lacks libnats"
fi

done_testing
