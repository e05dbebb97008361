#!/bin/bash
# Every lost event is counted: a counter that the program keeps equals recorded plus lost events.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >work.c <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
/* Four detached threads: each locks and unlocks so often, and counts it in a shared file. */
static pthread_mutex_t m[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static _Atomic long *done;
static long often;
static void *work(void *a)
{
    unsigned s = (unsigned)(long)a;
    for (long i = 0; i < often; i++) {
        s = s * 1103515245 + 12345;
        pthread_mutex_lock(&m[s >> 16 & 3]);
        pthread_mutex_unlock(&m[s >> 16 & 3]);
        atomic_fetch_add(&done[0], 1);
    }
    return NULL;
}
static void ignore(int s) { (void)s; }
static int threads(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    while (readdir(d)) n++;
    closedir(d);
    return n;
}
int main(int argc, char **argv)
{
    pthread_attr_t detached;
    struct sigaction act = {.sa_handler = ignore};
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    often = atol(argv[2]) / 4;
    if (argc != 3 || ftruncate(fd, 4096) < 0) return 1;
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sigaction(SIGUSR1, &act, NULL);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int before = threads();
    for (long i = 0; i < 4; i++) {
        pthread_t t;
        pthread_create(&t, &detached, work, (void *)i);
    }
    while (threads() > before) usleep(1000);
    return 0;
}
C
poetcc -trace -O2 -g work.c -o work
N=20000
ENDPOINT=unix:$XDG_RUNTIME_DIR/poet.sock
counter() { od -An -td8 -N8 counts | tr -d ' '; }
told() { poet stat --json "${1:-latest}" 2>/dev/null | json '.[] | .events + .lost'; }
# limited KIB ARG...: a server with a file size limit, as on a full disk
limited() {
    kib=$1
    shift
    bash -c "ulimit -f $kib; exec poet server $* 2>server.log" &
    server=$!
    pids="$pids $server"
    until_true poet runs "$ENDPOINT"
}

start_server -o whole/ -q
./work counts $N
until_true finished latest
ALL=$(figure latest events)
is "without a fault no event is lost" "$(figure latest lost)" 0
is "trace files are readable by their owner only" "$(stat -c %a whole/*)" 600
stop_server

# ---- a full disk ----

# Where no memory can be shared, libpoet sends its queues through the socket.
cc -shared -fPIC -Wl,-z,initfirst "$root/tests/e2e/unshared.c" -o unshared.so
MANY=$((5 * N)) # more than fits
ALL_MANY=$((ALL + 5 * (MANY - N)))
# The last two drop more at once than there are numbers kept for.
for how in "shared 50 256" "sent 50 256" "shared 0 16" "sent 0 16"; do
    read -r way wait queue <<<"$how"
    limited 600 -o full/ -l "$ENDPOINT"
    LD_PRELOAD=$([ "$way" = shared ] || echo "$work/unshared.so") POET_MAX_STALL_MS=$wait POET_QUEUE_KIB=$queue ./work counts $MANY
    until_true finished "$ENDPOINT"
    is "a full disk (queues are $way, $wait ms): recorded plus lost events are all" "$(told "$ENDPOINT")" "$ALL_MANY"
    like "a full disk: events are lost" "$(figure "$ENDPOINT" lost)" '^[1-9]'
    like "a full disk: poet runs reports the lost events" "$(poet runs)" 'events, [0-9]+ lost  ended'
    like "a full disk: poet check reports the lost events" "$(poet check "$ENDPOINT" 2>&1; echo "exit $?")" 'events were lost'
    [ "$wait" = 0 ] || until_true grep 'queue full' server.log
    [ "$wait" = 0 ] || like "a full disk: the server's log reports the lost events" "$(cat server.log)" 'events of work.* lost \(queue full\)'
    is "a full disk: no event is inconsistent or pending" "$(figure "$ENDPOINT" inconsistent pending)" "0 0"
    stop_server
    is "a full disk: recorded plus lost events of the file are all" "$(told full/*.poet)" "$ALL_MANY"
    is "a full disk: the file is not damaged" "$(figure "$(ls full/*.poet)" damage)" null
    rm -r full
done

# More threads than are read at once: what none of them can write does not keep the run from finishing.
cat >crowd.c <<'C'
#include <pthread.h>
static pthread_mutex_t m[12];
static void *work(void *own)
{
    for (int i = 0; i < 12000; i++)
        pthread_mutex_lock(own), pthread_mutex_unlock(own);
    return NULL;
}
int main(void)
{
    pthread_t t[12];
    for (int i = 0; i < 12; i++)
        pthread_mutex_init(&m[i], NULL), pthread_create(&t[i], NULL, work, &m[i]);
    for (int i = 0; i < 12; i++)
        pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -g crowd.c -o crowd
limited 600 -q -o full/ -l "$ENDPOINT"
POET_MAX_STALL_MS=5 ./crowd
check "a full disk and many threads: the run finishes" until_true finished "$ENDPOINT"
is "a full disk and many threads: recorded plus lost events are all" "$(told "$ENDPOINT")" $((3 + 12 * (1 + 1 + 12000 * 5 + 1 + 2 + 1)))
stop_server
rm -r full

# ---- a program with a main thread that exits first ----

cat >leaves.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    for (int i = 0; i < 100; i++)
        usleep(100), pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return a;
}
static void at_exit(void)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    puts(sigismember(&now, SIGUSR1) ? "signals are blocked" : "the end");
}
int main(void)
{
    pthread_t t;
    atexit(at_exit);
    for (int i = 0; i < 3; i++)
        pthread_create(&t, NULL, work, NULL), pthread_detach(t);
    pthread_exit(NULL);
}
C
poetcc -trace -g leaves.c -o leaves
start_server -o left/ -q -l "$ENDPOINT"
for way in shared sent; do
    LD_PRELOAD=$([ $way = shared ] || echo "$work/unshared.so") timeout 300 ./leaves >out 2>&1
    is "main thread exits first (queues are $way): the program ends with its last thread" "$? $(cat out)" "0 the end"
    check "main thread exits first: the trace is sound" sound latest
    like "main thread exits first: the events of its threads are recorded" "$(poet dump latest | grep -c ' lock ')" '^30[01]$'
done
stop_server

# ---- threads that are joined, and threads without buffer space at their creation ----

cat >joined.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
/* In rounds, on a command: creates four threads, which lock and unlock so often, and joins them. */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    for (long i = (long)a; i > 0; i--)
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t t[4];
    if (argc > 2)
        getchar();
    for (int round = argc > 1 ? atoi(argv[1]) : 0; round > 0; round--) {
        for (int i = 0; i < 4; i++)
            pthread_create(&t[i], NULL, work, (void *)400);
        for (int i = 0; i < 4; i++)
            pthread_join(t[i], NULL);
    }
    return 0;
}
C
poetcc -trace -g joined.c -o joined
start_server -o narrow/ -q
POET_QUEUE_KIB=16 POET_MAX_STALL_MS=0 ./joined 12
until_true finished latest
like "joined threads: events are lost" "$(figure latest lost)" '^[1-9]'
# a round: 4 threads with create, start, 400 pairs of 5, end, join, joined, close; main: start, end, close. A thread with a line that could not
# be announced at once, as the server was busy, has no create: that call counts as untraced.
JOINED=$((12 * 4 * (1 + 1 + 2000 + 1 + 2 + 1) + 3))
is "joined threads: recorded plus lost events, and untraced calls, are all" "$(($(told) + $(figure latest untraced)))" $JOINED
# A server that is stopped all the time: there is no room for creations, and lost events are reported through the
# connection before the lines are read on which they were lost.
mkfifo joined.in
POET_QUEUE_KIB=16 POET_MAX_STALL_MS=0 ./joined 12 wait <joined.in &
joined=$!
exec 4>joined.in
is_running() { poet runs | tail -n 1 | grep -q 'joined .* live '; }
until_true is_running
stop_process "$server"
exec 4>&-
wait $joined
kill -CONT "$server"
until_true finished latest
is "no room for creations: recorded events, lost events and events without a line are all" \
    "$(($(told) + $(figure latest untraced)))" $JOINED
like "no room for creations: poet stat reports that a line could not be created" "$(poet stat latest)" '^not traced +a trace line could not be created$'
stop_server

# ---- a slow server ----

cat >detached.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t;
    for (int i = 0; i < 1000; i++)
        if (pthread_create(&t, NULL, work, NULL) == 0)
            pthread_detach(t);
    while (argc > 1 && access(argv[1], F_OK) != 0)
        usleep(10000);
    work(NULL);
    return 0;
}
C
poetcc -trace -g detached.c -o detached
start_server -o slow/ -q
POET_QUEUE_KIB=16 POET_MAX_STALL_MS=0 ./detached go >out 2>&1 &
program=$!
until_true sh -c 'poet runs | grep -q " live "'
stop_process "$server"
(sleep 3; kill -CONT "$server"; touch go) &
wait $program
is "a slow server is not reported as exited" "$? $(cat out)" "0 "
check "a slow server: the run finishes" until_true finished latest
is "a slow server: no event is inconsistent" "$(figure latest inconsistent)" 0
stop_server

