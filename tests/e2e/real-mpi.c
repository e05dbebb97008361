/* Ranks that wait as the tests know: real-mpi ring|late|early. */
#include "real.h"

#include <mpi.h>
#include <string.h>

static int rank;
static char *large; /* more than is sent before a rank receives it */
enum { LARGE = 1 << 22 };

#define SEND(to) MPI_Send(&rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD)
#define RECEIVE(from)                                                                              \
    do {                                                                                           \
        int x;                                                                                     \
        MPI_Recv(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);                      \
    } while (0)

static void ring(void)
{
    if (rank == 0) {
        work("A1", 100);
        SEND(1);
        work("A2", 60);
        WAIT("p0", RECEIVE(2));
    } else if (rank == 1) {
        work("B1", 40);
        WAIT("p1", RECEIVE(0));
        work("B3", 80);
        SEND(2);
    } else {
        work("C1", 50);
        WAIT("p2", RECEIVE(1));
        work("C3", 70);
        SEND(0);
    }
}

/* Waits, in a way that is not traced, until the other rank has begun to send. */
static void until_sent(int from)
{
    int there = 0;
    while (!there)
        PMPI_Iprobe(from, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

/* Rank 1 asks when rank 0 sends already; then the other way round; then it asks long after. */
static void late(void)
{
    MPI_Request r;
    if (rank == 0) {
        WAIT("p0", MPI_Ssend(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
        work("first", 80);
        MPI_Ssend(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Issend(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &r);
        WAIT("p0", MPI_Wait(&r, MPI_STATUS_IGNORE));
        MPI_Send(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); /* which goes at once */
        work("second", 10);
    } else {
        until_sent(0);
        work("late1", 60);
        RECEIVE(0);
        WAIT("p1", RECEIVE(0));
        until_sent(0);
        work("late2", 40);
        RECEIVE(0);
        work("much later", 50);
        RECEIVE(0);
    }
}

/* A message that has to be asked for first, asked for before. */
static void early(void)
{
    MPI_Request r;
    large = calloc(1, LARGE);
    if (rank == 0) {
        work("before", 60);
        MPI_Send(large, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(large, LARGE, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &r);
        WAIT("p1", MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    static void (*const programs[])(void) = {ring, late, early};
    static const char *const names[] = {"ring", "late", "early"};
    char file[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3 && argc > 1; i++)
        if (strcmp(argv[1], names[i]) == 0)
            programs[i]();
    snprintf(file, sizeof file, "rank.%d.txt", rank);
    FILE *f = fopen(file, "w");
    report(f);
    fclose(f);
    MPI_Finalize();
    return 0;
}
