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
done_testing
