#!/bin/bash
# Key findings of poet report: each inefficient pattern is found in the program that has it, with object, code and advice,
# and in no other program.
. "$(dirname "$0")/lib.sh"

program() {
    { cat "$root/tests/e2e/slow.h" "$root/tests/e2e/asleep.h"; cat; } >"$1.c"
    poetcc -trace -g "$1.c" -o "$1" || not_ok "$1.c compiles with -trace"
    POET_OUTPUT=$1.poet "./$1" >"$1.out" 2>/dev/null
    until_true finished "$1.poet"
    poet report --all "$1.poet" | sed -n '/^Key findings/,/^$/p' >"$1.txt"
    poet report "$1.poet" --json >"$1.json"
}
at() { grep -n "$2" "$1.c" | head -n 1 | cut -d: -f1; } # the source line of a program's statement
has() { like "$1: $2" "$(cat "$1.txt")" "$3"; }

# ---- eight threads are woken for one job ----
program storm <<'C'
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_changed = PTHREAD_COND_INITIALIZER;
static int jobs, closing, for_nothing;
static struct sleeper sleepers[8];
static void *worker(void *a)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!jobs && !closing) {
            about_to_wait(a);
            pthread_cond_wait(&jobs_changed, &lock); // waits
            for_nothing += !jobs && !closing;
        }
        if (!jobs && closing) break;
        jobs--;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return a;
}
static void change(int job, int close)
{
    pthread_mutex_lock(&lock);
    jobs += job;
    closing = close;
    pthread_cond_broadcast(&jobs_changed); // wakes
    pthread_mutex_unlock(&lock);
}
int main(void)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, worker, &sleepers[i]);
    for (int i = 0; i < 8; i++) until_asleep(&sleepers[i], 1);
    for (int i = 0; i < 20; i++) {
        nap(3);
        change(1, 0);
    }
    nap(3);
    change(0, 1);
    for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
    printf("%d\n", for_nothing);
}
C
has storm "useless wake-ups: the object, the waker, its code" \
    "useless wake-ups \(8 threads wait again immediately\) +T:worker[#0-9]* +CV:jobs_changed +T:main .*worker \(storm.c:$(at storm '// waits')\) +(main|change) \(storm.c:$(at storm '// wakes')\) +[0-9]+:[0-9]+"
has storm "what may help" "^note: useless wake-ups: use signal instead of broadcast"
times=$(json 'first(rows | select(.finding // "" | test("wait again immediately"))).count' storm.json)
nearly() { [ "$1" -le "$2" ] && [ $((10 * $1)) -ge $((9 * $2)) ]; }
check "storm: useless wake-ups are not more than the program counted, and nearly as many" \
    nearly "$times" "$(cat storm.out)"

# ---- a semaphore with wake-ups that consume a unit: none is useless ----
program tokens <<'C'
#include <semaphore.h>
static sem_t full;
static void *consumer(void *a)
{
    for (int i = 0; i < 30; i++) sem_wait(&full);
    return a;
}
int main(void)
{
    pthread_t t;
    sem_init(&full, 0, 0);
    pthread_create(&t, 0, consumer, 0);
    for (int i = 0; i < 30; i++) {
        nap(1);
        sem_post(&full);
    }
    pthread_join(t, 0);
}
C
is "tokens: no useless wake-up and no semaphore contention" "$(grep -Ec 'again immediately|semaphore contention' tokens.txt)" 0

