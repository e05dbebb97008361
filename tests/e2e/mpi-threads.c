/* Threads of two ranks that send and receive at once (MPI_THREAD_MULTIPLE), some with shared tags.
 * Each message has a number, so which message was received is known, and with it the order. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 50

static int rank;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *p)
{
    int me = *(int *)p, other = 1 - rank, in, out;
    for (int i = 0; i < ROUNDS; i++) {
        int tag = i % 3 == 0 ? 99 : me;
        out = me * ROUNDS + i;
        if (i % 5 == 4) {
            MPI_Sendrecv(&out, 1, MPI_INT, other, tag, &in, 1, MPI_INT, other, tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        } else if (i % 5 == 3) {
            MPI_Sendrecv_replace(&out, 1, MPI_INT, other, tag, other, tag, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
        } else if (rank == 0) {
            MPI_Send(&out, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
            MPI_Recv(&in, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&in, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&out, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
        }
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    }
    return p;
}

int main(int argc, char **argv)
{
    int provided, id[THREADS] = {0, 1, 2, 3};
    pthread_t t[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, &id[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    if (rank == 0)
        printf("%d %s\n", total, provided == MPI_THREAD_MULTIPLE ? "at once" : "one by one");
    MPI_Finalize();
    return 0;
}
