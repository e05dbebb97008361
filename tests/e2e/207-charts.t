#!/bin/bash
# Charts of poet states: rows agree with the tables for runs of any size; many threads are split into pages; ranges and
# causal pasts.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export C_INCLUDE_PATH="$root/tests/e2e" # asleep.h
status() { "$@" >/dev/null 2>&1; echo $?; }

# Two threads: one waits for the mutex while the other sleeps, then in turn; main joins them.
cat >turns.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static sem_t turn[2];
static void nap(int ms)
{
    struct timespec t = {0, ms * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0);
}
static void *work(void *a)
{
    long me = (long)a;
    pthread_setname_np(pthread_self(), me ? "two" : "one");
    for (int i = 0; i < 5; i++) {
        sem_wait(&turn[me]);
        nap(20);
        sem_post(&turn[!me]);
    }
    nap(20);
    return a;
}
int main(void)
{
    pthread_t t[2];
    sem_init(&turn[0], 0, 1);
    sem_init(&turn[1], 0, 0);
    pthread_create(&t[0], 0, work, (void *)0);
    pthread_create(&t[1], 0, work, (void *)1);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
}
C
poetcc -trace -g turns.c -o turns
POET_SERVER= POET_OUTPUT=turns.poet ./turns
until_true finished turns.poet

compare() { python3 "$root/tests/e2e/charts.py" "$@"; }
alike() { # WHAT OPTIONS...
    what=$1
    shift
    poet states turns.poet --list --json "$@" >list.out
    poet states turns.poet --chart transitions "$@" >chart.out
    is "$what: chart characters are the states of the list" "$(compare states list.out chart.out)" alike
}
alike "the whole run"
began=$(sed -n 's/.*"thread":"T:two","state":"[^"]*","from_ns":\([0-9]*\).*/\1/p' list.out | head -n 1)
alike "a range of time" --from $((began + 30000000))ns --to $((began + 130000000))ns
alike "one thread" --threads two
is "a chart of one thread has one row" "$(grep -c '^T:' chart.out)" 1
past=$(poet states turns.poet --list --threads two --json | sed -n 's/.*"event":"\([0-9:]*\)".*/\1/p' | sed -n 6p)
alike "the causal past of an event" --past-of "$past"
for kind in transitions overview; do
    poet states turns.poet --chart $kind -o $kind.pdf
    poet states turns.poet --chart $kind -o again.pdf
    check "$kind: the chart has the same bytes each time" cmp $kind.pdf again.pdf
    is "$kind: the chart is one page" "$(pdfinfo $kind.pdf | sed -n 's/^Pages: *//p')" 1
    check "$kind: the chart's file is small" test "$(wc -c <$kind.pdf)" -lt 40000
done
begins() { sed -n 's/^note: begins \([^;]*\);.*/\1/p'; }
like "states --chart overview has its start time" "$(poet states turns.poet --chart overview | begins)" "^20.*UTC"

# ---- a thread that was created and never started has no row; one that waits does so until the end ----
cat >open.c <<'C'
#include "asleep.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct sleeper sleeper;
static void *work(void *a)
{
    about_to_wait(&sleeper);
    pthread_mutex_lock(&m);
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, work, 0);
    until_asleep(&sleeper, 1);
    usleep(200000);
    _exit(0);
}
C
poetcc -trace open.c -o open
POET_SERVER= POET_OUTPUT=open.poet ./open
until_true finished open.poet
poet states open.poet --list --json >list.out
poet states open.poet --chart transitions >chart.out
is "a thread that waits at the end is blocked up to it" "$(compare states list.out chart.out)" alike
like "a thread that waits at the end is blocked to the last character" "$(sed -n 's/^T:work *//p' chart.out)" "====$"

