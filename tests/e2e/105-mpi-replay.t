#!/bin/bash
# Replay of MPI programs: receives from MPI_ANY_SOURCE, probes, tests and MPI_Waitany give the recorded results,
# and each rank that mpirun starts has its own part of the schedule.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >any.c <<'C'
#include <mpi.h>
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
static void say(const char *how, int from, int tag) { printf("%s%d:%d ", how, from, tag); }
static void take_any(void)
{
    int from;
    MPI_Status s;
    MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    say("recv ", s.MPI_SOURCE, s.MPI_TAG);
}
static void take_begun(void) /* two at once; the second is waited for first */
{
    int from[2];
    MPI_Request r[2];
    MPI_Status s;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&from[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
    for (int i = 1; i >= 0; i--)
        MPI_Wait(&r[i], &s), say("irecv ", s.MPI_SOURCE, s.MPI_TAG);
}
static void take_first(void) /* one from each sender */
{
    int from[8], i;
    MPI_Request r[8];
    MPI_Status s;
    for (i = 1; i < n; i++)
        MPI_Irecv(&from[i], 1, MPI_INT, i, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i - 1]);
    for (int left = n - 1; left; left--)
        MPI_Waitany(n - 1, r, &i, &s), say("first ", s.MPI_SOURCE, s.MPI_TAG);
}
static void take_found(void)
{
    int there = 0, from;
    MPI_Status s;
    while (!there)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &s);
    MPI_Recv(&from, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
    say("found ", s.MPI_SOURCE, s.MPI_TAG);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    MPI_Recv(&from, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
    say("probed ", s.MPI_SOURCE, s.MPI_TAG);
}
static void take_tested(void)
{
    int from[2], there, left = 2, done[2] = {0};
    MPI_Request r[2];
    MPI_Status s;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&from[i], 1, MPI_INT, i + 1, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
    while (left)
        for (int i = 0; i < 2; i++)
            if (!done[i] && MPI_Test(&r[i], &there, &s) == MPI_SUCCESS && there)
                say("tested ", s.MPI_SOURCE, s.MPI_TAG), left--, done[i] = 1;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    static void (*const steps[])(void) = {take_any, take_begun, take_first, take_found, take_tested};
    /* each step takes two messages per round, one from each sender: no message is left over */
    for (int step = 0; step < 5; step++)
        for (int i = 0; i < TIMES; i++) {
            if (me)
                late(), MPI_Send(&me, 1, MPI_INT, 0, 10 * step + i, MPI_COMM_WORLD);
            else
                for (int k = 0; k < (step ? 1 : 2); k++)
                    steps[step]();
            MPI_Barrier(MPI_COMM_WORLD);
        }
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
    mpicc.$mpi -g any.c -o any || exit 1
    equal=0 same=0
    for i in 1 2; do
        rm -f any.poet
        timeout 60 poet record -o any.poet -- mpirun.$mpi -n 3 ./any >first 2>errors || cat errors
        until_true finished any.poet
        for j in 1 2 3; do
            rm -f again.poet
            timeout 60 poet replay any.poet -o again.poet >second 2>said && same=$((same + 1)) || cat said
            cmp -s first second && equal=$((equal + 1)) || cat first second
            until_true finished again.poet
        done
    done
    is "$mpi: replay delivers each message to the recorded receive, six times of six" "$equal" 6
    is "$mpi: replay exits with status 0, six times of six" "$same" 6
    like "$mpi: replay reports no divergence" "$(cat said)" '^poet replay: no divergence in [0-9]* events$'
    is "$mpi: all five ways to receive occurred" "$(tr ' ' '\n' <first | grep -c '^[a-z]')" 40
    is "$mpi: the received source is in the trace and the tooltip of a mark, not in its label" \
        "$(poet dump any.poet | grep -c 'got [12], asked [0-9]') $(poet export any.poet -o any.svg && grep -v '<title>' any.svg | grep -c asked) $(poet show any.poet --all | grep -c asked)" "40 0 0"
    check "$mpi: the trace of a replay passes poet check" poet check again.poet
done
done_testing
