# Calls of MPI programs: MPI_Init and MPI_Finalize have rows, and what conc. is of is said.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    skip "no MPI here"
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

/* Waits for the other rank, at work: whichever calls first after it does so beside the other. */
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
check "the trace is sound" poet check ranks.poet
poet calls --json ranks.poet >sums
for f in init finalize; do
    like "$f is a call that waits, once in each rank" "$(grep "\"function\":\"$f\"" sums)" '"calls":2,'
done
like "the cases have what overlapped between ranks" "$(poet calls --cases --json ranks.poet)" \
    '"function":"together .*"class":"C"'
POET_OUTPUT=sums.poet mpirun -n 2 ./ranks 2>mpirun.log
until_true finished sums.poet
like "where calls are summed up concurrent is of one process, and that is said" \
    "$(poet calls --json sums.poet | tail -n 1)" "concurrent covers the threads of one process only; .* 2 processes"
done_testing
