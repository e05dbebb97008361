#!/bin/bash
# Call stacks of threads that wait: callers of wrappers around locks, of a queue, a join and a pipe, with and without frame
# pointers; the function that a signal handler interrupted.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1

cat >stacks.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#define FUNCTION __attribute__((noinline, noclone)) static
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meeting;
static int pipe_ends[2];
static volatile int sink; // (no call is the last one of its function)
FUNCTION void raw_lock(pthread_mutex_t *m)
{
    pthread_mutex_lock(m); // line 12
    sink++;
}
FUNCTION void my_lock(pthread_mutex_t *m)
{
    raw_lock(m); // line 17
    sink++;
}
FUNCTION void transfer(pthread_mutex_t *from, pthread_mutex_t *to)
{
    volatile char frame[200];
    my_lock(from);
    pthread_barrier_wait(&meeting);
    my_lock(to); // line 25
    sink += frame[0] = 1;
}
static void *debit(void *p) { transfer(&first, &second); sink++; return p; } // line 28
static void *credit(void *p) { transfer(&second, &first); sink++; return p; } // line 29
static struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    int items;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
FUNCTION void queue_take(struct queue *q)
{
    pthread_mutex_lock(&q->mutex);
    while (!q->items)
        pthread_cond_wait(&q->filled, &q->mutex); // line 39
    pthread_mutex_unlock(&q->mutex);
}
FUNCTION void work(int deeper)
{
    if (deeper)
        work(deeper - 1); // line 45
    else
        queue_take(&queue); // line 47
    sink++;
}
static void *worker(void *p) { work(1); sink++; return p; } // line 50
static void *deep_worker(void *p) { work(20); sink++; return p; }
FUNCTION void read_byte(void)
{
    char byte;
    sink += read(pipe_ends[0], &byte, 1) == 1; // line 55
}
static void *reader(void *p) { read_byte(); sink++; return p; } // line 57
static void handler(int signal)
{
    queue_take(&queue); // line 60
    sink += signal;
}
FUNCTION void interrupted(void)
{
    raise(SIGUSR1); // line 65
    sink++;
}
static void *signaled(void *p)
{
    sigaltstack(&(stack_t){.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, NULL);
    interrupted(); // line 71
    sink++;
    return p;
}
FUNCTION void wait_for(pthread_t thread)
{
    pthread_join(thread, NULL); // line 77
    sink++;
}
int main(void)
{
    void *(*const functions[])(void *) = {debit, credit, worker, deep_worker, reader, signaled};
    pthread_t threads[6];
    if (pipe(pipe_ends) != 0)
        return 1;
    pthread_barrier_init(&meeting, NULL, 2);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL);
    for (int i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, functions[i], NULL);
    wait_for(threads[0]); // line 90
    return 0;
}
C

# stack THREAD: its functions and lines, the innermost first
stack() {
    python3 - "$1" waits.json <<'P'
import json, sys
for wait in json.load(open(sys.argv[2]))["blocked"]:
    if wait["thread"]["label"] == "T:" + sys.argv[1]:
        frames = [f["function"] + (":" + f["place"].split(":")[1] if "stacks.c" in f["place"] else "") for f in wait["stack"]]
        print(*frames, "(%s)" % wait["incomplete"] if wait["incomplete"] else "", sep=" ")
P
}
# all_wait TRACE: writes waits.json; fails if not all threads wait yet
all_wait() { poet blocked --json --labels=name "$1" >waits.json && [ "$(grep -o '"outcome":' waits.json | wc -l)" -ge ${2-7} ]; }

# check_stacks HOW [THREADS]: waits until the program, which runs in the background, has so many blocked threads
check_stacks() {
    until_true all_wait $1.poet $2
    end_own_processes stacks-$1
    is "$1: a lock behind two wrappers" "$(stack debit)" "raw_lock:12 my_lock:17 transfer:25 debit:28 "
    is "$1: the other one" "$(stack credit)" "raw_lock:12 my_lock:17 transfer:25 credit:29 "
    is "$1: a condition variable in a queue" "$(stack worker)" "queue_take:39 work:47 work:45 worker:50 "
    is "$1: no more than seven callers" "$(stack deep_worker)" \
        "queue_take:39 work:47 work:45 work:45 work:45 work:45 work:45 work:45 (more callers)"
    is "$1: a join" "$(stack main)" "wait_for:77 main:90 "
    like "$1: a signal handler, and what it interrupted" "$(stack signaled)" "^queue_take:39 handler:60( [a-z_]+)* interrupted:65 signaled:71 $"
}

for frames in -fomit-frame-pointer -fno-omit-frame-pointer; do
    gcc -g -O2 $frames -pthread stacks.c -o stacks-record
    poet record -o record.poet -- ./stacks-record 2>/dev/null &
    pids="$pids $!"
    check_stacks record
    is "record: a pipe" "$(stack reader)" "read_byte:55 reader:57 "
    poet blocked record.poet >said
    like "poet blocked prints the stack" "$(grep -A 3 '^T:debit requests M:second at stacks.c:12' said)" \
        '^    in raw_lock, called by my_lock \(stacks.c:17\), transfer \(stacks.c:25\),$'
    like "poet blocked says that callers are left out" "$(tr '\n' ' ' <said)" 'work \(stacks.c:45\), +work \(stacks.c:45\), \.\.\. '
    rm record.poet*
done
poetcc -trace -g -O2 stacks.c -o stacks-traced
POET_OUTPUT=traced.poet ./stacks-traced &
pids="$pids $!"
check_stacks traced 6

# a table that is not there: the stack is said to be incomplete, and no caller is invented
gcc -g -O2 -pthread -fno-asynchronous-unwind-tables -fno-unwind-tables stacks.c -o stacks-bare
poet record -o bare.poet -- ./stacks-bare 2>/dev/null &
pids="$pids $!"
until_true all_wait bare.poet
end_own_processes stacks-bare
is "without unwind tables" "$(stack debit)" "raw_lock:12 (no unwind information)"
done_testing