# ---- a semaphore with too few units ----
program pool <<'C'
#include <semaphore.h>
static sem_t connections;
static struct sleeper sleepers[5];
static atomic_int taken;
static void await_others(void) /* the first thread holds it until all others wait */
{
    if (taken)
        return;
    taken = 1;
    for (int i = 1; i < 5; i++) until_asleep(&sleepers[i], 1);
}
static void query(void)
{
    sem_wait(&connections); // asks
    await_others();
    nap(10);
    sem_post(&connections); // gives
}
static void *client(void *a)
{
    if (a != sleepers)
        until_set(&taken, 1), about_to_wait(a);
    for (int i = 0; i < 6; i++) {
        query();
        nap(1);
    }
    return a;
}
int main(void)
{
    pthread_t t[5];
    sem_init(&connections, 0, 1);
    for (int i = 0; i < 5; i++) pthread_create(&t[i], 0, client, &sleepers[i]);
    for (int i = 0; i < 5; i++) pthread_join(t[i], 0);
}
C
has pool "a semaphore is fought over like a lock" \
    "semaphore contention \([0-9]+ threads wait for units to be released\) +T:client[#0-9]* +Sem:connections +T:client[#0-9]* .*\(pool.c:$(at pool '// asks')\) .*\(pool.c:$(at pool '// gives')\)"
has pool "it can begin with more" "^note: semaphore contention: raise the initial count"
has pool "a thread waits nearly always" "saturated object: at least one thread waits for it most of the run +T:client[#0-9]* +Sem:connections"
is "pool: the time with waiters is not longer than the run" \
    "$(json 'first(rows | select(.finding // "" | startswith("saturated"))).duration_ns as $saturated
        | if $saturated > first(rows).duration_ns then 1 else 0 end' pool.json)" 0
poet report --all pool.poet --to 20ms >range.txt
is "pool: in a range the share is that of the range" "$(grep '^saturated' range.txt | grep -Eo '[0-9.]+ %' | awk '$1 > 100')" ""

# ---- request and reply: never concurrent ----
program baton <<'C'
#include <semaphore.h>
static sem_t turn[2];
static void *runner(void *second)
{
    for (int i = 0; i < 10; i++) {
        sem_wait(&turn[second != 0]);
        nap(8);
        sem_post(&turn[!second]);
    }
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    sem_init(&turn[0], 0, 1);
    sem_init(&turn[1], 0, 0);
    pthread_create(&t[0], 0, runner, 0);
    pthread_create(&t[1], 0, runner, argv);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return argc - 1;
}
C
has baton "one at a time" "little parallelism \(3 threads, about one running at a time\) +T:runner"
has baton "in turns" "ping-pong: two threads alternately wait for each other +T:runner[#0-9]* +Sem:turn(\[[01]\])? +T:runner"
has baton "a longer queue" "^note: ping-pong: .*longer queue"

# ---- a thread that reacquires a lock before its waiters ----
program greedy <<'C'
static pthread_rwlock_t board = PTHREAD_RWLOCK_INITIALIZER; /* readers are preferred */
static pthread_barrier_t begin, turn;
static struct sleeper sleeper;
static void again(void)
{
    pthread_rwlock_unlock(&board);
    pthread_rwlock_rdlock(&board); /* the other reader holds it meanwhile */
}
static void *reader(void *second)
{
    pthread_rwlock_rdlock(&board);
    pthread_barrier_wait(&begin);
    until_asleep(&sleeper, 1);
    for (int i = 0; i < 20; i++) {
        pthread_barrier_wait(&turn);
        if (!second) again();
        nap(2);
        pthread_barrier_wait(&turn);
        if (second) again();
    }
    pthread_rwlock_unlock(&board);
    return 0;
}
static void *writer(void *a)
{
    pthread_barrier_wait(&begin);
    about_to_wait(&sleeper);
    pthread_rwlock_wrlock(&board); // asks
    pthread_rwlock_unlock(&board);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    pthread_barrier_init(&begin, 0, 3);
    pthread_barrier_init(&turn, 0, 2);
    pthread_create(&t[0], 0, reader, 0);
    pthread_create(&t[1], 0, reader, argv);
    pthread_create(&t[2], 0, writer, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return argc - 1;
}
C
has greedy "kept from a lock again and again" \
    "overtaken waiter: other threads reacquired the lock while the thread waited +T:writer +RW:board +T:reader.* writer \(greedy.c:$(at greedy '// asks')\)"
is "greedy: one waiting thread is not reported as several" "$(grep -c '^saturated' greedy.txt)" 0

# ---- a flag that is polled with a timeout, and set after two vain polls ----
program poll <<'C'
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t box_changed = PTHREAD_COND_INITIALIZER;
static int full;
static atomic_int polls;
static void *producer(void *a)
{
    until_set(&polls, 2);
    pthread_mutex_lock(&lock);
    full = 1;
    pthread_mutex_unlock(&lock);
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, producer, 0);
    pthread_mutex_lock(&lock);
    while (!full) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (until.tv_nsec + 50000000) / 1000000000;
        until.tv_nsec = (until.tv_nsec + 50000000) % 1000000000;
        pthread_cond_timedwait(&box_changed, &lock, &until); // polls
        polls++;
    }
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
}
C
has poll "waits that only the clock ends" \
    "timeouts: waits end by timeout, not by a wake-up +T:main +CV:box_changed +- .* main \(poll.c:$(at poll '// polls')\)"
