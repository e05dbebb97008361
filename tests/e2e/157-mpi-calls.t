#!/bin/bash
# Call profiles of MPI programs: MPI_Init and MPI_Finalize have rows, and a note says what the concurrency column
# covers.
. "$(dirname "$0")/lib.sh"

if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    skip "MPI is not installed"
    done_testing
    exit
fi
cat >ranks.c <<'X'
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

__attribute__((noinline)) static void together(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* Waits for the other rank by spinning: the later call is concurrent with the earlier one. */
static int meet(void)
{
    int fd = open("met", O_RDWR);
    atomic_int *met = mmap(NULL, sizeof *met, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (met == MAP_FAILED)
        return 0;
    atomic_fetch_add(met, 1);
    while (atomic_load(met) < 2)
        sched_yield();
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int met = meet();
    together();
    MPI_Finalize();
    return !met;
}
X
CC=mpicc poetcc -profile -g ranks.c -o ranks || exit 1
head -c 4096 /dev/zero >met
POET_MEASURE=calls=every POET_OUTPUT=ranks.poet mpirun -n 2 ./ranks 2>mpirun.log
until_true finished ranks.poet
check "the trace passes poet check" poet check ranks.poet
poet calls --json ranks.poet >sums
for f in init finalize; do
    like "poet calls: $f is listed with one call per rank" "$(grep "\"function\":\"$f\"" sums)" '"calls":2,'
done
like "poet calls --cases: calls of different ranks are concurrent" "$(poet calls --cases --json ranks.poet)" \
    '"function":"together .*"class":"C"'
POET_OUTPUT=sums.poet mpirun -n 2 ./ranks 2>mpirun.log
until_true finished sums.poet
like "poet calls with call sums: a note says that concurrency covers one process only" \
    "$(poet calls --json sums.poet | tail -n 1)" "concurrent covers the threads of one process only; .* 2 processes"
done_testing
