#!/bin/bash
# Choices of a scheduler are recorded (poet_record_choice) and replayed: a random run is repeated exactly.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
export POET_VARIABLES=none # runs below have different seeds, which replay must not restore
here=$root/tests/e2e
times=${POET_TEST_RUNS:-3}
replay() { # replay FILE NEW...
    rm -f "$2"
    timeout 60 poet replay "$1" -o "$2" "${@:3}" 2>said
    status=$?
    until_true finished "$2"
    return $status
}

# ---- a runtime with its own tasks: each run has another random seed ----
poetcc -trace -g -Wall -Wextra -Werror -c "$root/examples/ucpp/ucpp.c" -o ucpp.o || exit 1
for program in semaphores accepting waiting coroutines fibonacci inside; do
    poetcc -trace -g "$root/examples/ucpp/$program.c" ucpp.o -o "$program" || exit 1
    POET_OUTPUT=$program.poet UCPP_SCHEDULE=random UCPP_SEED=7 "./$program" >first
    until_true finished "$program.poet"
    equal=0
    for i in $(seq "$times"); do
        UCPP_SCHEDULE=random UCPP_SEED=$((i + 100)) replay "$program.poet" again.poet >second &&
            cmp -s first second && python3 "$here/same.py" "$program.poet" again.poet >result && equal=$((equal + 1)) ||
            cat said result
    done
    is "$program: $times of $times replays are equal" "$equal" "$times"
    check "$program: poet check accepts the trace of the replay" poet check again.poet
done

# ---- two runs of the runtime in one program: the first task of the second one has no creator ----
for program in semaphores accepting inside; do
    UCPP_RUNS=2 POET_OUTPUT=two.poet UCPP_SCHEDULE=random UCPP_SEED=7 "./$program" >first
    until_true finished two.poet
    equal=0
    for i in $(seq "$times"); do
        UCPP_RUNS=2 UCPP_SCHEDULE=random UCPP_SEED=$((i + 100)) replay two.poet again.poet >second &&
            cmp -s first second && equal=$((equal + 1)) || cat said
    done
    is "$program, run twice: $times of $times replays are equal" "$equal" "$times"
    rm -f two.poet
done
like "poet dump: a choice has its value and the number of alternatives" "$(poet dump --json accepting.poet | grep '"choose"')" '"annotations":\["[0-9]+ of [0-9]+"\]'
UCPP_SCHEDULE=fifo UCPP_SEED=0 replay accepting.poet again.poet >second
is "replay of a program without the choice exits with 1" "$?" 1
like "replay of a program without the choice reports the divergence" "$(cat said)" 'divergence: T:main .* recorded was|divergence: T:main is waiting|divergence: .* performed '

# ---- a runtime on several kernel threads: which task a thread takes ----
cat >pool.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>
#define TASKS 60
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready[TASKS], count, done[TASKS], by[TASKS], n;
static unsigned chance(unsigned of)
{
    unsigned x = 0;
    if (getrandom(&x, sizeof x, 0) == sizeof x && x % 3 == 0)
        usleep(x % 100);
    return x % of;
}
static void *work(void *p)
{
    for (;;) {
        pthread_mutex_lock(&m);
        if (!count)
            break;
        unsigned i = poet_record_choice(0, (unsigned)count, chance((unsigned)count));
        by[n] = (int)(long)p, done[n++] = ready[i];
        ready[i] = ready[--count];
        pthread_mutex_unlock(&m);
        chance(1);
    }
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t[3];
    while (count < TASKS)
        ready[count] = count, count++;
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    for (int i = 0; i < n; i++)
        printf("%d by %d\n", done[i], by[i]);
    return 0;
}
C
poetcc -trace -g pool.c -o pool
POET_OUTPUT=pool.poet ./pool >first
until_true finished pool.poet
equal=0
for i in $(seq "$((times < 10 ? 10 : times))"); do
    replay pool.poet again.poet >second && cmp -s first second && python3 "$here/same.py" pool.poet again.poet >result &&
        equal=$((equal + 1)) || cat said result
done
is "a runtime on several threads: all replays are equal" "$equal" "$((times < 10 ? 10 : times))"
check "a runtime on several threads: poet check accepts the trace" poet check again.poet
check "a runtime on several threads runs untraced" test "$(POET_SERVER=none ./pool | wc -l)" = 60

# ---- another number of alternatives ----
sed 's/TASKS 60/TASKS 61/' pool.c >more.c
poetcc -trace -g more.c -o more
replay pool.poet again.poet ./more >second
is "replay with another number of alternatives exits with 1" "$?" 1
like "replay with another number of alternatives reports the divergence" "$(cat said)" 'divergence: T:.* performed choose on M:m, recorded was choose on M:m'

# ---- the environment: variables that affect the runtime are restored; of others the trace has no value ----
unset POET_VARIABLES
PASSWORD=correct-horse OWN=kept POET_VARIABLES=OWN UCPP_SCHEDULE=random UCPP_SEED=7 POET_OUTPUT=set.poet ./fibonacci >first
until_true finished set.poet
OMP_NUM_THREADS=3 UCPP_SEED=8 replay set.poet again.poet >second
is "replay restores the recorded variables" "$? $(cmp first second 2>&1)" "0 "
like "replay reports the restored variables" "$(cat said)" \
    'environment restored from the trace: (.*OWN=kept.*UCPP_S|.*UCPP_S.*OWN=kept.*)'
like "replay reports each variable, and unsets what was not set" "$(cat said)" 'UCPP_SEED=7.*UCPP_SCHEDULE=random.*without OMP_NUM_THREADS|UCPP_SCHEDULE=random.*UCPP_SEED=7.*without OMP_NUM_THREADS'
zstd -dc set.poet >bytes 2>/dev/null
is "the trace has no value of other variables" "$(cat set.poet bytes | grep -ac correct-horse) $(poet stat --json set.poet | grep -c correct-horse)" "0 0"

# ---- uncontrolled inputs: named with the first divergence ----
cat >ends.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t ended;
static void on(int number) { ended = number; }
static void end_child(int fd)
{
    if (write(fd, "", 1) != 1)
        exit(1);
    while (!ended)
        usleep(100);
}
int main(void)
{
    int ends[2];
    char c;
    if (pipe(ends) != 0)
        return 1;
    signal(SIGCHLD, on);
    if (fork() == 0) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        exit(read(ends[0], &c, 1) != 1);
    }
    if (getenv("EARLY"))
        end_child(ends[1]);
    for (int i = 0; i < 9; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    if (!getenv("EARLY"))
        end_child(ends[1]);
    return wait(0) < 0;
}
C
poetcc -trace -g ends.c -o ends
GONE=1 OTHER=1 POET_OUTPUT=ends.poet ./ends
until_true finished ends.poet
EARLY=1 OTHER=2 replay ends.poet again.poet
is "replay with a signal at another time exits with 1" "$?" 1
like "replay names the uncontrolled input" "$(cat said)" 'not controlled by the replay: likely (signal|SIGCHLD) arrival.*; possible: input, time and random numbers \(poet record --with-input\), .*addresses'
like "replay names the environment first" "$(grep -A1 'differs from the recorded one' said | tr '\n' ' ')" \
    'different value: OTHER; no longer set: GONE; newly set: EARLY .*divergence: '
done_testing
