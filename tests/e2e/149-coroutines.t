#!/bin/bash
# Coroutines (ucontext) compared with what the program counts itself: a call that continues after a coroutine was
# resumed is one call; calls that never end are marked; different threads may resume one coroutine.
. "$(dirname "$0")/lib.sh"
measured() { python3 "$root/tests/e2e/regions.py" "$@" 2>program.err >out; } # measured PROGRAM ARGUMENT...
# of NAME COLUMN: 3 calls, 4 ended; of all paths that end with NAME, summed over threads
of() { awk -v name="$1" -v column="$2" '$2 ~ "/" name "[*]?$" { sum += $column } END { print sum + 0 }' out; }

cat >turns.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#define NI __attribute__((noinline))
static ucontext_t ends, hangs, moves, *back;
static __thread ucontext_t here;
static int bodies, inners, steps;
static void yield(ucontext_t *from) { swapcontext(from, back); }
NI static void step(ucontext_t *at) { steps++; yield(at); }
NI static void inner(ucontext_t *at, int n) { inners++; for (int i = 0; i < n; i++) step(at); }
static void ends_body(void) { bodies++; inner(&ends, 5); }
static void hangs_body(void) { bodies++; inner(&hangs, 100); }
static void moves_body(void) { bodies++; inner(&moves, 7); }
static void make(ucontext_t *c, void (*body)(void))
{
    getcontext(c);
    c->uc_stack.ss_sp = malloc(65536);
    c->uc_stack.ss_size = 65536;
    c->uc_link = NULL; /* set where it returns */
    makecontext(c, body, 0);
}
NI static void drive(ucontext_t *c) { back = &here; swapcontext(&here, c); }
static void *other(void *p) { for (int i = 0; i < 3; i++) drive(&moves); return p; }
int main(void)
{
    pthread_t t;
    getcontext(&ends);
    ends.uc_stack.ss_sp = malloc(65536);
    ends.uc_stack.ss_size = 65536;
    ends.uc_link = &here;
    makecontext(&ends, ends_body, 0);
    make(&hangs, hangs_body);
    make(&moves, moves_body);
    for (int i = 0; i < 6; i++) drive(&ends);
    for (int i = 0; i < 4; i++) drive(&hangs);
    for (int i = 0; i < 2; i++) drive(&moves);
    pthread_create(&t, NULL, other, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 2; i++) drive(&moves);
    printf("%d %d %d\n", bodies, inners, steps);
    return 0;
}
C
poetcc -profile -no-pie -O1 turns.c -o turns -g
for level in counts cpu; do
    POET_MEASURE=calls=$level measured ./turns
    is "calls=$level: the numbers of calls are those that the program counts" "$(awk '$2 ~ /_body$/ { sum += $3 } END { print sum }' out) $(of inner 3) \
$(of step 3)" "$(head -n 1 out)"
    is "calls=$level: returned calls are marked as ended, suspended ones are not" "$(of ends_body 3) $(of ends_body 4) $(of hangs_body 3) $(of hangs_body 4)" '1 1 1 0'
    is "calls=$level: a coroutine that another thread resumes is called once" "$(of moves_body 3)" 1
    is "calls=$level: no mismatched entries and exits" "$(awk '$2 == "numbers" && $3 + $4 + $5 + $6 != 0' out)" ''
done
is 'time in coroutines is not counted in the calls of the resuming threads as well' "$(awk 'NF > 9 && $2 != "/" { sum[$1] += $7 + $8 }
    $2 == "/main" || $2 == "/other" { real[$1] = $6 } END { for (t in real) print (sum[t] > 0 && sum[t] <= real[t]) }' out)" "1
1"
poet record -o turns.poet -- ./turns >program.out 2>record.err
until_true finished turns.poet
poet calls turns.poet >calls.out
like 'poet calls: a coroutine that stays suspended is marked INCOMPLETE' "$(grep '^hangs_body' calls.out)" ' 1 .*INCOMPLETE$'
is 'poet calls: a coroutine that returned is not marked INCOMPLETE' "$(grep '^ends_body' calls.out | grep -c INCOMPLETE)" 0
like 'poet calls: a coroutine that returned has one call' "$(grep '^ends_body' calls.out)" '^ends_body \(turns\.c:[0-9]+\) +1 '
is 'poet calls: no mean is below the minimum or above the maximum, whatever is suspended' "$(poet calls --json turns.poet |
    json 'rows | select(.max_ns != null and .mean_ns != null) | select(.mean_ns > .max_ns + 1 or .mean_ns < .min_ns - 1) | .function')" ''
is 'poet calls: of two calls that ran in intervals, the one that ended has a duration' "$(poet calls --json turns.poet |
    json 'row("step") | [.calls, .min_ns != null, .max_ns < .total_ns] | join(" ")')" '16 true true'

# ---- a runtime with resumes as calls: each has the duration from there to its suspend ----
cat >resumes.c <<'C'
#include <poet.h>
#include <stdlib.h>
#include <ucontext.h>
POET_RUNTIME("ucpp");
#define NI __attribute__((noinline))
static ucontext_t here, body_at;
static poet_stack_t stack;
static volatile long n;
NI static void spin(int k) { for (long i = 0; i < k * 20000L; i++) n++; }
NI static void suspend(void) { poet_stack_run(NULL, 0); swapcontext(&body_at, &here); }
static void body(void) { for (int i = 1;; i++) { spin(i); suspend(); } }
NI static void resume(void) { poet_stack_run(stack, POET_STACK_CALLED); swapcontext(&here, &body_at); }
int main(void)
{
    char *memory = malloc(65536);
    getcontext(&body_at);
    body_at.uc_stack.ss_sp = memory;
    body_at.uc_stack.ss_size = 65536;
    makecontext(&body_at, body, 0);
    poet_task_switch(poet_task("task", "main", NULL));
    poet_event(0, poet_type("create", NULL), 0, 0);
    stack = poet_stack(memory, 65536);
    for (int i = 0; i < 6; i++) resume();
    poet_task_switch(0);
    return 0;
}
C
poetcc -profile -O1 resumes.c -o resumes
POET_MEASURE=calls=real POET_OUTPUT=resumes.poet ./resumes 2>resumes.err
until_true finished resumes.poet
is 'poet calls: each resume of a runtime is a call with a duration of its own' "$(poet calls --json resumes.poet |
    json 'row("body") | [.calls, .min_ns < .mean_ns, .mean_ns < .max_ns, .max_ns < .total_ns, .max_ns > .total_ns / 6] | join(" ")')" \
    '6 true true true true'
done_testing
