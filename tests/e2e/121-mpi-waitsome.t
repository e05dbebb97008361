#!/bin/bash
# Replay of MPI_Waitsome, MPI_Testsome, MPI_Testany and MPI_Testall: the same requests complete in the same calls,
# sends among them; the number of unsuccessful tests is not recorded.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >some.c <<'C'
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
#define TIMES 4
static int me, n;
static void late(void)
{
    unsigned char x = 0;
    if (getrandom(&x, 1, 0) == 1)
        usleep(x * 20);
}
static int from[8];
static MPI_Request r[8];
static MPI_Status s[8];
static void begin(bool any_source) /* (two receives at once could take a message that another one waits for) */
{
    for (int i = 0; i < n - 1; i++)
        MPI_Irecv(&from[i], 1, MPI_INT, any_source ? MPI_ANY_SOURCE : i + 1, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
}
static void say(const char *how, int done, const int *which)
{
    if (done)
        printf("%s", how);
    for (int i = 0; i < done; i++)
        printf(" %d=%d", which[i], s[i].MPI_SOURCE);
    if (done)
        printf("; ");
}
static void waits_some(void)
{
    int done, which[8];
    for (int left = n - 1; left; left -= done) {
        MPI_Waitsome(n - 1, r, &done, which, s);
        say("waitsome", done, which);
    }
}
static void tests_some(void)
{
    int done, which[8];
    for (int left = n - 1; left; left -= done) {
        MPI_Testsome(n - 1, r, &done, which, s);
        say("testsome", done, which);
    }
}
static void tests_any(void)
{
    int there, which;
    for (int left = n - 1; left; left -= there) {
        MPI_Testany(n - 1, r, &which, &there, s);
        say("testany", there, &which);
    }
}
static void tests_all(void) /* others test meanwhile whether another request is complete */
{
    int there = 0, which[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    while (!there)
        MPI_Testall(n - 1, r, &there, s);
    say("testall", n - 1, which);
}
static void sends_too(void) /* includes a send to the rank itself, that receives from any source would take */
{
    int to = 5, got, done, which[8], index[8];
    MPI_Request all[8], own;
    for (int i = 0; i < n - 1; i++)
        all[i] = r[i];
    MPI_Irecv(&got, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &own);
    MPI_Isend(&to, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &all[n - 1]);
    for (int left = n; left; left -= done) {
        MPI_Testsome(n, all, &done, which, s);
        int receives = 0;
        for (int i = 0; i < done; i++)
            if (which[i] != n - 1)
                s[receives] = s[i], index[receives++] = which[i];
        say("among", receives, index);
    }
    MPI_Wait(&own, MPI_STATUS_IGNORE);
}
static MPI_Request prepared[8], copies[8]; /* persistent receives from any source that are started repeatedly; copies of the requests are waited for */
static void prepare(void)
{
    for (int i = 0; i < n - 1; i++)
        MPI_Recv_init(&from[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &prepared[i]);
}
static void starts(void)
{
    static int times;
    int which[8], done = 1;
    for (int i = 0; i < n - 1; i++)
        copies[i] = prepared[i], which[i] = i;
    MPI_Startall(n - 1, prepared);
    if (times++ % 2) {
        MPI_Waitall(n - 1, copies, s);
        say("prepared", n - 1, which);
    }
    for (int left = times % 2 ? n - 1 : 0; left; left--) {
        MPI_Waitany(n - 1, prepared, which, s);
        say("prepared", done, which);
    }
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    static void (*const steps[])(void) = {waits_some, tests_some, tests_any, tests_all, sends_too, starts};
    prepare();
    for (int step = 0; step < 6; step++)
        for (int i = 0; i < TIMES; i++) {
            if (me)
                late(), MPI_Send(&me, 1, MPI_INT, 0, 10 * step + i, MPI_COMM_WORLD);
            else
{
                if (step < 5)
                    begin(step < 4 && i % 2);
                steps[step]();
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    for (int i = 0; i < n - 1; i++)
        MPI_Request_free(&prepared[i]);
    MPI_Finalize();
    if (!me)
        printf("\n");
    return 0;
}
C
for mpi in mpich openmpi; do
    if ! command -v mpicc.$mpi >/dev/null; then
        skip "$mpi is not installed"
        continue
    fi
    mpicc.$mpi -g -w some.c -o some || exit 1
    equal=0 same=0
    for i in 1 2; do
        rm -f some.poet
        timeout 60 poet record -o some.poet -- mpirun.$mpi -n 4 ./some >first 2>errors || cat errors
        until_true finished some.poet
        for j in 1 2 3; do
            rm -f again.poet
            timeout 60 poet replay some.poet -o again.poet >second 2>said && same=$((same + 1)) || cat said
            cmp -s first second && equal=$((equal + 1)) || cat first second
            until_true finished again.poet
        done
    done
    is "$mpi: the same requests complete in replay, six times of six" "$equal" 6
    is "$mpi: replay exits with status 0, six times of six" "$same" 6
    check "$mpi: the trace passes poet check" sound some.poet
done
done_testing
