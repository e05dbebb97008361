#!/bin/bash
# The first view names causes that no traced wait shows: a thread asleep in an untraced call, the sender of the messages that
# receivers wait for, an order that no synchronization enforces.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_base_warn_component_unused=0
. "$root/tests/e2e/display.sh"

view_first() { # TRACE
    printf '%s\n' 'state panel panel' 'state selection selection' quit >script
    rm -f panel selection
    timeout 100 poet view "$1" --script script >said 2>&1
    tr -s ' \n' ' ' <panel
}

# ---- a pipe that is full: bytes are not traced by poetcc -trace alone ----
cat >full.c <<'C'
#include <unistd.h>
int main(void)
{
    int ends[2];
    char bytes[4096] = "";
    if (pipe(ends)) return 1;
    while (write(ends[1], bytes, sizeof bytes) > 0) {}
    return 0;
}
C
poetcc -trace -g full.c -o full
POET_OUTPUT=full.poet ./full &
full=$!
disown $full
pids="$pids $full"
asleep() { poet blocked --json full.poet 2>errors | grep -q '"asleep":\[{'; }
check "the server sees the thread asleep" until_true asleep
kill -KILL $full
until_true finished full.poet
view=$(view_first full.poet)
like "the first view says that a thread is asleep in an untraced call" "$view" \
    'Key findings .* 1 thread is asleep in an untraced call( \(write\))?, since .* T:main asleep( in write)?'
like "the header counts it" "$(cat selection)" ' worst asleep waiting 1 '

# ---- two critical sections in an order that nothing enforces ----
cat >order.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int written;
static int value;
static void *load(void *p)
{
    pthread_mutex_lock(&lock);
    value = 7;
    pthread_mutex_unlock(&lock);
    written = 1;
    return p;
}
static void *use(void *p)
{
    while (!written) sched_yield();
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return p;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, load, 0);
    pthread_create(&t[1], 0, use, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
C
poetcc -trace -g order.c -o order
POET_OUTPUT=order.poet ./order
until_true finished order.poet
like "the first view has an order that is not enforced, with both places" "$(view_first order.poet)" \
    'Order not enforced order-violation: .* T:load locked M:lock at load \(order.c:[0-9]+\).* T:use locked M:lock at use \(order.c:[0-9]+\)'

poet report order.poet >report
is "the report has it as its last section, with both places" "$(tail -n 4 report | sed -E 's/ \(event [0-9:]+\)//; s/  +more/ more/; s/order.c:[0-9]+/order.c:N/')" \
    'Orders not enforced by synchronization more: poet predict --all order.poet
  order-violation
    T:load locked M:lock at load (order.c:N)
    T:use locked M:lock at use (order.c:N) next'

# ---- receivers that wait for a late sender ----
cat >late.c <<'C'
#include <mpi.h>
#include <unistd.h>
int main(int count, char **words)
{
    int rank, ranks, x = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        if (rank)
            MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else {
            usleep(700000);
            for (int to = 1; to < ranks; to++) MPI_Send(&x, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        }
    MPI_Finalize();
}
C
for mpi in mpich openmpi; do
    if ! command -v mpicc.$mpi >/dev/null; then
        skip "$mpi is not installed"
        continue
    fi
    CC=mpicc.$mpi poetcc -trace -g late.c -o late
    rm -f late.poet
    POET_OUTPUT=late.poet timeout 100 mpirun.$mpi -n 3 ./late >errors 2>&1 || cat errors
    until_true finished late.poet
    like "$mpi: the first view names the late sender, and where a receiver waits" "$(view_first late.poet)" \
        'late sender: receivers wait for its messages R:rank 0 at main \(late.c:12\)'
    poet report late.poet >report
    like "$mpi: poet report names it, too" "$(cat report)" ' late sender: R:rank 0, main \(late.c:12\)'
done
done_testing