has poll "the thread that changes the state can wake the waiter" "^note: timeouts: signal the waiter when"

# ---- services that are created one after the other ----
program startup <<'C'
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t up = PTHREAD_COND_INITIALIZER;
static int ready;
static struct sleeper sleeper;
static void *service(void *a)
{
    until_asleep(&sleeper, 1 + (int)(long)a);
    nap(10);
    pthread_mutex_lock(&lock);
    ready++;
    pthread_cond_signal(&up); // is up
    pthread_mutex_unlock(&lock);
    return a;
}
int main(void)
{
    pthread_t t[5];
    for (int i = 0; i < 5; i++) {
        pthread_create(&t[i], 0, service, (void *)(long)i);
        pthread_mutex_lock(&lock);
        while (ready <= i) about_to_wait(&sleeper), pthread_cond_wait(&up, &lock); // each
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 5; i++) pthread_join(t[i], 0);
}
C
has startup "threads are made one after the other" \
    "serialized thread creation \(waits for each before the next\) +T:main +CV:up +T:service[#0-9]* .* 4 +main \(startup.c:$(at startup '// each')\) +service \(startup.c:$(at startup '// is up')\)"

# ---- more running threads than CPUs ----
program crowd <<'C'
static long used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
static void *busy(void *a)
{
    while (used() < 40) ;
    return a;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, busy, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
C
cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
rm crowd.poet
POET_OUTPUT=crowd.poet taskset -c "$cpu" ./crowd 2>/dev/null
until_true finished crowd.poet
poet report --all crowd.poet | sed -n '/^Key findings/,/^$/p' >crowd.txt
has crowd "threads have no processor" "CPU contention \([0-9]+ threads runnable without a CPU\) +T:busy[#0-9]* "
has crowd "without a lock" "^note: CPU contention: "

# ---- an efficient program has no finding ----
program good <<'C'
static pthread_barrier_t step;
static void *solver(void *a)
{
    for (int i = 0; i < 4; i++) {
        nap(15);
        pthread_barrier_wait(&step);
    }
    return a;
}
int main(void)
{
    pthread_t t[4];
    pthread_barrier_init(&step, 0, 4);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, solver, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
C
# (CPU contention is true on a busy machine; its note has the words "at a time", too)
bad='overtaken|useless|ping-pong|serialized|timeout|at a time|saturated|(lock|semaphore) contention'
is "good: no finding in the whole run" "$(grep -v 'CPU contention' good.txt | grep -E "$bad")" ""
# A range in which all threads exist.
passed() { poet dump --json good.poet | grep '"type":"passed"' | sed -n "$1p" | sed 's/.*"event":"\([0-9:]*\)".*/\1/'; }
poet report --all good.poet --from "$(passed 1)" --to "$(passed 9)" >range.txt
is "good: no finding in a part of the run" "$(sed -n '/^Key findings/,/^$/p' range.txt | grep -v 'CPU contention' | grep -E "$bad")" ""

# ---- notes of the tables, and errors ----
poet waits storm.poet >waits.txt
like "waits: causes are explained where they occur" "$(cat waits.txt)" "^note: cause: imbalance = .*; serialization = .*; contention = "
little=$(poet waits storm.poet --json | json '[outer_rows | select(.share < 0.01)] | length')
is "report: omitted small rows are counted in a note" \
    "$(poet report --all storm.poet | sed -n 's/^note: \([0-9]*\) rows* below 1 % omitted;.*/\1/p')" "$(test "$little" = 0 || echo "$little")"
like "waits: an empty range is reported" "$(poet waits storm.poet --from 500s)" "^note: empty range: the run lasts [0-9.]+ ms"
is "waits: a range with waits is not reported as empty" "$(poet waits storm.poet --from 1ms | grep -c 'empty range')" 0
like "waits: an unknown --by lists the valid ones" "$(poet waits storm.poet --by absent 2>&1)" 'no table by "absent"; use place, pattern, object, site, thread, wait, category$'
for option in --from --to --past-of; do
    is "waits $option: a missing event is refused" "$(poet waits storm.poet $option 99:1 2>&1; echo $?)" \
        "poet waits: no event 99:1 in this run (it has 11 lines)
1"
done
like "report: --by is refused" "$(poet report storm.poet --by thread 2>&1)" 'no table by "thread"; --by is not supported$'

# ---- one thread without a wait ----
program alone <<'C'
int main(void) { nap(5); }
C
like "alone: what may not be recorded" "$(poet report alone.poet | tr -s " \n" " ")" "single-threaded: its waits may be untraced; .*poet record"

# ---- of several hangs the deadlock comes first, though main waits longer; where locks were acquired ----
program dead <<'C'
#include <unistd.h>
static pthread_mutex_t savings = PTHREAD_MUTEX_INITIALIZER, shares = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static struct sleeper sleepers[3];
static void *clerk(void *b)
{
    nap(20);
    pthread_mutex_lock(b ? &savings : &shares); // takes
    pthread_barrier_wait(&both);
    about_to_wait(&sleepers[b != 0]);
    pthread_mutex_lock(b ? &shares : &savings); // asks
    return b;
}
static void *watch(void *a)
{
    pthread_barrier_wait(&both);
    for (int i = 0; i < 3; i++) until_asleep(&sleepers[i], 1);
    nap(200);
    _exit(0);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t[3];
    pthread_barrier_init(&both, 0, 3);
    pthread_create(&t[0], 0, clerk, argv);
    pthread_create(&t[1], 0, clerk, 0);
    pthread_create(&t[2], 0, watch, 0);
    about_to_wait(&sleepers[2]);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return argc;
}
C
poet report --all dead.poet >dead.all
is "dead: the deadlock is first, then the thread that waits for it" "$(sed -n '/^Deadlocks and hangs/,/^$/p' dead.all | grep -Eo '^(deadlock|never resumes|likely)' | tr '\n' ' ')" \
    "deadlock deadlock never resumes "
takes=$(at dead '// takes') asks=$(at dead '// asks')
like "dead: the holder, where it acquired the lock, and where the lock is requested" "$(sed -n '/^Deadlocks and hangs/,/^$/p' dead.all)" \
    "^deadlock +T:clerk[#0-9]* +M:(savings|shares) +T:clerk[#0-9]* +clerk \(dead.c:$takes\) +[0-9.]+ +clerk \(dead.c:$asks\) "
like "dead: poet blocked has the place of the acquisition" "$(poet blocked dead.poet)" "held by T:clerk[#0-9]*, acquired at dead.c:$takes \\(event [0-9]+:[0-9]+\\)"
like "dead: poet blocked --json has the place of the acquisition" "$(poet blocked dead.poet --json)" "\"acquired_site\": *\"dead.c:$takes\""
for run in storm tokens pool greedy poll startup baton crowd good dead; do
    like "$run: poet check finds no error" "$(poet check $run.poet 2>&1)" "^$run.poet: [0-9]+ events: OK$"
done
done_testing
