#!/bin/sh
# Two machines (network namespaces) with an agent each: the bytes of TCP connections between them are followed, whoever
# writes and reads them, and where that cannot be it is said.
. "$(dirname "$0")/lib.sh"

ns=p133
finish_hosts() {
    for host in a b; do
        for pid in $(ip netns pids $ns$host 2>/dev/null); do kill -KILL "$pid" 2>/dev/null; done
        ip netns del $ns$host 2>/dev/null
    done
    finish
}
trap finish_hosts EXIT
netns() { # two hosts
    ip netns add ${ns}a && ip netns add ${ns}b && ip link add ${ns}va type veth peer name ${ns}vb &&
        ip link set ${ns}va netns ${ns}a && ip link set ${ns}vb netns ${ns}b &&
        ip -n ${ns}a addr add 10.133.0.1/24 dev ${ns}va && ip -n ${ns}b addr add 10.133.0.2/24 dev ${ns}vb &&
        ip -n ${ns}a link set lo up && ip -n ${ns}b link set lo up &&
        ip -n ${ns}a link set ${ns}va up && ip -n ${ns}b link set ${ns}vb up
}
if [ "$(id -u)" != 0 ] || ! netns 2>netns.log; then
    skip "no network namespaces can be made here: $(head -n 1 netns.log 2>/dev/null)"
    done_testing
    exit 0
fi
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this Poet was built without GnuTLS and zstd"
    done_testing
    exit 0
fi
# on HOST COMMAND: there, with the agent of that host, and a clock of its own where one is wanted
clock_a= clock_b=
on() {
    eval "clock=\$clock_$1"
    ip netns exec $ns"$1" unshare --uts bash -c \
        "hostname $ns$1; export POET_SERVER=unix:$work/$1.sock POET_QUIET=1 ${clock:+POET_TEST_CLOCK=$clock}; $2"
}
hosts_up() { # hosts_up WHERE: a server of all, and agents that keep their journals
    rm -f ./*.sock
    on a "exec poet server -q -l poet://10.133.0.1:7711 -l unix:$work/server.sock -o $1.poet" 2>server.log &
    until_true poet runs "unix:$work/server.sock"
    for host in a b; do
        mkdir -p "$1.$host"
        on $host "exec poet server --to poet://10.133.0.1:7711 -l unix:$work/$host.sock -o $1.$host/" 2>$host.log &
        until_true test -S $host.sock
        until_true grep 'is there$' $host.log
    done
}
hosts_down() {
    for host in b a; do
        for pid in $(ip netns pids $ns$host); do kill "$pid" 2>/dev/null; done
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
cc -O1 -g "$root/tests/e2e/far-talk.c" -o talk || { not_ok "it compiles"; done_testing; exit 1; }
poet key >/dev/null
poet key | head -n 1 >/dev/null

# clocks that are seconds apart and drift
since=$(python3 -c 'import time; print(time.monotonic_ns())')
clock_a=4999871000,150,$since,${ns}a clock_b=0,-120,$since,${ns}b
hosts_up one
on a "POET_RUN=one exec poet record -- ./talk server 9000 3 one.s" &
talks=$!
on b "export POET_RUN=one
for i in 1 2 3; do poet record -- ./talk client 10.133.0.1 9000 30 one.c\$i \$i & done; wait"
wait $talks
check "a server and three clients on two hosts" until_true ended one 4
check "is sound" sound one.poet
like "each read is after the writes of its bytes, and not before" "$(judged one.poet one.s one.c*)" \
    "^[0-9]{3,} reads, 0 in doubt, 0 wrong, 0 early; 6 ends, 0 in doubt, 0 of nobody"
like "by these clocks are tied" "$(poet stat one.poet)" "host +${ns}.: clock [-+]?4\.9"
hosts_down
clock_a= clock_b=
poet merge one.a/*.poet one.b/*.poet -o merged.poet 2>merge.log
like "poet merge says the same" "$(judged merged.poet one.s one.c*)" \
    "^[0-9]{3,} reads, 0 in doubt, 0 wrong, 0 early; 6 ends, 0 in doubt, 0 of nobody"

# a process for each connection
hosts_up forks
on a "POET_RUN=forks exec poet record -- ./talk server 9000 12 forks.s forks" &
talks=$!
on b "export POET_RUN=forks
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do poet record -- ./talk client 10.133.0.1 9000 10 forks.c\$i \$i & done; wait"
wait $talks
until_true ended forks 25
check "a server that forks: sound" sound forks.poet
like "each read is after the writes of its bytes there" "$(judged forks.poet forks.s forks.c*)" \
    "^[0-9]{3,} reads, 0 in doubt, 0 wrong, 0 early; 24 ends, .* 0 of nobody"
hosts_down

done_testing
