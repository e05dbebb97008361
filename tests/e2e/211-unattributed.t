#!/bin/bash
# Installed programs: less than a hundredth of their wait time is unattributed, and times add up.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
export OMPI_MCA_mpi_yield_when_idle=1
have() { # PROGRAM
    command -v "$1" >/dev/null && return
    skip "$1 is not installed"
    return 1
}
# explained NAME: the attributed share of wait time in NAME.poet
explained() {
    check "$1: the trace is sound and its times add up" sound "$1.poet"
    is "$1: wait time is attributed" "$(poet waits --json "$1.poet" | json 'total
        | if .unattributed_ns <= 0.01 * .waited_ns then "yes"
        else "\(.unattributed_ns) ns of \(.waited_ns) are not" end')" yes
}
head -c 3000000 /dev/urandom | base64 >paper
for program in "pigz -p 4 -b 128" "zstd -T4 -q"; do
    name=${program%% *}
    have "$name" || continue
    poet record -o "$name.poet" $program -c paper >/dev/null
    explained "$name"
done

# A server with threads; the clients are outside of the run.
at_port() { python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$1"; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
cat >load.py <<'PY'
import socket, sys, threading
def client(n):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    f = s.makefile("rwb")
    for i in range(200):
        value = b"x" * (10 + i)
        f.write(b"set k%d 0 0 %d\r\n%s\r\n" % ((n * 7 + i) % 50, len(value), value))
        f.flush()
        f.readline()
        f.write(b"get k%d\r\n" % (i % 50))
        f.flush()
        while f.readline() != b"END\r\n":
            pass
threads = [threading.Thread(target=client, args=(i,)) for i in range(6)]
for t in threads: t.start()
for t in threads: t.join()
PY
if have memcached; then
    port=$(free_port)
    poet record -o memcached.poet memcached -u daemon -t 4 -l 127.0.0.1 -p "$port" -U 0 &
    recording=$!
    pids="$pids $recording"
    until_true at_port "$port"
    check "memcached: clients run" timeout 60 python3 load.py "$port"
    kill -TERM $recording
    wait $recording
    explained memcached
fi
if have redis-server; then
    port=$(free_port)
    poet record -o redis.poet redis-server --port "$port" --bind 127.0.0.1 --io-threads 3 --save "" --dir "$work" >/dev/null &
    recording=$!
    pids="$pids $recording"
    until_true redis-cli -p "$port" ping
    check "redis: clients run" timeout 60 redis-benchmark -p "$port" -n 1000 -c 10 -q -t set,get,lpush
    redis-cli -p "$port" shutdown nosave
    wait $recording
    explained redis
fi

# Messages between ranks.
for mpi in openmpi mpich; do
    program=NP${mpi/mpich/mpich2}
    have "$program" || continue
    timeout 100 poet record -o "$mpi.poet" -- mpirun.$mpi -n 2 "$program" -u 500 -n 5 >/dev/null 2>&1
    explained $mpi
done
done_testing
