/* A rank receives from any source and, if that was rank 2, then what rank 2 never sends: it hangs,
 * and ignores requests to end. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void take(int from, int tag, int *got)
{
    MPI_Recv(got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    int rank, got = 0, ignored;
    MPI_Init(&argc, &argv);
    signal(SIGTERM, SIG_IGN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2)
        usleep(200000);
    if (rank)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2 && !rank; i++) {
        take(MPI_ANY_SOURCE, 0, &got);
        if (i == 0 && got == 2)
            take(2, 7, &ignored);
    }
    if (rank == 0)
        printf("%d was the last\n", got);
    MPI_Finalize();
    return 0;
}
