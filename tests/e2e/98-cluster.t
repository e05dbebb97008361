#!/bin/bash
# Two hosts (network namespaces) with an agent on each, and one server: MPI messages between them are ordered, through
# TLS, as with a single server.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/hosts.sh"

two_hosts 98
if poet server --to poet://127.0.0.1:1 2>&1 | grep -q "built without"; then
    skip "this Poet was built without GnuTLS and zstd"
    done_testing
    exit 0
fi
if ! command -v mpirun.mpich >/dev/null; then
    skip "MPICH is not installed"
    done_testing
    exit 0
fi
on() { ip netns exec "$hosts$1" unshare --uts bash -c "hostname $hosts$1; $2"; }
poet key >/dev/null
on a "exec poet server -q -l poet://10.98.0.1:7711 -l unix:$work/server.sock -o all.poet" 2>server.log &
pids="$pids $!"
until_true poet runs "unix:$work/server.sock"
is_agent() { poet runs "unix:$work/$host.sock" 2>&1 | grep -q 'this is a forwarding agent'; } # it is listening
for host in a b; do
    on $host "exec poet server --to poet://10.98.0.1:7711 -l unix:$work/$host.sock" 2>$host.log &
    pids="$pids $!"
    until_true is_agent
    until_true grep 'connected to ' $host.log
done
cat >to-host <<X
#!/bin/bash
# a replacement for ssh: [OPTION...] HOST COMMAND
while [ "\${1#-}" != "\$1" ]; do shift; done
case \$1 in 10.98.0.1) host=a ;; *) host=b ;; esac
shift
exec ip netns exec $hosts\$host unshare --uts bash -c "hostname $hosts\$host; \$*"
X
cat >here <<X
#!/bin/sh
# a rank, which uses the agent of its host
host=\$(hostname)
export POET_SERVER=unix:$work/\${host#$hosts}.sock
exec ./mpi-log
X
chmod +x to-host here
export CC=mpicc.mpich POET_QUIET=1
poetcc -trace -g "$root/tests/e2e/mpi-log.c" -o mpi-log 2>/dev/null
on a "exec timeout 100 mpirun.mpich -launcher ssh -launcher-exec $work/to-host \
    -hosts 10.98.0.1,10.98.0.2 -genv POET_RUN both -n 4 ./here" >mpi.out 2>&1
ended() { finished all.poet && [ "$(poet stat --json all.poet | grep -o '"host":' | wc -l)" -ge 4 ]; }
until_true ended
check "two hosts with agents: the trace is sound" sound all.poet
is "two hosts with agents: both hosts have a name" "$(poet stat --json all.poet | grep -o '"host":"[^"]*"' | sort -u | xargs)" "host:${hosts}a host:${hosts}b"
like "two hosts with agents: each receive is paired with its send" \
    "$(poet dump --json all.poet | python3 "$root/tests/e2e/mpi-log.py" . 2>&1)" " 0 wrong, 0 unknown"
done_testing
