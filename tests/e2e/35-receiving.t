#!/bin/bash
# The server receives events whatever the ordering does: no program waits for it, its lag is reported, and nothing is lost.
# Runs in make check-all only.
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
ALL=$((4 * 4 + N * 5 + 1 + 4 * 2 + 2)) # create, start, end and close of each thread; main: start, 4 joins, end, close
counter() { od -An -td8 -N8 counts | tr -d ' '; }
ahead() { figure "$ENDPOINT" journal_pending_bytes; }
more_ahead() { [ "$(ahead)" -gt "$1" ]; }
settled() { last=$now now=$(ahead); [ -n "$now" ] && [ "$last" = "$now" ]; } # no more events arrive
settle() { now= && until_true settled; }
taken() { [ "$(figures "$1" 2>/dev/null)" = "$2 000" ]; } # FILE EVENTS: its journal has so many
has() { [ "$(figure "$ENDPOINT" events)" -gt "$1" ]; }
figures() { echo "$(figure "$1" events) $(figure "$1" lost)$(figure "$1" pending)$(figure "$1" inconsistent)"; }

# ---- while ordering is paused ----

touch pause
start_server -q -o rests.poet
./locks counts $N
is "ordering paused: the program ends" "$? $(counter)" "0 $N"
until_true taken rests.poet $ALL
[ "$(ahead)" -gt $((N * 2 * 4)) ] && ok "ordering paused: all received events are in the journal" || not_ok "ordering paused: all received events are in the journal" "$(ahead)"
[ "$(ahead)" -lt $((N * 2 * 16)) ] && ok "ordering paused: the journal has few bytes per event (a slot has 64)" || not_ok "ordering paused: the journal has few bytes per event (a slot has 64)" "$(ahead)"
is "ordering paused: no event is ordered" "$(figure "$ENDPOINT" events)" 0
is "ordering paused: the run is not finished" "$(figure "$ENDPOINT" finished)" false
like "ordering paused: poet stat --json has the lag" "$(figure "$ENDPOINT" ordering_lag_ns)" '^[1-9][0-9]{6,}$'
late() { poet stat "$ENDPOINT" | grep -Eq '^ordering lag +[0-9.]+ s \([0-9.]+ MB'; }
check "ordering paused: poet stat prints the lag" until_true late
rm pause
check "ordering resumed: the run finishes" until_true finished "$ENDPOINT"
is "ordering resumed: all events are ordered" "$(figures "$ENDPOINT")" "$ALL 000"
is "ordering resumed: no lag is left" "$(figure "$ENDPOINT" ordering_lag_ns) $(ahead)" "0 0"
# A slow server may delay the program for a moment, a paused ordering would for POET_MAX_STALL_MS.
check "ordering paused: the program was not delayed" test \
    "$(figure "$ENDPOINT" tracing_stall_ns)" -lt "${POET_MAX_STALL_MS}000000"
check "ordering resumed: poet check accepts the run" poet check "$ENDPOINT"
stop_server
is "ordering resumed: the file has all events" "$(figures rests.poet)" "$ALL 000"

# ---- killed or terminated in between ----

touch pause
start_server -q -o killed.poet
./locks counts $N
until_true taken killed.poet $ALL
kill -KILL "$server"
wait "$server" 2>/dev/null
is "kill -9 of a server with paused ordering loses nothing" "$(figures killed.poet 2>/dev/null)" "$ALL 000"

start_server -q -o ended.poet
./locks counts $N
until_true taken ended.poet $ALL
stop_server
is "SIGTERM of a server with paused ordering loses nothing" "$(figures ended.poet)" "$ALL 000"
is "after SIGTERM the file is finished" "$(figure ended.poet finished)" true

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
[ "$events" -ge "$least" ] && [ "$events" -le $((least + 40)) ] && ok "kill -9 of the program with paused ordering loses nothing" ||
    not_ok "kill -9 of the program with paused ordering loses nothing" "$events, not $least"
is "kill -9 of the program: no event is lost, pending or inconsistent" "$(figure "$ENDPOINT" lost pending inconsistent)" "0 0 0"
stop_server

# ---- a saved state that is older than the journal ----

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
is "saved states that are older than the journal are continued to its end" "$bad" ""

# ---- the bound of the journal's lead ----

# The program is stopped as soon as all its threads wait, so that none waits longer than its bound.
waits() { ! cat /proc/$program/task/*/stat | grep -qv '^[^)]*) S '; }
none_ahead() { [ "$(ahead)" = 0 ]; }
touch pause
start_server -q --keep 24M -o bound.poet
./locks counts $((20 * N)) & # more than an eighth of it, in the journal
program=$!
until_true more_ahead 3145728
until_true waits
stop_process $program
settle
ahead=$(ahead)
rm pause
until_true none_ahead # the queues have room again
kill -CONT $program
[ "$ahead" -lt 5000000 ] && ok "the journal leads by at most an eighth of --keep and one round" ||
    not_ok "the journal leads by at most an eighth of --keep and one round" "$ahead"
wait $program
is "delayed threads resume" "$? $(counter)" "0 $((20 * N))"
check "after a delay the run finishes" until_true finished "$ENDPOINT"
is "after a delay no event is lost" "$(figures "$ENDPOINT")" "$((ALL + 95 * N)) 000"
stop_server
[ "$(du -k bound.poet | cut -f1)" -le 24800 ] && ok "the file of --keep has at most its size" ||
    not_ok "the file of --keep has at most its size" "$(du -k bound.poet)"
done_testing