# ---- damage that is found while reading ----

start_server -o big.poet -q
./work counts 48000
until_true finished latest
BIG=$(figure latest events)
stop_server
place=$(python3 "$root/tests/e2e/flip-byte.py" big.poet flipped.poet)
says="events of $BIG could not be read \(flipped.poet: part at byte $place\)"
for command in "dump flipped.poet" "dump --json flipped.poet" "stat flipped.poet" "check flipped.poet" \
    "export flipped.poet -f chrome -o f.json"; do
    said=$(poet $command 2>&1 >out)
    is "poet $command fails where a part of the file cannot be read" $? 1
    like "poet $command reports that a part of the file cannot be read" "$said" "$says"
done
is "unreadable events are counted as lost" "$(told flipped.poet)" "$BIG"
is "poet dump lists the unreadable events as lost" "$(poet dump --json flipped.poet 2>/dev/null |
    sed -n 's/^{"event":"[0-9].*/1/p; s/^{"lost".*"count":\([0-9]*\).*/\1/p' |
    awk '{ sum += $1 } END { printf "%d", sum }')" "$BIG"

# ---- ended runs, and deleted files ----

start_server -o rest/
for _ in $(seq 24); do ./work counts 40; done
all_done() { [ "$(poet runs | grep -c " ended ")" = 24 ]; }
until_true all_done
few() { [ "$(ls "/proc/$server/fd" | wc -l)" -lt 40 ]; }
check "the server holds no file descriptors of ended runs" until_true few
like "poet stat reads an ended run" "$(poet stat "$ENDPOINT#1")" '^events +[1-9]'
first=$(poet runs | awk '$1 == 2 {print $NF}')
rm "$first"
like "poet stat names the deleted file of an ended run" "$(poet stat "$ENDPOINT#2" 2>&1)" "run 2: $first: No such file"
./work counts 2000000000 &
program=$!
pids="$pids $program"
live() { [ "$(figure "$ENDPOINT" connected)" = 1 ]; }
until_true live
file=$(poet runs | awk '/ live / {print $NF}')
rm "$file"
deleted() { grep -q "$file was deleted" server.log; }
check "a file deleted while it is written is logged" until_true deleted
like "poet stat reports the deleted file" "$(poet stat latest 2>&1)" "the file was deleted"
kill -KILL $program
for _ in $(seq 24); do
    ./work counts 40
    until_true finished latest
    rm rest/*.poet
done
check "the server holds no file descriptors of deleted files" until_true few
stop_server

# ---- connections that are refused ----

bash -c 'ulimit -n 24; exec poet server -o few/ 2>few.log' &
server=$!
pids="$pids $server"
until_true poet runs
like "without a free file descriptor a connection is refused with the reason" \
    "$(python3 "$root/tests/e2e/refused.py" 40)" 'no file descriptor left'
until_true grep 'until a descriptor is free' few.log
is "refused connections are logged once" "$(grep -c 'until a descriptor is free' few.log)" 1
check "the server runs on after refused connections" until_true poet runs
stop_server
start_server -o other/ -l "$ENDPOINT"
said=$(python3 "$root/tests/e2e/refused.py" other-user)
if [ $? = 77 ]; then skip "refusal of another user needs root"
else like "another user is refused" "$said" 'is owned by another user'; fi
stop_server

# ---- a truncated file: events that the server had received are in it, though they wait for their partners ----

cat >bursts.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t rest;
static void *work(void *k)
{
    for (;;) {
        pthread_barrier_wait(&rest);
        for (long i = 0; i < 8000; i++) {
            pthread_mutex_lock(&m[(i + (long)k) / 7 & 1]);
            pthread_mutex_unlock(&m[(i + (long)k) / 7 & 1]);
        }
        pthread_barrier_wait(&rest);
    }
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&rest, NULL, 5);
    for (long k = 0; k < 4; k++) pthread_create(&t, NULL, work, (void *)k);
    while (getchar() != EOF) {
        pthread_barrier_wait(&rest);
        pthread_barrier_wait(&rest);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
C
poetcc -trace -O2 -g bursts.c -o bursts
figures() { poet stat --json "$1" 2>/dev/null | grep -oE '"(events|pending|lost)":"?[0-9]+' | tr '\n' ' '; }
rested() { [ "$(wc -l <rests)" = "$1" ]; }
# each thread's start and the arrival at which it blocks, main's start and 4 creations; a burst: 4 * 8000 pairs of 5, 5
# threads at two barriers, 2 events each
all_there() { now=$(figures latest) && [ "${now//[^0-9 ]/}" = "$((13 + i * 160020)) 0 0 " ]; }
start_server -o kept/ -q
mkfifo bursts.in
POET_MAX_STALL_MS=10000 ./bursts <bursts.in >rests &
bursts=$!
exec 4>bursts.in
less=
for i in $(seq 20); do
    printf x >&4
    until_true rested "$i"
    until_true all_there
    stop_process "$server"
    cp kept/*.poet as-it-is.poet
    kill -CONT "$server"
    file=$(figures as-it-is.poet)
    [ "$file" = "$now" ] || less="$less $i: $file, not $now;"
done
exec 4>&-
wait $bursts
stop_server
is "the file of a killed server has all events that it had received" "$less" ""

# ---- pairs of faults ----

RANDOM=${POET_TEST_SEED:-1}
faults=${POET_TEST_FAULTS:-6}
echo "# seed ${POET_TEST_SEED:-1}"
fault() { # one of the faults, while the program runs
    case $1 in
    stop) kill -STOP "$server"; sleep 0.2; kill -CONT "$server" ;;
    pause) kill -STOP $program; sleep 0.05; kill -CONT $program ;;
    kill) killed=1; kill -KILL $program ;;
    signals) for _ in $(seq 50); do kill -USR1 $program; done ;;
    esac 2>/dev/null
}
names=(stop pause kill signals disk narrow)
bad=
for i in $(seq "$faults"); do
    one=${names[RANDOM % 6]} two=${names[RANDOM % 6]} kib=unlimited queue=256 killed=
    case $one$two in *disk*) kib=$((100 + RANDOM % 500)) ;; esac
    case $one$two in *narrow*) queue=16 ;; esac
    limited $kib -q -o pair/
    rm -f counts
    POET_QUEUE_KIB=$queue POET_MAX_STALL_MS=$((RANDOM % 20)) ./work counts $((2 * N)) &
    program=$!
    until_true test -s counts
    printf -v pause 0.%06d $((RANDOM * 10 / 3)) # up to 0.11 s
    sleep "$pause"
    fault "$one"
    fault "$two"
    wait $program 2>/dev/null
    until_true finished "$ENDPOINT" || bad="$bad $i:$one+$two:unfinished"
    sum=$(told "$ENDPOINT") least=$((5 * $(counter))) most=$((5 * $(counter) + 40))
    [ -n "$killed" ] || least=$((5 * $((2 * N)) + ALL - 5 * N)) most=$((5 * 2 * N + ALL - 5 * N))
    [ "$sum" -ge "$least" ] && [ "$sum" -le "$most" ] || bad="$bad $i:$one+$two:$sum not in $least..$most"
    stop_server
    again=$(told "$(ls pair/*.poet)")
    [ "$again" = "$sum" ] || bad="$bad $i:$one+$two:the file tells $again of $sum"
    rm -r pair
done 2>/dev/null
is "$faults random pairs of faults: recorded plus lost events are the counter" "$bad" ""
done_testing
