#!/bin/bash
# Objects without a symbol are named by the argument of the call that created or first used them, as the source has it.
. "$(dirname "$0")/lib.sh"

cat >accounts.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct account { int n; pthread_mutex_t lock; };
struct bank { struct account *rows; };
static void *spend(void *p)
{
    struct account *a = p;
    pthread_mutex_lock(&a->lock);
    a->n++;
    pthread_mutex_unlock(&a->lock);
    return 0;
}
int main(void)
{
    struct bank *bank = malloc(sizeof *bank);
    struct account *single = malloc(sizeof *single);
    pthread_t t[3];
    bank->rows = calloc(2, sizeof *bank->rows);
    for (int i = 0; i < 2; i++)
        pthread_mutex_init(&bank->rows[i].lock, 0);
    pthread_mutex_init(&single->lock,
                       0);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, spend, i < 2 ? &bank->rows[i] : single);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
export POET_QUIET=1
# names FILE: the mutexes of a trace, as the diagram labels them
names() { poet show --labels name "$1" | grep -o '^M:[^ ]*' | sort -u | paste -sd' '; }
expected='M:bank->rows[i].lock M:bank->rows[i].lock#2 M:single->lock'
poetcc -trace -g accounts.c -o traced
POET_OUTPUT=traced.poet ./traced
is "compiled with -trace" "$(names traced.poet)" "$expected"
gcc -g -pthread accounts.c -o plain
poet record -o plain.poet -- ./plain
is "recorded" "$(names plain.poet)" "$expected"
like "a source that is newer than the program names nothing" \
    "$(touch -d '+1 hour' accounts.c && names plain.poet)" '^M:accounts\.c:[0-9]+ M:accounts\.c:[0-9]+#2 M:accounts\.c:[0-9]+$'
like "nor does one that is gone" \
    "$(rm accounts.c && names plain.poet)" '^M:accounts\.c:[0-9]+ M:accounts\.c:[0-9]+#2 M:accounts\.c:[0-9]+$'
mkfifo accounts.c
like "nor one that is not a file" "$(names plain.poet)" '^M:accounts\.c:'
done_testing
