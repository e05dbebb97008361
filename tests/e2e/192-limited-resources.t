#!/bin/bash
# Programs with limited address space or disk space: they behave as without Poet, and lost events are reported.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

# ---- address space ----

cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *volatile kept[1000];
static void *work(void *argument) { return argument; }
int main(void)
{
    pthread_t threads[4];
    int made = 0;
    for (int i = 0; i < 1000; i++)
        kept[i] = malloc(24);
    for (int i = 0; i < 4; i++)
        made += pthread_create(&threads[made], NULL, work, NULL) == 0;
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", made);
    return 0;
}
C
cc -g threads.c -o threads -pthread
is "limited address space: a program with a heap profile can create its threads" \
    "$(poet record -m memory -o space.poet -- sh -c 'ulimit -v 120000; exec ./threads' 2>&1)" 4
until_true finished space.poet
like "limited address space: each heap block is counted" "$(poet memory space.poet)" '^main \(threads.c:[0-9]+\) .* 1000 +24000 '

# ---- disk space ----

cat >locks.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
    for (int i = atoi(argv[1]); i > 0; i--)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    if (argc > 2)
        _exit(7);
    return 7;
}
C
cc -g locks.c -o locks -pthread
# recorded FILE ARG...: records with a file size limit of 600 KiB, as on a full disk; prints the last messages
recorded() {
    file=$1
    shift
    POET_QUIET= && unset POET_QUIET
    bash -c 'ulimit -f 600; exec poet record -o "$@"' - $file -- ./locks "$@" 2>&1 | sed '/recording to/d'
}
for way in "" at-once; do
    like "full disk: lost events are reported at the end of the program${way:+, $way}" "$(recorded full.poet 100000 $way)" \
        '^poet: at least [0-9]+ events lost \(no space left to write the trace\); exact number: poet stat full.poet$'
    until_true finished full.poet
    rm -f full.poet
done
is "sufficient disk space: nothing is reported" "$(recorded whole.poet 10)" ""
done_testing
