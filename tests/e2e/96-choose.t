#!/bin/bash
# What a scheduler chooses is recorded (poet_choose) and given back: by chance it ran once, and so it runs again.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e
times=${POET_TEST_RUNS:-3}
replay() { # replay FILE NEW...
    rm -f "$2"
    timeout 60 poet replay "$1" -o "$2" "${@:3}" 2>said
    status=$?
    until_true finished "$2"
    return $status
}

# ---- a runtime with tasks of its own: chance has another seed each time ----
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
    is "$program: $times of $times are equal" "$equal" "$times"
    check "$program: obeys the description" poet check again.poet
done

# ---- several runs of it, one after the other: nobody makes the first task of the second one ----
for program in semaphores accepting inside; do
    UCPP_RUNS=2 POET_OUTPUT=two.poet UCPP_SCHEDULE=random UCPP_SEED=7 "./$program" >first
    until_true finished two.poet
    equal=0
    for i in $(seq "$times"); do
        UCPP_RUNS=2 UCPP_SCHEDULE=random UCPP_SEED=$((i + 100)) replay two.poet again.poet >second &&
            cmp -s first second && equal=$((equal + 1)) || cat said
    done
    is "$program, run twice: $times of $times are repeated" "$equal" "$times"
    rm -f two.poet
done
like "a choice says what it was, among how many" "$(poet dump --json accepting.poet | grep '"choose"')" '"texts":\["[0-9]+ of [0-9]+"\]'
UCPP_SCHEDULE=fifo UCPP_SEED=0 replay accepting.poet again.poet >second
is "who does not choose where it chose does something else" "$?" 1
like "and that is said" "$(cat said)" 'differs: T:main .* where|differs: T:main waits|differs: .* did '

# ---- a runtime on several threads of the system: which task a thread takes ----
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
        unsigned i = poet_choose(0, (unsigned)count, chance((unsigned)count));
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
is "on several threads: each is equal" "$equal" "$((times < 10 ? 10 : times))"
check "it obeys the description" poet check again.poet
check "untraced it chooses, too" test "$(POET_SERVER=none ./pool | wc -l)" = 60

# ---- among another number ----
sed 's/TASKS 60/TASKS 61/' pool.c >more.c
poetcc -trace -g more.c -o more
replay pool.poet again.poet ./more >second
is "a choice among another number is something else" "$?" 1
like "and that is said" "$(cat said)" 'differs: T:.* did choose of M:m, where it did choose of M:m'
done_testing
