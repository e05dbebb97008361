#!/bin/bash
# Late senders: in a ring of ranks, each waits for the message of the one before it, which waited itself; the rank that
# computes for longer is the one that is named, whatever else runs on the machine.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >ring.c <<'C'
#include <mpi.h>
#include <time.h>
static void compute(long us)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}
int main(int count, char **words)
{
    int rank, ranks, x = 0, y;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++) {
        compute(rank == 2 ? 80000 : 100);
        MPI_Send(&x, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
        MPI_Recv(&y, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // receives
    }
    MPI_Finalize();
}
C
line=$(grep -n '// receives' ring.c | cut -d: -f1)
for mpi in mpich openmpi; do
    if ! command -v mpicc.$mpi >/dev/null; then
        skip "$mpi is not installed"
        continue
    fi
    CC=mpicc.$mpi poetcc -trace -g ring.c -o ring
    rm -f ring.poet
    POET_OUTPUT=ring.poet timeout 100 mpirun.$mpi -n 4 ./ring >errors 2>&1 || cat errors
    until_true finished ring.poet
    poet report ring.poet >report
    like "$mpi: the slow rank is the late sender" "$(cat report)" " late sender: R:rank 2, .*main \(ring.c:$line\)"
    is "$mpi: there is one" "$(grep -c 'late sender' report)" 1
    json 'rows | select(.finding // "" | test("late sender")) | .gain_ns > 0 and .gain_ns <= .duration_ns' <<<"$(poet report --json ring.poet)" >gain
    is "$mpi: its gain is at most the time of the waits" "$(cat gain)" true
done
done_testing
