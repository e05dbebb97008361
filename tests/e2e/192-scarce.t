#!/bin/bash
# A program with little of something: it does as it does without Poet.
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
is "120 MB of address space are enough for threads of a program whose heap is counted" \
    "$(poet record -m memory -o space.poet -- sh -c 'ulimit -v 120000; exec ./threads' 2>&1)" 4
until_true finished space.poet
like "...and each block is counted" "$(poet memory space.poet)" '^main \(threads.c:[0-9]+\) .* 1000 +24000 '

# ---- room for the trace ----

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
# recorded FILE ARG...: where a file may have 600 KiB, which is a disk that is full; what is said at the end
recorded() {
    file=$1
    shift
    POET_QUIET= && unset POET_QUIET
    bash -c 'ulimit -f 600; exec poet record -o "$@"' - $file -- ./locks "$@" 2>&1 | sed '/recording to/d'
}
for way in "" at-once; do
    like "a full disk is said at the end of the program${way:+, $way}" "$(recorded full.poet 100000 $way)" \
        '^poet: at least [0-9]+ events lost \(no space left to write the trace\); exact number: poet stat full.poet$'
    until_true finished full.poet
    rm -f full.poet
done
is "where all is kept nothing is said" "$(recorded whole.poet 10)" ""
done_testing
