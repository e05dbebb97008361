#!/bin/bash
# Programs with known figures on tasks of a runtime: coroutines of tasks, recursion in a task that migrates between
# kernel threads, and the calls of a task against its running time.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
finished() { poet check "$1" >/dev/null 2>&1; }
ucpp=$root/examples/ucpp
poetcc -trace -g -O1 -I"$ucpp" -c "$ucpp/ucpp.c" -o ucpp.o || exit 1
cat >spin.h <<'C'
#include <time.h>
/* By the CPU clock of the thread that runs it. */
__attribute__((no_instrument_function)) static inline long ran(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
/* Adds what it uses: on a virtual machine the clock may run on by more while it is not looked at. */
__attribute__((no_instrument_function)) static inline void spin(double ms, _Atomic long *used)
{
    long begin = ran();
    while (ran() < begin + (long)(ms * 1e6)) { }
    *used += ran() - begin;
}
C

# ---- coroutines of tasks ----
cat >strands.c <<'C'
#include "ucpp.h"
#include "spin.h"
#include <stdio.h>
enum { WORKERS = 10, ROUNDS = 5 };
static struct object workers[WORKERS], freds[WORKERS], marys[WORKERS];
static _Atomic long used[4];
__attribute__((noinline)) void dig(void) { spin(.75, &used[0]); }
__attribute__((noinline)) void sew(void) { spin(.5, &used[1]); }
__attribute__((noinline)) void fred(void) { spin(2, &used[2]); dig(); }
__attribute__((noinline)) void mary(void) { spin(1, &used[3]); sew(); }
static void fred_main(void *p) { (void)p; for (;;) { fred(); suspend(); } }
static void mary_main(void *p) { (void)p; for (;;) { mary(); suspend(); } }
static void work(void *p)
{
    long i = (char *)p - (char *)0;
    coroutine_make(&freds[i], "fred", fred_main, 0);
    coroutine_make(&marys[i], "mary", mary_main, 0);
    for (int k = 0; k < ROUNDS; k++) { resume(&freds[i]); yield(); resume(&marys[i]); yield(); }
    object_delete(&freds[i]);
    object_delete(&marys[i]);
}
void uc_main(void)
{
    for (long i = 0; i < WORKERS; i++) task_make(&workers[i], "worker", work, (char *)0 + i);
    for (int i = 0; i < WORKERS; i++) object_delete(&workers[i]);
    printf("dig %ld sew %ld fred %ld mary %ld\n", used[0], used[1], used[2], used[3]);
}
C
poetcc -trace -profile -g -O1 -I"$ucpp" strands.c ucpp.o -o strands || exit 1
for processors in 1 3; do
    UCPP_PROCESSORS=$processors POET_OUTPUT=strands$processors.poet ./strands >used
    until_true finished strands$processors.poet
    poet calls strands$processors.poet --json >strands.json
    is "$processors worker threads: five calls of each coroutine per worker, however often they are suspended" \
        "$(json 'cells(row("fred", "dig", "mary", "sew").calls)' strands.json)" "50 50 50 50"
    cp strands.json "strands$processors.json"
    is "$processors worker threads: each coroutine has the CPU time that it read" "$(
        read -r _ dig _ sew _ fred _ mary <used
        for coroutine in dig sew fred mary; do
            used=${!coroutine}
            json 'row("'$coroutine'").cpu_ns | select(. < .999 * '$used' or . > 1.001 * '$used' + 2e6)
                | "'$coroutine' \(.) of '$used'"' strands.json
        done 2>&1)" ""
    is "$processors worker threads: each of ten tasks has five calls" "$(
        poet calls strands$processors.poet --by thread --json |
        json '[inner_rows | cells((.function | first_word), .calls) | select(test("^(fred|mary) "))]
            | group_by(.) | map("\(.[0]) x \(length)") | join(", ")')" "fred 5 x 10, mary 5 x 10"
done

poet report --all strands1.poet >report
like "ten tasks on one worker thread: poet report says that the runtime has too few" "$(cat report)" \
    "too few worker threads \\([0-9]+ tasks runnable on none\\)"
is "and does not blame the CPUs of the machine" "$(grep -cE 'CPU contention|wake-up latency: ' report)" 0

