# Calls of MPI programs: MPI_Init and MPI_Finalize have rows, and what conc. is of is said.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    skip "no MPI here"
    done_testing
    exit
fi
cat >ranks.c <<'X'
#include <mpi.h>
#include <unistd.h>

__attribute__((noinline)) static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(20000); /* all ranks are in it */
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    together();
    MPI_Finalize();
    return 0;
}
X
CC=mpicc poetcc -profile -g ranks.c -o ranks || exit 1
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
