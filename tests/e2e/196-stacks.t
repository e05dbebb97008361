#!/bin/bash
# A runtime says on which stack a task runs: calls of coroutines by what the program counts itself, and their
# blocks of the heap; what the operating system says of a program of tasks.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
finished() { poet check "$1" >/dev/null 2>&1; }
ucpp=$root/examples/ucpp

cat >turns.c <<'C'
#include "ucpp.h"
#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline))
enum { WORKERS = 3, ROUNDS = 4 };
static struct object left, users[WORKERS], outers[WORKERS], inners[WORKERS];
static int lefts, briefs;
static void *volatile kept;
NI void pause_here(void) { suspend(); }
void left_main(void *u) { (void)u; for (;;) { lefts++; pause_here(); } }
NI void take(void) { kept = malloc(77); }
void inner_main(void *u) { (void)u; for (;;) { briefs++; suspend(); } }
void outer_main(void *u)
{
    struct object *inner = u;
    if (inner == &inners[0]) take();
    for (int i = 1; i < ROUNDS; i++) { resume(inner); suspend(); }
    resume(inner);
}
NI void go(void)
{
    struct object *from = enter(&left, 1);
    resume(&left);
    leave(&left, from);
}
void user_main(void *u)
{
    struct object *outer = u;
    for (int i = 0; i < ROUNDS; i++) { go(); yield(); resume(outer); }
}
void uc_main(void)
{
    coroutine_monitor_make(&left, "left", left_main, NULL);
    for (int i = 0; i < WORKERS; i++) {
        coroutine_make(&inners[i], "inner", inner_main, NULL);
        coroutine_make(&outers[i], "outer", outer_main, &inners[i]);
        task_make(&users[i], "user", user_main, &outers[i]);
    }
    for (int i = 0; i < WORKERS; i++) object_delete(&users[i]);
    for (int i = 0; i < WORKERS; i++) { object_delete(&outers[i]); object_delete(&inners[i]); }
    object_delete(&left);
    printf("%d %d\n", lefts, briefs);
}
C
poetcc -trace -g -O1 -I"$ucpp" -c "$ucpp/ucpp.c" -o ucpp.o || exit 1
poetcc -profile -g -O1 -I"$ucpp" turns.c ucpp.o -o turns || exit 1
for processors in 1 2; do
    UCPP_SEED=$((processors - 1)) UCPP_PROCESSORS=$processors poet record -m calls,memory -o turns.poet -- ./turns >out 2>err
    until_true finished turns.poet
    poet calls --tree turns.poet >calls
    is "$processors processors: each resume of a coroutine is a call of its main, under the root" \
        "$(awk '/^(left|outer|inner)_main / { print $1, $3 }' calls | sort | tr '\n' ' ')" "inner_main 12 left_main 12 outer_main 12 "
    is 'so the program counts them' "$(cat out)" '12 12'
    is 'what is suspended for good is marked, what ended is not' \
        "$(awk '/^(left|outer|inner)_main / { print $1, /INCOMPLETE/ }' calls | sort | tr '\n' ' ')" "inner_main 1 left_main 1 outer_main 0 "
    is 'what it calls lies below it' "$(awk '/^left_main / { on = 1; next } /^[^ ]/ { on = 0 } on && /pause_here/ { print $3 }' calls)" 12
    is 'nothing of it lies below whoever resumed it' "$(awk '/^user_main / { on = 1; next } /^[^ ]/ { on = 0 } on { print $1 }' calls |
        sort | tr '\n' ' ')" 'go '
    is 'every end has its begin' "$(grep -c 'without a matching entry' calls)" 0
    is 'a block that a coroutine took is its task'"'"'s' "$(poet memory turns.poet | awk '/^take / { print $3, $4, $5 }')" 'T:user 1 77'
    is 'its whole call stack is known' "$(poet memory --tree turns.poet | awk '{ match($0, /^ */); at[RLENGTH / 2] = $1 }
        /take \(/ { for (i = 0; i <= RLENGTH / 2; i++) printf "%s ", at[i] }')" 'run outer_main take '
    is 'of no block it is known in part' "$(poet memory turns.poet | grep -c 'incomplete stack')" 0
done
is 'what the program used in all is told at its end' "$(poet usage turns.poet | awk '$3 == "peak_resident" || $3 == "cpu_user" {
    print $3, /getrusage\(\) at exit/ }' | sort | tr '\n' ' ')" 'cpu_user 1 peak_resident 1 '
done_testing