# ---- recursion in a task that migrates ----
cat >moved.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdio.h>
#include "spin.h"
#include <ucontext.h>
POET_RUNTIME("ucpp");
/* One task with a stack of its own, which migrates to the other of two threads in the middle of each call. */
static ucontext_t task_context, carriers[2];
static poet_line_t task;
static pthread_barrier_t step;
static volatile int on, done;
static char stack[262144];
__attribute__((no_instrument_function)) static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
__attribute__((no_instrument_function, noinline)) static void move(void)
{
    int from = on;
    on = !on;
    poet_task_switch(0);
    swapcontext(&task_context, &carriers[from]);
}
static long took, within; /* around the outer call, and inside of it */
static _Atomic long used[2]; /* by the inner call, and by the outer one */
__attribute__((noinline)) void nested(int n)
{
    long begin = n ? now() : 0;
    spin(5, &used[n]); move(); if (n) nested(n - 1); spin(5, &used[n]); if (n) spin(10, &used[n]);
    within = n ? now() - begin : within;
}
__attribute__((no_instrument_function)) static void body(void)
{
    poet_event(task, poet_type("start", 0), 0, 0);
    long begin = now();
    nested(1);
    took = now() - begin;
    poet_event(task, poet_type("end", 0), 0, 0);
    done = 1;
    move();
}
__attribute__((no_instrument_function)) static void *carry(void *p)
{
    int me = (int)((char *)p - (char *)0);
    poet_worker_thread(me ? "right" : "left", "");
    for (;;) {
        pthread_barrier_wait(&step);
        if (done) return p;
        if (on == me) { poet_task_switch(task); swapcontext(&carriers[me], &task_context); }
        pthread_barrier_wait(&step);
    }
}
__attribute__((no_instrument_function)) int main(void)
{
    pthread_t t[2];
    pthread_barrier_init(&step, 0, 2);
    task = poet_task("task", "mover", 0);
    poet_task_switch(task);
    poet_event(task, poet_type("create", 0), 0, 0);
    poet_task_switch(0);
    getcontext(&task_context);
    task_context.uc_stack.ss_sp = stack;
    task_context.uc_stack.ss_size = sizeof stack;
    makecontext(&task_context, body, 0);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, carry, (char *)0 + i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf("%ld %ld %ld %ld\n", within, took, used[0], used[1]);
    return 0;
}
C
poetcc -trace -profile -g -O1 moved.c -o moved || exit 1
POET_OUTPUT=moved.poet ./moved >took
until_true finished moved.poet
poet calls moved.poet --json >moved.json
# The clocks of both threads may run at slightly different rates.
read -r within took inner outer <took
nested=$(poet calls moved.poet --graph --json |
    json '.[] | select(.row.function | first_word == "nested") | cells(.depth, .row.calls, .row.cpu_ns)' |
    awk -v inner="$inner" -v outer="$outer" '{
        should = $1 ? inner : inner + outer
        right = $3 >= 0.999 * should && $3 < 1.01 * should + 1e6
        printf "%s:%s ", $2, right ? "right" : $3 " of " should
    }')
poet states --placement moved.poet --csv | cut -d, -f1 | tr '\n' ' ' >where
like "the task migrated between both threads" "$(cat where)" "left.*right|right.*left"
is "recursion: both calls have the CPU time that they read, and so has the inner one" "$nested" "2:right 1:right "
is "recursion: no time is counted twice or missing" "$(json 'row("nested").total_ns
    | if . <= '$took' and . >= 30e6 and . >= '$within' then "right"
    else "\(.) of '$within' to '$took'" end' moved.json)" right

# ---- calls of tasks, and their running time ----
cat >bathroom.c <<'C'
#include "ucpp.h"
#include "spin.h"
#include <stdio.h>
enum { USERS = 5, USES = 5 };
static struct object users[USERS], bathroom;
static struct condition men, women;
static int inside_men, inside_women;
static _Atomic long used, other;
__attribute__((noinline)) void use(void) { spin(2, &used); }
__attribute__((noinline)) void go_in(int man)
{
    struct object *from = enter(&bathroom, 1);
    while (man ? inside_women : inside_men) condition_wait(man ? &men : &women);
    man ? inside_men++ : inside_women++;
    leave(&bathroom, from);
}
__attribute__((noinline)) void come_out(int man)
{
    struct object *from = enter(&bathroom, 2);
    if (!--*(man ? &inside_men : &inside_women))
        while (!condition_empty(man ? &women : &men)) condition_signal(man ? &women : &men);
    leave(&bathroom, from);
}
__attribute__((noinline)) void live(int man) { for (int i = 0; i < USES; i++) { go_in(man); use(); yield(); come_out(man); spin(1, &other); yield(); } }
static void user(void *p) { live((int)((char *)p - (char *)0) % 2); }
void uc_main(void)
{
    monitor_make(&bathroom, "bathroom");
    condition_make(&men, &bathroom);
    condition_make(&women, &bathroom);
    for (long i = 0; i < USERS; i++) task_make(&users[i], i % 2 ? "man" : "woman", user, (char *)0 + i);
    for (int i = 0; i < USERS; i++) object_delete(&users[i]);
    object_delete(&bathroom);
    printf("%ld\n", used);
}
C
poetcc -trace -profile -g -O1 -I"$ucpp" bathroom.c ucpp.o -o bathroom || exit 1
POET_OUTPUT=bathroom.poet ./bathroom >used
until_true finished bathroom.poet
poet calls bathroom.poet --json >bathroom.json
used=$(cat used)
is "25 calls of use() have the CPU time that they read" "$(json 'row("use") | .calls, (.cpu_ns
    | if . >= .999 * '$used' and . <= 1.001 * '$used' + 2e6 then "right" else "\(.) of '$used'" end)' bathroom.json |
    paste -sd' ')" "25 right"
poet states bathroom.poet --json >states.json
poet calls bathroom.poet --by thread --json >threads.json
# Each user's CPU time in functions, and its running time by the states. A worker thread may itself be without a CPU, so
# that running is at least the CPU time of the functions.
json '.[] | select(.depth == 0 and .row.cpu_ns >= 15e6) | cells(.lines, .row.cpu_ns)' threads.json >cpu
json '.[] | select(.row) | cells(.lines, .row.running_ns)' states.json >running
is "the CPU time of each user's functions is its running time" "$(awk '
    FILENAME == "running" { running[$1] = $2; next }
    { users++ }
    $2 > 1.002 * running[$1] { wrong = wrong " " $1 ": " $2 " of " running[$1] }
    END { print users " users" wrong }' running cpu)" "5 users"
done_testing
