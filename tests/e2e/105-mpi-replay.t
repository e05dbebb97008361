#!/bin/bash
# MPI in a run that is repeated: whose message a receive from anybody gets, what is there when it is looked for, which of
# several is done first; and the processes that mpirun starts have their parts.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
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
static void take_begun(void) /* two at once, the second is awaited first */
{
    int from[2];
    MPI_Request r[2];
    MPI_Status s;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&from[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
    for (int i = 1; i >= 0; i--)
        MPI_Wait(&r[i], &s), say("irecv ", s.MPI_SOURCE, s.MPI_TAG);
}
static void take_first(void) /* of one from each */
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
    /* each takes two messages of each round, one of each sender: so none is left over */
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
        skip "there is no $mpi"
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
    is "$mpi: messages come from whom they came, six times of six" "$equal" 6
    is "$mpi: all events are the same" "$same" 6
    like "$mpi: and that is said" "$(cat said)" '^poet replay: no divergence in [0-9]* events$'
    is "$mpi: all ways were there" "$(tr ' ' '\n' <first | grep -c '^[a-z]')" 40
    is "$mpi: what a receive got stands in its trace and at its mark, not beside it" \
        "$(poet dump any.poet | grep -c 'got [12], asked [0-9]') $(poet export any.poet -o any.svg && grep -v '<title>' any.svg | grep -c asked) $(poet show any.poet --all | grep -c asked)" "40 0 0"
    check "$mpi: a trace of it is one as any other: sound" poet check again.poet
done
done_testing
