#!/bin/bash
# Taking goes on whatever the order is doing: nobody waits for it, it says how far it is behind, nothing is lost.
. "$(dirname "$0")/lib.sh"
cat >locks.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
/* Four threads: each locks and unlocks a mutex so often, and counts that in a shared file. */
static pthread_mutex_t m[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static _Atomic long *done;
static long often;
static void *work(void *a)
{
    for (long i = 0; i < often; i++) {
        pthread_mutex_lock(&m[(i / 100 + (long)a) & 3]);
        pthread_mutex_unlock(&m[(i / 100 + (long)a) & 3]);
        atomic_fetch_add(done, 1);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t t[4];
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    often = atol(argv[2]) / 4;
    if (argc != 3 || ftruncate(fd, 4096) < 0) return 1;
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -O2 -g locks.c -o locks
ENDPOINT=unix:$XDG_RUNTIME_DIR/poet.sock
export POET_TEST_ORDER_PAUSE=$work/pause
N=60000
ALL=$((4 * 4 + N * 5 + 1 + 4 * 2 + 2)) # create, start, end, close of each thread; main: start, 4 joins, end, close
counter() { od -An -td8 -N8 counts | tr -d ' '; }
ahead() { figure "$ENDPOINT" journal_pending_bytes; }
more_ahead() { [ "$(ahead)" -gt "$1" ]; }
settled() { last=$now now=$(ahead); [ -n "$now" ] && [ "$last" = "$now" ]; } # nothing more is taken
settle() { now= && until_true settled; }
taken() { [ "$(figures "$1" 2>/dev/null)" = "$2 000" ]; } # FILE EVENTS: its journal has so many
has() { [ "$(figure "$ENDPOINT" events)" -gt "$1" ]; }
figures() { echo "$(figure "$1" events) $(figure "$1" lost)$(figure "$1" pending)$(figure "$1" inconsistent)"; }

# ---- while the order rests ----

touch pause
start_server -q -o rests.poet
./locks counts $N
is "a program ends while the order rests" "$? $(counter)" "0 $N"
until_true taken rests.poet $ALL
[ "$(ahead)" -gt $((N * 2 * 4)) ] && ok "all that it told is in the journal" || not_ok "all that it told is in the journal" "$(ahead)"
[ "$(ahead)" -lt $((N * 2 * 16)) ] && ok "in few bytes: a slot has 64" || not_ok "in few bytes: a slot has 64" "$(ahead)"
is "nothing of it is ordered" "$(figure "$ENDPOINT" events)" 0
is "and the run is not said to have ended" "$(figure "$ENDPOINT" finished)" false
like "it is said how far the order is behind" "$(figure "$ENDPOINT" ordering_lag_ns)" '^[1-9][0-9]{6,}$'
late() { poet stat "$ENDPOINT" | grep -Eq '^ordering lag +[0-9.]+ s \([0-9.]+ MB'; }
check "in words, too" until_true late
rm pause
check "it catches up" until_true finished "$ENDPOINT"
is "with all that there was" "$(figures "$ENDPOINT")" "$ALL 000"
is "is not behind any more" "$(figure "$ENDPOINT" ordering_lag_ns) $(ahead)" "0 0"
# (a server that is slow may hold it up for a moment, an order that rests would for POET_MAX_STALL_MS)
check "and the program was not made to wait for it" test \
    "$(figure "$ENDPOINT" tracing_stall_ns)" -lt "${POET_MAX_STALL_MS}000000"
check "its trace obeys every rule" poet check "$ENDPOINT"
stop_server
is "so does its file" "$(figures rests.poet)" "$ALL 000"

# ---- killed, or ended, in between ----

touch pause
start_server -q -o killed.poet
./locks counts $N
until_true taken killed.poet $ALL
kill -KILL "$server"
wait "$server" 2>/dev/null
is "kill -9 of a server whose order rests loses nothing" "$(figures killed.poet 2>/dev/null)" "$ALL 000"

start_server -q -o ended.poet
./locks counts $N
until_true taken ended.poet $ALL
stop_server
is "nor does SIGTERM" "$(figures ended.poet)" "$ALL 000"
is "and the file says that it has its end" "$(figure ended.poet finished)" true

start_server -q -o program.poet
./locks counts $((100 * N)) &
program=$!
until_true more_ahead 500000
kill -KILL $program
wait $program 2>/dev/null
settle
rm pause
until_true finished "$ENDPOINT"
events=$(figure "$ENDPOINT" events) least=$((5 * $(counter)))
[ "$events" -ge "$least" ] && [ "$events" -le $((least + 40)) ] && ok "kill -9 of the program loses nothing" ||
    not_ok "kill -9 of the program loses nothing" "$events, not $least"
is "nor is anything wrong" "$(figure "$ENDPOINT" lost)$(figure "$ENDPOINT" pending)$(figure "$ENDPOINT" inconsistent)" 000
stop_server

# ---- a state that is older than the journal ----

bad=
for i in $(seq "${POET_TEST_KILLS:-4}"); do
    rm -f pause state.poet
    start_server -q -o state.poet
    ./locks counts $((4 * N)) &
    program=$!
    until_true has $((150000 * (i % 7 + 1)))
    touch pause
    wait $program
    until_true taken state.poet $((ALL + 15 * N))
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    [ "$(figures state.poet)" = "$((ALL + 15 * N)) 000" ] || bad="$bad $i: $(figures state.poet)"
    poet check state.poet >why 2>&1 || bad="$bad $i: $(cat why)"
done 2>/dev/null
is "states that are older than the journal lead on to all of it" "$bad" ""

# ---- the bound ----

# The program is stopped as soon as all its threads wait, so that none waits for longer than it may.
waits() { ! cat /proc/$program/task/*/stat | grep -qv '^[^)]*) S '; }
none_ahead() { [ "$(ahead)" = 0 ]; }
touch pause
start_server -q --keep 24M -o bound.poet
./locks counts $((20 * N)) & # more than an eighth of it, in the journal
program=$!
until_true more_ahead 3145728
until_true waits
kill -STOP $program
settle
ahead=$(ahead)
rm pause
until_true none_ahead # there is room in the queues again
kill -CONT $program
[ "$ahead" -lt 5000000 ] && ok "the journal is ahead by an eighth of --keep, and a round, at most" ||
    not_ok "the journal is ahead by an eighth of --keep, and a round, at most" "$ahead"
wait $program
is "who was made to wait goes on" "$? $(counter)" "0 $((20 * N))"
check "and its run ends" until_true finished "$ENDPOINT"
is "without a loss" "$(figures "$ENDPOINT")" "$((ALL + 95 * N)) 000"
stop_server
[ "$(du -k bound.poet | cut -f1)" -le 24800 ] && ok "the file is as small as it is to be" ||
    not_ok "the file is as small as it is to be" "$(du -k bound.poet)"
done_testing
