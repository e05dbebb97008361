#!/bin/bash
# make demo-cluster: traces examples/ring.c, which passes a word around three hosts (network namespaces).
# Each has an agent, which sends through NATS to a server.  Creates cluster.poet and cluster.pdf in the
# current directory; everything else is removed at the end, also after Ctrl-C.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
B=$(cd "${B:-$root/build}" && pwd)
export PATH="$B/bin:$PATH:/usr/sbin:/sbin"
skip() { echo "demo-cluster: skipped: $1"; exit 0; }

wait_for() { # wait_for COMMAND...: waits until the command succeeds, at most a minute
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    echo "demo-cluster: never came true: $*" >&2
    exit 1
}
# on N COMMAND...: runs a command on host N
on() { n=$1; shift; ip netns exec "host$n" unshare --uts sh -c "hostname host$n; exec \"\$@\"" sh "$@"; }

inside() { # runs in its own namespaces; all its processes end with them
    work=$1
    cd "$work" || exit 1
    mount -t tmpfs none /run && mkdir -p /run/netns && ip link set lo up || exit 1
    ip link add bridge type bridge && ip addr add 10.131.0.254/24 dev bridge && ip link set bridge up || exit 1
    for n in 1 2 3; do
        ip netns add host$n && ip link add to$n type veth peer name eth0 netns host$n && ip link set to$n master bridge up &&
            ip -n host$n addr add 10.131.0.$n/24 dev eth0 && ip -n host$n link set lo up && ip -n host$n link set eth0 up || exit 1
    done
    nats-server -js -a 10.131.0.254 -sd "$work/nats" >nats.log 2>&1 &
    wait_for bash -c ': >/dev/tcp/10.131.0.254/4222'
    for n in 1 2 3; do
        on $n poet server --to nats://10.131.0.254 -l "unix:$work/$n.sock" 2>agent$n.log &
        wait_for test -S $n.sock
    done
    poet server --from nats://10.131.0.254#ring -l "unix:$work/server.sock" -o cluster.poet 2>server.log &
    for n in 1 2 3; do
        mkfifo go$n
        POET_QUIET=1 POET_SERVER="unix:$work/$n.sock" POET_RUN=ring \
            on $n ./ring $((n - 1)) 3 8 7131 10.131.0.$((n % 3 + 1)) <go$n >said$n &
    done
    exec 4>go1 5>go2 6>go3
    for n in 1 2 3; do wait_for grep -q ready said$n; done
    connected() { poet runs --json "unix:$work/server.sock" | grep -q '"connected":3'; }
    wait_for connected
    echo >&4; echo >&5; echo >&6
    finished() { poet stat --json cluster.poet | grep -q '"finished":true'; }
    wait_for finished
}
if [ "${1:-}" = inside ]; then
    inside "$2"
    exit 0
fi

command -v nats-server >/dev/null || skip "there is no nats-server (Debian: nats-server)"
command -v ip >/dev/null || skip "there is no ip (Debian: iproute2)"
poet server --from nats://127.0.0.1:1 2>&1 | grep -q "built without" && skip "this Poet was built without libnats"
work=$(mktemp -d "${TMPDIR:-/tmp}/poet-cluster.XXXXXX")
trap 'kill "${hosts:-}" 2>/dev/null; wait; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
own="unshare --map-root-user --user --net --mount --pid --fork --kill-child"
$own sh -c 'mount -t tmpfs none /run && mkdir /run/netns && ip netns add a && ip netns exec a unshare --uts true' 2>"$work/why" ||
    skip "no namespaces can be made here: $(head -n 1 "$work/why")"
unset POET_SERVER POET_RUN
poetcc -trace -g "$root/examples/ring.c" -o "$work/ring" || exit 1
HOME="$work" XDG_RUNTIME_DIR="$work" XDG_STATE_HOME="$work/state" $own bash "$0" inside "$work" &
hosts=$!
wait $hosts || exit 1
cp "$work/cluster.poet" . && poet export cluster.poet -o cluster.pdf || exit 1
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -z "${POET_DEMO_NO_VIEW:-}" ]; then
    poet view cluster.poet
else
    poet show cluster.poet | head -n 30
fi
poet stat cluster.poet | grep '^host'
echo "demo-cluster: cluster.poet, drawn in cluster.pdf"
