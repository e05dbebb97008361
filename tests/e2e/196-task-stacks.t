#!/bin/bash
# A runtime that announces the stacks of its tasks: calls and heap blocks of coroutines compared with what the
# program counts itself; OS resource usage of a program with tasks.
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
    is "$processors processors: each resume of a coroutine is a call of its main, below the root" \
        "$(awk '/^(left|outer|inner)_main / { print $1, $3 }' calls | sort | tr '\n' ' ')" "inner_main 12 left_main 12 outer_main 12 "
    is "$processors processors: the program counts as many resumes" "$(cat out)" '12 12'
    is "$processors processors: suspended coroutines are marked INCOMPLETE, returned ones are not" \
        "$(awk '/^(left|outer|inner)_main / { print $1, /INCOMPLETE/ }' calls | sort | tr '\n' ' ')" "inner_main 1 left_main 1 outer_main 0 "
    is "$processors processors: callees of a coroutine are below it" "$(awk '/^left_main / { on = 1; next } /^[^ ]/ { on = 0 } on && /pause_here/ { print $3 }' calls)" 12
    is "$processors processors: callees of a coroutine are not below the resuming function" "$(awk '/^user_main / { on = 1; next } /^[^ ]/ { on = 0 } on { print $1 }' calls |
        sort | tr '\n' ' ')" 'go '
    is "$processors processors: no exit without a matching entry" "$(grep -c 'without a matching entry' calls)" 0
    is "$processors processors: a heap block of a coroutine belongs to its task" "$(poet memory turns.poet | awk '/^take / { print $3, $4, $5 }')" 'T:user 1 77'
    is "$processors processors: the call stack of a heap block in a coroutine is complete" "$(poet memory --tree turns.poet | awk '{ match($0, /^ */); at[RLENGTH / 2] = $1 }
        /take \(/ { for (i = 0; i <= RLENGTH / 2; i++) printf "%s ", at[i] }')" 'run outer_main take '
    is "$processors processors: no heap block has an incomplete stack" "$(poet memory turns.poet | grep -c 'incomplete stack')" 0
done
is 'poet usage: the totals of the program are given at its end' "$(poet usage turns.poet | awk '$3 == "peak_resident" || $3 == "cpu_user" {
    print $3, /getrusage\(\) at exit/ }' | sort | tr '\n' ' ')" 'cpu_user 1 peak_resident 1 '
done_testing
