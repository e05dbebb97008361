#!/bin/bash
# MPI ranks in different collective calls of a communicator, in a receive from a rank that is in one, and after MPI_Finalize: what
# poet blocked says of them, under each installed implementation, and nothing of ranks that can continue.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export OMPI_MCA_mpi_yield_when_idle=1 POET_QUIET=1

cat >mismatch.c <<'C'
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, value = 0;
    volatile int forever = 1;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    const char *how = argv[1];
    int fixed = argc == 3 && !strcmp(argv[2], "fixed"), busy = argc == 3 && !strcmp(argv[2], "busy");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 7, -rank, &half);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    while (busy && rank == 0 && forever)
        ;
    if (!strcmp(how, "collectives")) {
        if (rank == 0 || fixed)
            MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // rank 0 reduces
        MPI_Barrier(MPI_COMM_WORLD); // rank 1 is at the barrier
    } else if (!strcmp(how, "receive")) {
        if (rank == 1 && fixed)
            MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // rank 0 receives
        MPI_Barrier(half); // half of them
        if (rank == 1 && !fixed)
            MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else if (!strcmp(how, "leaves")) {
        if (rank == 1 || fixed)
            MPI_Barrier(MPI_COMM_WORLD); // rank 1 alone
    }
    MPI_Finalize(); // rank 0 leaves
    return 0;
}
C
at() { echo "mismatch.c:$(grep -n "// $1" mismatch.c | cut -d: -f1)"; }
run() { # run RECORDED HOW [WAY]: as poetcc has compiled it, or recorded
    if [ "$1" = traced ]; then
        POET_OUTPUT=$mpi-$1-$2$3.poet mpirun.$mpi -n 2 ./mismatch-$mpi-traced "$2" $3
    else
        poet record -o "$mpi-$1-$2$3.poet" -- mpirun.$mpi -n 2 ./mismatch-$mpi "$2" $3
    fi
}
says() { # says FILE PATTERN...
    local file=$1 pattern
    shift
    poet blocked "$file" >said 2>/dev/null
    for pattern; do grep -Eq -- "$pattern" said || return 1; done
}
hangs() { # hangs HOW PATTERN...
    local how=$1 mode file
    shift
    for mode in traced recorded; do
        file=$mpi-$mode-$how.poet
        run $mode "$how" >/dev/null 2>&1 &
        pids="$pids $!"
        check "$mpi $mode $how: what keeps the ranks waiting" until_true says "$file" "$@" || cat said
        end_own_processes mismatch-$mpi
        end_own_processes "$(printf %.15s mismatch-$mpi-traced)"
        run $mode "$how" fixed >/dev/null 2>&1
        is "$mpi $mode $how, corrected: the program ends" "$?" 0
        until_true finished "$mpi-$mode-${how}fixed.poet"
        is "$mpi $mode $how, corrected: no hang" "$(poet blocked "$mpi-$mode-${how}fixed.poet" | grep -E 'HANG|DEADLOCK|never')" ""
        run $mode "$how" busy >/dev/null 2>&1 &
        pids="$pids $!"
        check "$mpi $mode $how, busy: rank 1 waits" until_true says "$mpi-$mode-${how}busy.poet" '^R:rank 1 is in MPI_Barrier with G:'
        is "$mpi $mode $how, busy: nothing is concluded" "$(grep -E 'HANG|DEADLOCK|never' said)" ""
        end_own_processes mismatch-$mpi
        end_own_processes "$(printf %.15s mismatch-$mpi-traced)"
    done
}
for mpi in openmpi mpich; do
    if ! command -v mpicc.$mpi >/dev/null; then
        skip "$mpi is not installed"
        continue
    fi
    mpicc.$mpi -g mismatch.c -o mismatch-$mpi && CC=mpicc.$mpi poetcc -trace -g mismatch.c -o mismatch-$mpi-traced || exit 1
    hangs collectives '^DEADLOCK: 2 threads wait for each other' '^    R:rank 0 is in MPI_Allreduce with G:MPI_COMM_WORLD, at which R:rank 1 has not arrived' \
        '^    R:rank 1 is in MPI_Barrier with G:MPI_COMM_WORLD, at which R:rank 0 has not arrived' \
        "^R:rank 0 is in MPI_Allreduce with G:MPI_COMM_WORLD at $(at 'rank 0 reduces')" "^R:rank 1 is in MPI_Barrier with G:MPI_COMM_WORLD at $(at 'rank 1 is at')"
    hangs receive '^DEADLOCK: 2 threads wait for each other' '^    R:rank 0 waits for R:rank 1' \
        '^    R:rank 1 is in MPI_Barrier with G:split 7, at which R:rank 0 has not arrived' "^R:rank 1 is in MPI_Barrier with G:split 7 at $(at 'half of them')"
    hangs leaves '^HANG: no remaining thread can wake the waiters of G:MPI_COMM_WORLD' "^R:rank 1 is in MPI_Barrier with G:MPI_COMM_WORLD at $(at 'rank 1 alone')" \
        "^    at which R:rank 0 will not arrive, it left at $(at 'rank 0 leaves') "
done
done_testing
