#!/bin/bash
# Measurements survive kill -9 of the program at any moment, and kill -9 of the server leaves a readable file.
# POET_TEST_KILLS=200: the number of kills of the program; the server is killed a ninth as often.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
export POET_QUIET=1
cat >counts.c <<'C'
#include <fcntl.h>
#include <poet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
/* Does everything that is measured, forever, as fast as it can; and counts it in a file that persists. */
enum { F, G, BLOCKS, ADDED, LOCKED, PID };
static volatile long *count; /* each in a cache line of its own */
static void *kept[64];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void f(void) { count[8 * F]++; }
__attribute__((noinline)) static void g(void) { count[8 * G]++; }
__attribute__((noinline)) static void *take(int i) { return malloc(100 + (size_t)i); }
__attribute__((noinline)) static void turn(int i)
{
    if (kept[i]) {
        count[8 * BLOCKS]--;
        free(kept[i]);
        kept[i] = NULL;
    } else {
        kept[i] = take(i);
        count[8 * BLOCKS]++;
    }
}
__attribute__((noinline)) static void lock(void)
{
    pthread_mutex_lock(&m);
    count[8 * LOCKED]++;
    pthread_mutex_unlock(&m);
}
static void *other(void *unused)
{
    for (;;) {
        for (int i = 0; i < 100; i++)
            g();
        lock();
    }
    return unused;
}
int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    pthread_t t;
    if (ftruncate(fd, 4096) < 0)
        return 1;
    count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    count[8 * PID] = getpid();
    poet_meter_t meter = poet_meter("turns", "turns", POET_COUNT);
    pthread_create(&t, NULL, other, NULL);
    for (int i = 0;; i = i * 5 + 1) {
        for (int k = 0; k < 100; k++)
            f();
        turn(i & 63);
        poet_add(meter, 1);
        count[8 * ADDED]++;
        lock();
    }
}
C
check "counts.c compiles with -profile" poetcc -profile -O1 -g counts.c -o counts
kills=${POET_TEST_KILLS:-18}
everything=calls=every,memory,states,usage,metrics
all=(calls=counts calls=real calls=cpu calls=every memory metrics states usage $everything)
table=(calls calls calls calls memory metrics states usage waits)

# counter NUMBER: its value when the program was killed
counter() { od -An -td8 -j $((64 * $1)) -N8 counted | tr -d ' '; }
going() { [ -s counted ] && [ "$(counter 1)" -gt 1000 ] && [ "$(counter 0)" -gt 1000 ]; }
# begin METERS: the program runs under these measurements, and has counted something
begin() {
    rm -f counted
    poet record -m "$1" -l -- ./counts counted &
    job=$!
    pids="$pids $job"
    until_true going
    pid=$(counter 5)
    pids="$pids $pid"
}
# of TABLE NAME COLUMN SOURCE [ARG...]: a cell of the row with a name that starts so
of() {
    poet "$1" --csv --columns "$3" "${@:5}" "$4" 2>/dev/null | tr -d '\r' | sed -n "s/^$2\( (.*)\)\{0,1\},//p"
}
# near WHAT GOT COUNTER MOST: the figure is the program's counter, or up to so many more
near() { [ -n "$2" ] && [ "$2" -ge "$3" ] && [ "$2" -le $(($3 + $4)) ] || echo "$1: $2, not $3"; }
# Prints what is wrong with these measurements, or nothing.
compare() {
    case $1 in
    calls*)
        near f "$(of calls f function,calls latest)" "$(counter 0)" 1
        near g "$(of calls g function,calls latest)" "$(counter 1)" 1
        for scope in main other; do
            mark=$(of calls $scope function,flags latest)
            [ "$mark" = INCOMPLETE ] || echo "$scope is $mark"
        done ;;
    esac
    case $1 in *memory*) near blocks "$(of memory take function,unfreed_blocks latest --by function)" "$(counter 2)" 1 ;; esac
    case $1 in *metrics*) near turns "$(of metrics turns metric,count latest)" "$(counter 3)" 1 ;; esac
}
# opens SOURCE TABLE...: prints what is wrong with a trace or its tables
opens() {
    for table in "${@:2}" report; do
        poet $table "$1" >/dev/null 2>why || cut_off || echo "$table: $(cat why)"
    done
    poet calls --every --top 10 "$1" >/dev/null 2>why || cut_off || echo "every: $(cat why)"
    poet check "$1" >why 2>&1 || cut_off || echo "check: $(cat why)"
    poet stat --json "$1" 2>/dev/null | grep -q '"lost":0,"inconsistent":0,' || poet stat "$1" 2>&1
}
# For the file of a killed server: events may wait for partners that were never received.
cut_off() { [ -n "$cut" ] && ! grep -v -e ': the trace is truncated: the server exited first, or the file was cut short$' -e ': is pending$' -e ': gap in event numbers$' why; }
# pause MS: sleeps at random, for less than so many ms
pause() {
    local us=$((RANDOM * $1 * 1000 / 32768))
    sleep "$(printf %d.%06d $((us / 1000000)) $((us % 1000000)))"
}
# ---- the program ----
start_server -o h/ -q
declare -A bad
for i in $(seq 0 $((kills - 1))); do
    meters=${all[i % ${#all[@]}]}
    {
        begin "$meters"
        pause 120
        kill -KILL "$pid"
        wait $job
    } 2>/dev/null
    until_true finished latest || bad[$meters]="${bad[$meters]} $i: unfinished"
    wrong=$(compare "$meters"; opens latest ${table[i % ${#all[@]}]})
    [ -z "$wrong" ] || bad[$meters]="${bad[$meters]} $i: $wrong"
    rm -f h/*.poet
done
for meters in "${all[@]}"; do
    is "program killed with $meters: figures are what the program did" "${bad[$meters]}" ""
done
stop_server

# ---- the server ----
wrong=
for i in $(seq $(((kills + 8) / 9))); do
    rm -f killed.poet
    start_server -o killed.poet -q
    {
        begin $everything
        pause 1500
        kill -KILL "$server"
        wait "$server"
    } 2>/dev/null
    before=$(counter 0)
    more() { [ "$(counter 0)" -gt $((before + 1000)) ]; }
    until_true more || wrong="$wrong $i: the program does not continue"
    { kill -KILL "$pid"; wait $job; } 2>/dev/null
    wrong="$wrong$(cut=1 opens killed.poet calls memory metrics states usage)"
    calls=$(of calls f function,calls killed.poet)
    [ "${calls:-0}" -le $((before + 1)) ] || wrong="$wrong $i: $calls calls, when there were $before"
done
is "the file of a killed server opens with its tables" "$wrong" ""
done_testing
