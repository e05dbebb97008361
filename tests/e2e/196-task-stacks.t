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
# ---- a task that does not want its calls to be measured ----
cat >off.c <<'C'
#include "ucpp.h"
static struct object loud, quiet;
__attribute__((noinline)) static void visit(void) { yield(); }
static void loud_main(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) visit();
}
static void quiet_main(void *unused)
{
    (void)unused;
    visit();
    poet_calls_off();
    poet_calls_off();
    for (int i = 0; i < 10; i++) visit();
    poet_calls_on();
    visit();
    poet_calls_on();
    poet_calls_on(); /* more often than off: no effect */
    for (int i = 0; i < 3; i++) visit();
}
void uc_main(void)
{
    task_make(&loud, "loud", loud_main, NULL);
    task_make(&quiet, "quiet", quiet_main, NULL);
    object_delete(&loud);
    object_delete(&quiet);
}
C
poetcc -profile -g -O1 -I"$ucpp" off.c ucpp.o -o off || exit 1
POET_QUIET=1 POET_OUTPUT=off.poet ./off
until_true finished off.poet
check "calls off and on: poet check accepts the trace" poet check off.poet
is "calls of a task are measured again after poet_calls_on, those of other tasks throughout" \
    "$(for task in loud quiet; do poet calls --json --threads $task off.poet |
        json '.[].row | select(.function? | strings | startswith("visit")) | .calls'; done | paste -sd' ')" "20 4"
# ---- what a runtime asks before it switches tasks in a signal handler ----
cat >busy.c <<'C'
#include <poet.h>
#include <printf.h>
#include <stdio.h>
static int inside = -1;
/* The conversion %Y of printf, which poet_text runs while it records. */
static int put(FILE *out, const struct printf_info *info, const void *const *arguments)
{
    (void)info, (void)arguments;
    inside = poet_busy();
    return fprintf(out, "here");
}
static int size(const struct printf_info *info, size_t n, int *types, int *sizes)
{
    (void)info, (void)n, (void)types, (void)sizes;
    return 0;
}
int main(void)
{
    register_printf_specifier('Y', put, size);
    int before = poet_busy();
    poet_text("%Y");
    printf("%d %d %d\n", before, inside, poet_busy());
    return 0;
}
C
poetcc -trace -g -w busy.c -o busy || exit 1
is "poet_busy is 1 while libpoet records, and 0 outside" "$(POET_QUIET=1 POET_OUTPUT=busy.poet ./busy)" "0 1 0"
done_testing
