#!/bin/bash
# MPI, under each installed implementation: messages against the ranks' own logs, the order of collective calls,
# threads in ranks, a deadlock, several hosts.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
check "mpi.conf is valid" poet check "$root/config/mpi.conf"

cat >collect.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, v = 1, w = 0, all[4], counts[4] = {1, 0, 1, 1}, at[4] = {0, 1, 2, 3};
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&v, &w, 1, MPI_INT, MPI_SUM, 3, MPI_COMM_WORLD);
    MPI_Scan(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gatherv(&v, rank != 1, MPI_INT, all, counts, at, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
cat >deadlock.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, v;
    char *large = calloc(1, 1 << 22);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (rank == 0)
        MPI_Recv(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(large, 1 << 22, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    return 0;
}
C

cat >alone.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int v = 1, w;
    MPI_Request r;
    MPI_Comm c;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Isend(&v, 1, MPI_INT, 0, 3, c, &r);
    MPI_Recv(&w, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Scan(&v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Send(&v, 1, MPI_INT, MPI_PROC_NULL, 3, c);
    MPI_Sendrecv(&v, 1, MPI_INT, 0, 1, &w, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return w != 1;
}
C

# how FILE 0:bcast:1 3:result:1: the order of two events of ranks, given by rank, type and number of that type
numbered() {
    poet dump --json "$1" | python3 -c '
import json, sys
rank, kind, n = sys.argv[1].split(":")
lines = {}
for text in sys.stdin:
    f = json.loads(text)
    if "line" in f: lines[f["line"]] = f["name"]
    elif "event" in f and lines.get(int(f["event"].split(":")[0])) == "rank " + rank and f["type"] == kind:
        n = int(n) - 1
        if n == 0: print(f["event"])' "$2"
}
how() { poet order "$1" "$(numbered "$1" "$2")" "$(numbered "$1" "$3")"; }

netns() { # two hosts
    ip netns add poet-a && ip netns add poet-b && ip link add poet-va type veth peer name poet-vb &&
        ip link set poet-va netns poet-a && ip link set poet-vb netns poet-b &&
        ip -n poet-a addr add 10.77.0.1/24 dev poet-va && ip -n poet-b addr add 10.77.0.2/24 dev poet-vb &&
        ip -n poet-a link set lo up && ip -n poet-b link set lo up &&
        ip -n poet-a link set poet-va up && ip -n poet-b link set poet-vb up
}
cat >to-host <<'X'
#!/bin/bash
# a replacement for ssh: [OPTION...] HOST COMMAND
while [ "${1#-}" != "$1" ]; do shift; done
case $1 in 10.77.0.1) host=poet-a ;; *) host=poet-b ;; esac
shift
exec ip netns exec $host unshare --uts bash -c "hostname $host; $*"
X
chmod +x to-host

for mpi in openmpi mpich; do
    if ! command -v mpicc.$mpi >/dev/null; then
        skip "$mpi is not installed"
        continue
    fi
    export CC=mpicc.$mpi
    run="timeout 300 mpirun.$mpi"
    for program in mpi-log mpi-threads; do poetcc -trace -g "$root/tests/e2e/$program.c" -o $program 2>cc.log || cat cc.log; done
    for program in collect deadlock; do poetcc -trace -g $program.c -o $program 2>cc.log || cat cc.log; done

    # ---- messages, by the ranks' own logs ----
    for ranks in 2 4; do
        rm -f ./*.poet
        check "$mpi: $ranks ranks run" $run -n $ranks ./mpi-log
        trace=$(trace_of mpi-log)
        check "$mpi: $ranks ranks: one sound trace of all" sound "$trace"
        is "$mpi: $ranks ranks are lines" "$(poet dump --json "$trace" | grep -c '"kind":"rank"')" $ranks
        like "$mpi: $ranks ranks: each receive is paired with its send" \
            "$(poet dump --json "$trace" | python3 "$root/tests/e2e/mpi-log.py" . 2>&1)" " 0 wrong, 0 unknown"
    done

    # ---- the order of collective calls ----
    rm -f ./*.poet "$XDG_RUNTIME_DIR"/launch-* # killed programs leave their files behind
    check "$mpi: collective calls run" $run -n 4 ./collect
    trace=$(trace_of collect)
    check "$mpi: collective calls: the trace is sound" sound "$trace"
    results=$(poet dump --json "$trace" | grep -c '"type":"result"')
    is "$mpi: rows of ranks are in the order of ranks" "$(poet show "$trace" --labels name | grep -o '^R:rank [0-9]' | tr -d 'R:rank \n')" 0123
    is "$mpi: no file of the launch is left behind" "$(ls "$XDG_RUNTIME_DIR" | grep -c launch)" 0
    is "$mpi: Bcast: the root's call is before the results of others" "$(how "$trace" 0:bcast:1 2:result:1)" before
    is "$mpi: Bcast: results of two other ranks are concurrent" "$(how "$trace" 1:result:1 2:result:1)" concurrent
    is "$mpi: Reduce: each rank's call is before the root's result" "$(how "$trace" 1:reduce:1 3:result:2)" before
    is "$mpi: Reduce: the root's call is not before the returns of others" "$(how "$trace" 3:reduce:1 1:done:1)" concurrent
    is "$mpi: Scan: a lower rank's call is before a higher rank's result" "$(how "$trace" 1:scan:1 2:result:2)" before
    is "$mpi: Scan: a higher rank's call is concurrent with a lower rank's result" "$(how "$trace" 2:scan:1 1:result:2)" concurrent
    is "$mpi: Gatherv: an empty part orders nothing" "$(how "$trace" 1:gather:1 0:result:1)" concurrent
    is "$mpi: Gatherv: a part that is not empty is before the root's result" "$(how "$trace" 2:gather:1 0:result:1)" before
    is "$mpi: Ibarrier: each start is before each end" "$(how "$trace" 2:ibarrier:1 1:result:3)" before
    is "$mpi: Barrier: all ranks' calls are simultaneous" "$(how "$trace" 2:together:1 1:together:1)" same

    # ---- one rank, without mpirun, and with traced calls only ----
    poetcc -trace -g alone.c -o alone 2>cc.log || cat cc.log
    rm -f ./*.poet
    check "$mpi: one rank without mpirun runs" timeout 300 ./alone
    trace=$(trace_of alone)
    check "$mpi: one rank without mpirun: the trace is sound" sound "$trace"
    is "$mpi: one rank without mpirun: messages to itself are paired" \
        "$(poet dump --json "$trace" | grep -c '"type":"receive".*"relation":"async"')" 2

    # ---- threads ----
    rm -f ./*.poet
    is "$mpi: threads of ranks send concurrently" "$($run -n 2 ./mpi-threads)" "200 at once"
    trace=$(trace_of mpi-threads)
    check "$mpi: threads of ranks: the trace is sound" sound "$trace"
    is "$mpi: threads are lines beside the ranks" "$(poet dump --json "$trace" | grep -c '"kind":"thread"')" 8

    # ---- an unmodified program, started by mpirun ----
    rm -f ./*.poet
    $CC -g collect.c -o plain
    check "$mpi: poet record of mpirun succeeds" poet record -o plain.poet -- $run -n 4 ./plain
    check "$mpi: poet record: the trace is sound" sound plain.poet
    is "$mpi: poet record: as many results as with poetcc -trace" "$(poet dump --json plain.poet | grep -c '"type":"result"')" "$results"
    is "$mpi: poet record: four ranks" "$(poet dump --json plain.poet | grep -c '"kind":"rank"')" 4

    # ---- a deadlock ----
    rm -f ./*.poet
    $run -n 3 ./deadlock >/dev/null 2>&1 &
    pid=$!
    until_true sh -c 'ls deadlock.*.poet'
    trace=$(trace_of deadlock)
    until_true sh -c "poet blocked $trace | grep -q ^DEADLOCK && poet blocked $trace | grep -q MPI_Barrier"
    poet blocked "$trace" >blocked.txt
    like "$mpi: deadlock: poet blocked names the awaited rank and the source line" "$(cat blocked.txt)" "rank 0 waits for a message from R:rank 1 at deadlock.c:12"
    like "$mpi: deadlock: poet blocked lists the cycle" "$(cat blocked.txt)" "^    .*rank [01] .*waits for R:rank [01]"
    kill $pid
    wait $pid 2>/dev/null
    end_own_processes deadlock
done

# ---- two hosts ----
if [ -x "$(command -v mpirun.mpich)" ] && [ "$(id -u)" = 0 ] && netns 2>netns.log; then
    export CC=mpicc.mpich
    poetcc -trace -g "$root/tests/e2e/mpi-log.c" -o mpi-log 2>/dev/null
    poet key >/dev/null
    POET_KEY_FILE=$work/another poet key >/dev/null
    ip netns exec poet-a poet server -l poet://10.77.0.1:7711 -l "unix:$work/far.sock" -o far.poet -q &
    pids="$pids $!"
    until_true poet runs "unix:$work/far.sock"
    far() {
        POET_KEY_FILE=$1 ip netns exec poet-a timeout 300 mpirun.mpich -launcher ssh -launcher-exec "$work/to-host" \
            -hosts 10.77.0.1,10.77.0.2 -genv POET_SERVER 10.77.0.1:7711 -genv POET_RUN both -n 4 ./mpi-log 2>&1
    }
    unset POET_QUIET
    like "two hosts: a key mismatch is reported, and events are kept" "$(far "$work/another")" "^poet: poet://10.77.0.1:7711: key mismatch: .*; events are kept in "
    export POET_QUIET=1
    rm -r "$work/state/poet/agent"
    far "$work/.config/poet/key"
    check "two hosts: the trace is sound" sound "unix:$work/far.sock"
    is "two hosts: both have a name" "$(poet stat --json "unix:$work/far.sock" | grep -o '"host":"[^"]*"' | sort -u | wc -l)" 2
    like "two hosts: each receive is paired with its send" \
        "$(poet dump --json "unix:$work/far.sock" | python3 "$root/tests/e2e/mpi-log.py" . 2>&1)" " 0 wrong, 0 unknown"
else
    skip "two hosts: not root, or no network namespaces or mpich ($(head -n 1 netns.log 2>/dev/null))"
fi
ip netns del poet-a 2>/dev/null
ip netns del poet-b 2>/dev/null
done_testing
