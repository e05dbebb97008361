#!/bin/bash
# poet predict reports MPI sends that return only since their messages are buffered, from runs that pass, and none in
# programs that are safe without buffers.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    skip "MPI is not available"
    done_testing
    exit
fi
cat >exchange.c <<'C'
#include <mpi.h>
#include <stdlib.h>
static char data[8], got[8], buffer[10000];
int main(int argc, char **argv)
{
    int rank, count, next, last;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    next = (rank + 1) % count, last = (rank + count - 1) % count;
    (void)request, (void)buffer;
    for (int i = 0; i < 3; i++) {
#ifdef ODD /* one of them receives first */
        if (rank == 0)
            MPI_Recv(got, 8, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, 8, MPI_CHAR, next, 0, MPI_COMM_WORLD);
        if (rank != 0)
            MPI_Recv(got, 8, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#elif defined POSTED
        MPI_Irecv(got, 8, MPI_CHAR, last, 0, MPI_COMM_WORLD, &request);
        MPI_Send(data, 8, MPI_CHAR, next, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
#elif defined BOTH
        MPI_Sendrecv(data, 8, MPI_CHAR, next, 0, got, 8, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#elif defined BUFFER
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(data, 8, MPI_CHAR, next, 0, MPI_COMM_WORLD);
        MPI_Recv(got, 8, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Buffer_detach(&(void *){0}, &(int){0});
#elif defined ANY
        if (rank)
            MPI_Send(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        for (int k = 1; k < count && !rank; k++)
            MPI_Recv(got, 8, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        MPI_Send(data, 8, MPI_CHAR, next, 0, MPI_COMM_WORLD); /* line 37 */
        MPI_Recv(got, 8, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line 38 */
#endif
    }
    MPI_Finalize();
    return 0;
}
C
# record NAME [MACRO]: a run of three ranks
record() {
    CC=mpicc poetcc -trace -g ${2:+-D$2} exchange.c -o "$1" &&
        timeout 60 poet record -o "$1.poet" -- mpirun -n 3 "./$1" && until_true finished "$1.poet"
}
check "a run that passes is recorded" record unsafe
poet predict unsafe.poet >said
like "predict: the finding" "$(cat said)" \
    '^1  unsafe-send \(3 occurrences\): potential deadlock \(sends that return only since their messages are buffered\)'
for rank in 0 1 2; do
    like "predict: the send of rank $rank, and its receive" "$(cat said)" \
        "^  R:rank $rank sent to R:rank $(((rank + 1) % 3)) at main \(exchange.c:3[78]\) \(event [0-9:]+\), received at main \(exchange.c:38\) \(event [0-9:]+\)\$"
done
like "confirm says why it cannot steer the program there" "$(poet confirm unsafe.poet 1 2>&1)" 'schedule control is not possible'
for macro in ODD POSTED BOTH BUFFER ANY; do
    check "$macro: a run is recorded" record "safe$macro" $macro
    is "$macro: no send is unsafe" "$(poet predict "safe$macro.poet" | grep unsafe-send)" ""
    check "$macro: poet check accepts the trace" poet check "safe$macro.poet"
done
done_testing
