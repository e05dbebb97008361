#!/bin/bash
# Replay of MPI programs that were compiled with -trace and started by mpirun without poet record: ranks are
# identified by their numbers.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
here=$root/tests/e2e
export POET_QUIET=1
cat >racy.c <<'C'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void late(void)
{
    unsigned char x = 0;
    if (getrandom(&x, 1, 0) == 1)
        usleep(x * 20u);
}
static void *work(void *p)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        late();
    }
    return p;
}
int main(int argc, char **argv)
{
    int rank, size, got, provided;
    pthread_t t;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_create(&t, NULL, work, NULL);
    for (int turn = 0; turn < 4; turn++) {
        late();
        work(NULL);
        if (rank != 0)
            MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        for (int i = 1; rank == 0 && i < size; i++) {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%d ", got);
        }
    }
    pthread_join(t, NULL);
    MPI_Finalize();
    return 0;
}
C
for mpi in mpich openmpi; do
    if ! command -v mpicc.$mpi >/dev/null || ! command -v mpirun.$mpi >/dev/null; then
        skip "$mpi is not installed"
        continue
    fi
    CC=mpicc.$mpi poetcc -trace -g racy.c -o racy -pthread
    outputs= equal=0 same=0
    for i in 1 2 3; do
        rm -f run.poet
        POET_OUTPUT=run.poet timeout 100 mpirun.$mpi -n 3 ./racy >first 2>/dev/null
        until_true finished run.poet
        for j in 1 2 3; do
            rm -f new.poet
            timeout 100 poet replay run.poet -o new.poet -- mpirun.$mpi -n 3 ./racy >second 2>said
            until_true finished new.poet
            python3 "$here/same.py" run.poet new.poet >result 2>&1 && equal=$((equal + 1)) || cat result said
            cmp -s first second && same=$((same + 1))
        done
    done
    is "$mpi: replay exits with status 0 and the same events, nine times of nine" "$equal" 9
    is "$mpi: the output of a replay is that of the recorded run, nine times of nine" "$same" 9
    is "$mpi: replay without a command asks for the launcher" "$(poet replay run.poet 2>&1 | head -n 1; poet replay run.poet >/dev/null 2>&1; echo $?)" \
        "poet replay: run.poet has 3 processes without their launcher in the trace; specify it, as in poet replay run.poet -- mpirun -n 3 ./racy
2"
done
done_testing
