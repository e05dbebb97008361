/* An MPI program with a log of its own: each message has its sender and a serial number, and each
 * rank writes what it received, in order, to log.RANK.  Odd and even ranks alternate between all
 * ways to send and receive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 40

struct message {
    int from, serial;
};
static int rank, size, serial;
static FILE *log_file;
static struct message out[64];

static struct message *next(void)
{
    struct message *m = &out[serial % 64];
    *m = (struct message){rank, serial++};
    return m;
}

static void got(struct message m) { fprintf(log_file, "%d %d\n", m.from, m.serial); }

static void neighbours(int round, MPI_Comm comm)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, k;
    struct message in[4];
    MPI_Request r[8];
    MPI_Status s[8];
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&in[i], 2, MPI_INT, (round + i) & 1 ? MPI_ANY_SOURCE : left,
                  (round + i) & 2 ? MPI_ANY_TAG : 3, comm, &r[i]);
    for (int i = 0; i < 4; i++)
        (i & 1 ? MPI_Issend : MPI_Isend)(next(), 2, MPI_INT, right, 3, comm, &r[4 + i]);
    if (round % 3 == 0) {
        MPI_Waitall(8, r, s);
        for (int i = 0; i < 4; i++)
            got(in[i]);
    } else if (round % 3 == 1) {
        for (int n = 0; n < 8; n++) {
            MPI_Waitany(8, r, &k, s);
            if (k < 4)
                got(in[k]);
        }
    } else {
        for (int n = 7; n >= 0; n--) { /* the last posted first */
            int flag = 0;
            while (!flag)
                MPI_Test(&r[n], &flag, s);
            if (n < 4)
                got(in[n]);
        }
    }
}

/* Everybody to rank 0, in whatever order they come. */
static void to_one(int tag)
{
    struct message m;
    MPI_Status s;
    MPI_Message matched;
    if (rank) {
        MPI_Send(next(), 2, MPI_INT, 0, tag, MPI_COMM_WORLD);
        MPI_Ssend(next(), 2, MPI_INT, 0, tag + 1, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s);
        MPI_Recv(&m, 2, MPI_INT, s.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        got(m);
    }
    for (int i = 1; i < size; i++) {
        MPI_Mprobe(MPI_ANY_SOURCE, tag + 1, MPI_COMM_WORLD, &matched, MPI_STATUS_IGNORE);
        MPI_Mrecv(&m, 2, MPI_INT, &matched, MPI_STATUS_IGNORE);
        got(m);
    }
}

static void prepared(void)
{
    struct message mine, in;
    MPI_Request r[2];
    MPI_Recv_init(&in, 2, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(&mine, 2, MPI_INT, (rank + size - 1) % size, 8, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 3; i++) {
        mine = *next();
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        got(in);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

int main(int argc, char **argv)
{
    char name[32];
    struct message m;
    MPI_Comm copy, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "log.%d", rank);
    log_file = fopen(name, "w");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(copy, 0, rank, &all);
    for (int round = 0; round < ROUNDS; round++) {
        neighbours(round, round & 1 ? copy : all);
        if (round % 4 == 3)
            to_one(20 + 2 * round);
        if (round % 8 == 7)
            prepared();
        if (round % 5 == 4) {
            MPI_Sendrecv(next(), 2, MPI_INT, (rank + 1) % size, 1, &m, 2, MPI_INT,
                         (rank + size - 1) % size, 1, all, MPI_STATUS_IGNORE);
            got(m);
        }
        MPI_Barrier(copy);
    }
    MPI_Comm_free(&all);
    MPI_Comm_free(&copy);
    fclose(log_file);
    MPI_Finalize();
    return 0;
}