# ---- 300 threads ----
cat >many.c <<'C'
#include <pthread.h>
static pthread_barrier_t all;
static void *work(void *a)
{
    pthread_barrier_wait(&all);
    return a;
}
int main(void)
{
    static pthread_t t[299];
    pthread_barrier_init(&all, 0, 300);
    for (int i = 0; i < 299; i++) pthread_create(&t[i], 0, work, 0);
    pthread_barrier_wait(&all);
    for (int i = 0; i < 299; i++) pthread_join(t[i], 0);
}
C
poetcc -trace many.c -o many
POET_SERVER= POET_OUTPUT=many.poet ./many
until_true finished many.poet
for kind in transitions overview; do
    poet states many.poet --chart $kind -o many.pdf
    pages=$(pdfinfo many.pdf | sed -n 's/^Pages: *//p')
    check "$kind of 300 threads: several pages" test "$pages" -ge 4 -a "$pages" -le 12
    pdftotext -layout many.pdf many.txt
    is "$kind of 300 threads: each thread has its name once" "$(grep -c '^ *T:' many.txt)" 300
    is "$kind of 300 threads: each page has title, number, ruler and legend" \
        "$(grep -c 'many: ' many.txt) $(grep -cE "[0-9] */ *$pages" many.txt) $(grep -cE 'created +exited|not started' many.txt)" \
        "$pages $pages $pages"
done
poet states many.poet --chart transitions -o many.png
like "a PNG of 300 threads is as high as needed" "$(file many.png)" "PNG image data, [0-9]+ x [3-9][0-9][0-9][0-9],"
poet states many.poet --chart transitions --width 84mm -o many.pdf
is "a chart with --width is one page" "$(pdfinfo many.pdf | sed -n 's/^Pages: *//p')" 1
like "a chart with --width has that width" "$(pdfinfo many.pdf)" "Page size: *238"
least() { # the smallest height of a word, pt
    pdftotext -bbox "$1" - | sed -n 's/.*yMin="\([0-9.]*\)".*yMax="\([0-9.]*\)".*/\1 \2/p' |
        awk '{ printf "%.6f\n", $2 - $1 }' | sort -n | head -n 1 | cut -d. -f1
}
check "a chart with --width has readable text" test "$(least many.pdf)" -ge 6
poet states turns.poet --chart transitions --width 17cm -o wide.png
like "a PNG with --width has that width" "$(file wide.png)" "PNG image data, 96[0-9] x [0-9]+,"
poet waits turns.poet --chart bars --width 84mm -o bars.pdf
like "waits --chart bars with --width has that width" "$(pdfinfo bars.pdf)" "Page size: *238"
check "waits --chart bars with --width has readable text" test "$(least bars.pdf)" -ge 6
poet waits many.poet --by wait --top 100 --chart bars -o bars.pdf
pages=$(pdfinfo bars.pdf | sed -n 's/^Pages: *//p')
check "a hundred bars are split into pages" test "$pages" -gt 1 -a "$pages" -lt 9
is "each of a hundred bars is drawn once" "$(pdftotext -layout bars.pdf - | grep -c '^ *T:.*s$')" 100

# ---- more intervals than a table has rows ----
poetcc -trace -O2 "$root/tests/bench/contend.c" -o contend
POET_MAX_STALL_MS=10000 POET_KEEP=10G POET_SERVER= POET_OUTPUT=big.poet ./contend 16 8 5000000
until_true finished big.poet
poet states big.poet --source order --json >states.out
spells() { json 'sum(rows | .runnable_count + .running_count + .blocked_count)' states.out; }
check "the run has more than 2^20 intervals" test "$(spells)" -gt 1048576
poet states big.poet --chart overview >chart.out
is "each thread's row is filled from its start to its end" "$(compare lives states.out chart.out)" alike
unsaid() { ! grep -q 'not all of it' chart.out; }
check "no note about omitted intervals" unsaid
check "a chart of 2^20 intervals is written" poet states big.poet --chart transitions --grayscale -o big.pdf
check "a chart of 2^20 intervals has a small file" test "$(wc -c <big.pdf)" -lt 3000000
is "an unknown chart exits with 2" "$(status poet states turns.poet --chart pie)" 2

# ---- state bands below the overview ----
. "$root/tests/e2e/display.sh"
cat >script <<E
action time 0; action end
action time 4
action show-states
action fit
state bands far
action zoom 4 600 100
state bands part
action zoom-into 0.5
state bands near
quit
E
timeout 100 poet view turns.poet --script script >log 2>&1
poet states turns.poet --json >states.out
is "state bands have the figures of poet states" "$(compare bands states.out far)" alike
blocked() { sed -n 's/^row [0-9]* T:main .* blocked \([0-9]*\).*/\1/p' $1; }
check "state bands of a part have that part" test "$(blocked part)" -ge "$(blocked far)" -a -s near
quiet() { ! grep -q 'CRITICAL\|WARNING' log; }
check "the viewer logs no message" quiet
done_testing
