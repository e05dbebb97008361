# Read by tests of several machines: two hosts, which are network namespaces.

# two_hosts N: makes ${hosts}a at 10.N.0.1 and ${hosts}b at 10.N.0.2, to be gone when the test ends; where they cannot be made the test
# ends here, and says why.  (No other run of the test has these names, nor has one that was killed left them.)
two_hosts() {
    hosts=h$1-$$
    trap hosts_gone EXIT
    if [ "$(id -u)" != 0 ] || ! make_hosts "$1" 2>netns.log; then
        skip "no network namespaces can be made here: $(head -n 1 netns.log 2>/dev/null)"
        done_testing
        exit 0
    fi
}
make_hosts() {
    ip netns add "${hosts}a" && ip netns add "${hosts}b" &&
        ip link add "${hosts}va" type veth peer name "${hosts}vb" &&
        for host in a b; do
            ip link set "${hosts}v$host" netns "$hosts$host" && ip -n "$hosts$host" link set lo up || return 1
        done &&
        ip -n "${hosts}a" addr add "10.$1.0.1/24" dev "${hosts}va" && ip -n "${hosts}b" addr add "10.$1.0.2/24" dev "${hosts}vb" &&
        ip -n "${hosts}a" link set "${hosts}va" up && ip -n "${hosts}b" link set "${hosts}vb" up
}
hosts_gone() {
    for host in a b; do
        for pid in $(ip netns pids "$hosts$host" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null; done
        ip netns del "$hosts$host" 2>/dev/null
    done
    finish
}
