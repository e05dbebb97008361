#!/bin/bash
# poet confirm reproduces the predicted bug of each program predict/bad_*.c within twenty runs, and none of the similar
# programs predict/good_*.c.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
here=$root/tests/e2e/predict
record() {
    rm -f "$1.poet"
    POET_OUTPUT=$1.poet timeout 60 ./"$1" || return 1
    until_true finished "$1.poet"
}
numbers() { poet predict --all --json "$1.poet" | python3 -c '
import json, sys
for l in sys.stdin:
    row = json.loads(l).get("row")
    if row and row["number"] and ("'"$2"'" in ("", row["kind"])): print(row["number"])'; }

while read -r name kind shows; do
    poetcc -trace -g "$here/$name.c" -o "$name"
    until_true record "$name"
    number=$(numbers "$name" "$kind" | sed -n 1p)
    rm -f new.poet
    poet confirm "$name.poet" "$number" -o new.poet >out 2>said
    status=$?
    like "$name: confirm exits with 0" "$status $(cat said)" "^0 (.*\$|\$)"
    like "$name: confirm says how it was reproduced" "$(grep -a 'confirmed' said)" "confirmed in attempt [0-9]*: .*$shows"
    check "$name: poet check accepts the new trace" poet check new.poet
done <<'END'
bad_two lock-order-inversion hangs
bad_three lock-order-inversion hangs
bad_often lock-order-inversion hangs
bad_rw lock-order-inversion hangs
bad_transfer lock-order-inversion hangs
bad_flag lost-wakeup hangs
bad_check early-signal hangs
bad_one signal-not-broadcast hangs
bad_mixed signal-not-broadcast hangs
bad_atomic atomicity-violation it exits with status 1; an uncontrolled run exits with status 0
bad_use order-violation is killed by signal 6
END
if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
    CC=mpicc poetcc -trace -g "$here/bad_any.c" -o bad_any
    poet record -o bad_any.poet -- mpirun -n 3 ./bad_any >out
    until_true finished bad_any.poet
    poet confirm bad_any.poet "$(numbers bad_any message-race | sed -n 1p)" -o new.poet mpirun -n 3 ./bad_any 2>said
    like "bad_any: confirm exits with 0" "$? $(grep -a confirmed said)" '^0 .*confirmed in attempt [0-9]*: its output differs'
else
    skip "bad_any: MPI is not available"
fi
for name in gate ordered hand later try readers flag after all pool buffer timed; do
    poetcc -trace -g "$here/good_$name.c" -o "good_$name"
    record "good_$name"
    confirmed=
    for number in $(numbers "good_$name" ""); do
        poet confirm -q --tries 3 "good_$name.poet" "$number" -o new.poet >/dev/null 2>said
        grep -q "confirmed in attempt" said && confirmed="$confirmed $number: $(cat said)"
    done
    is "good_$name: nothing is confirmed" "$confirmed" ""
done

# ---- replay --swap: two events in the opposite order ----
swap() { # swap NAME A B
    rm -f new.poet
    timeout 60 poet replay "$1.poet" --swap "$2" "$3" -o new.poet >out 2>said
    status=$?
    until_true finished new.poet
    echo "$status $(grep -v 'runs the recorded command' said)"
}
refs() { # refs NAME KIND: the two critical sections
    poet predict --all --json "$1.poet" | python3 -c '
import json, sys
kind, refs = "", []
for l in sys.stdin:
    row = json.loads(l).get("row")
    if row and row["number"]: kind = row["kind"]
    elif row and kind == "'"$2"'": refs.append(row["second_event"] if kind == "atomicity-violation" and not refs else row["event"])
print(*refs[:2])'; }
like "swap: an object is used before it is initialized" "$(swap bad_use $(refs bad_use order-violation))" \
    '^0 poet replay: order swapped: .*killed by signal 6$'
like "swap: the events may be given in either order" "$(swap bad_use $(refs bad_use order-violation | awk '{print $2, $1}'))" '^0 poet replay: order swapped: '
like "swap: a critical section between two others" "$(swap bad_atomic $(refs bad_atomic atomicity-violation))" \
    '^0 poet replay: order swapped: .*exit status is 1$'
check "swap: poet check accepts the new trace" poet check new.poet
cat >thrice.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g thrice.c -o thrice
POET_OUTPUT=thrice.poet ./thrice
until_true finished thrice.poet
# The entries into critical sections of m: event, and which of the created threads. (Lines of another run may have other
# numbers.)
entries() {
    poet dump "$1" | awk '
        $3 == "create" { sub(/:.*/, "", $1); thread[$1] = ++created }
        $3 == "acquired" && $4 == "M:m" { sub(/:.*/, "", $7); print $1, thread[$7] }'
}
# The first critical section of all, and the first one of the other thread, whether it requested the lock meanwhile or not.
visits=$(entries thrice.poet | awk '{ if (NR == 1) { first = $2; print $1 } else if ($2 != first) { print $1; exit } }' | xargs)
like "swap: the later thread is first, whenever it requested the lock" "$(swap thrice $visits)" '^0 poet replay: order swapped: '
is "swap: the new trace has the opposite order" "$(entries new.poet | awk 'NR == 1 { print $2 }')" "$(entries thrice.poet | awk -v at="${visits#* }" '$1 == at { print $2 }')"
# The thread that is to be first starts after the held one: what leads to its start is replayed.
sed 's/        pthread_create(&t\[i\]/        usleep(i * 100000), &/; s/^#include/#include <unistd.h>\n&/' thrice.c >later.c
poetcc -trace -g later.c -o later
POET_OUTPUT=later.poet ./later
until_true finished later.poet
visits=$(entries later.poet | awk '{ if (NR == 1) { first = $2; print $1 } else if ($2 != first) { print $1; exit } }' | xargs)
like "swap: a thread that has not started is started" "$(swap later $visits)" '^0 poet replay: order swapped: '
# The thread that is to be first has no CPU for longer than the other one is held: replay waits for it.
cat >starved.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void visit(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}
static void *first(void *p)
{
    visit();
    return p;
}
static void *second(void *p)
{
    cpu_set_t one;
    struct timespec ran;
    CPU_ZERO(&one);
    CPU_SET(*(int *)p, &one);
    sched_setaffinity(0, sizeof one, &one);
    setpriority(PRIO_PROCESS, gettid(), 19);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
    while (ran.tv_sec == 0 && ran.tv_nsec < 8000000);
    visit();
    return p;
}
static int first_processor(void)
{
    cpu_set_t all;
    int i = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(i, &all))
        i++;
    return i;
}
int main(void)
{
    pthread_t t[2];
    int processor = first_processor();
    pthread_create(&t[0], 0, first, &processor);
    pthread_create(&t[1], 0, second, &processor);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
C
poetcc -trace -g starved.c -o starved
POET_OUTPUT=starved.poet ./starved
until_true finished starved.poet
processor=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
for busy in 1 2 3; do
    taskset -c "$processor" timeout 2 sh -c 'while :; do :; done' &
    pids="$pids $!"
done
like "swap: a thread without a CPU is waited for" \
    "$(swap starved $(poet dump starved.poet | awk '$3 == "acquired" && $4 == "M:m" { print $1 }' | xargs))" \
    '^(0 )?poet replay: order swapped: '

like "swap: two events of one thread are refused" "$(poet replay bad_use.poet --swap 2:1 2:1 2>&1)" 'expected two different events'
is "swap: a missing event is refused" "$(poet replay bad_use.poet --swap 4:1 9:9 2>&1; echo $?)" \
    "poet replay: bad_use.poet: cannot swap the events: the trace does not contain both of them
1"

# ---- interrupted confirm ----
cat >long.c <<'C'
#include <unistd.h>
int main(void) { return (int)sleep(1000); }
C
poetcc -trace -g long.c -o long
poet confirm bad_two.poet 1 -o long.poet ./long 2>said & confirm=$!
until_true test -s long.poet
kill -INT $confirm # a background job of a shell ignores SIGINT otherwise
kill -TERM $confirm
wait $confirm
status=$?
like "interrupted: confirm exits with 143 or 130" "$status" '^1(43|30)$'
is "interrupted: the program is killed, and no file is left" "$(own_processes long | wc -l) $(ls run/*.steer 2>/dev/null)" "0 "

# ---- messages ----
poet confirm bad_two.poet 1 >out 2>said
like "confirm prints the wanted schedule" "$(cat said)" '^    T:alice acquired M:forks at alice \(bad_two.c:8\)'
like "confirm prints the diagnosis of the hang" "$(cat out)" '^DEADLOCK: 2 threads wait for each other'
check "confirm stores the trace under a default name" test -s bad_two.confirmed.poet
like "poet blocked of that trace prints the deadlock" "$(poet blocked bad_two.confirmed.poet)" '^DEADLOCK: 2 threads wait for each other'
is "confirm leaves no temporary file" "$(ls run/*.steer 2>/dev/null)" ""
poet confirm bad_two.poet >out 2>said
is "confirm without a number tries all findings" "$? $(tail -n 1 said)" "0 poet confirm: 1 of 1 findings occurred"
check "confirm without a number stores the trace of each finding" test -s bad_two.confirmed-1.poet
is "confirm without a number needs no name of a file" "$(poet confirm bad_two.poet -o one.poet 2>/dev/null; echo $?)" 2
is "confirm without a number of a missing program exits with 127" "$(poet confirm bad_two.poet ./nix 2>/dev/null; echo $?)" 127
is "confirm of a missing finding exits with 1" "$(poet confirm bad_two.poet 7 2>/dev/null; echo $?)" 1
is "confirm of a missing program exits with 127" "$(poet confirm bad_two.poet 1 ./nix 2>/dev/null; echo $?)" 127
cat >other.c <<'C'
int main(void) { return 0; }
C
poetcc -trace -g other.c -o other
poet confirm --tries 2 bad_two.poet 1 -o no.poet ./other >out 2>said
is "confirm with another program does not reproduce the bug" "$? $(grep -c 'not reproduced in 2 attempts' said)" "1 1"
check "confirm without success leaves no trace" test ! -e no.poet
cat >waits.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void)
{
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m);
    return 0;
}
C
poetcc -trace -g waits.c -o waits
poet confirm --tries 2 bad_two.poet 1 -o no.poet ./waits >out 2>said
is "confirm: a hang for another reason does not confirm" "$? $(grep -c "confirmed in attempt" said)" "1 0"
like "confirm: a hang for another reason is reported" "$(cat said)" 'attempt 1 hung for a different reason; see: poet blocked no.other-hang.poet'
like "confirm: a hang for another reason is stored" "$(poet blocked no.other-hang.poet)" 'T:main waits on CV:c'
is "POET_SCHEDULE_CONTROL with an invalid schedule file: the program runs without control and says so" \
    "$(env -u POET_QUIET POET_OUTPUT=x.poet POET_SCHEDULE_CONTROL=said ./other 2>&1 | grep -c 'POET_SCHEDULE_CONTROL: said: invalid schedule file; running without schedule control')" 1
done_testing
