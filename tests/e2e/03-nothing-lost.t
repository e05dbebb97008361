#!/bin/bash
# Traces are complete: over many runs, after kill -9 of the program, and after kill -9 of the server.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >locks.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>
/* 8 threads, 100 000 lock operations; each thread counts what it did in a shared file. */
static pthread_mutex_t m[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile long *done;
static int forever;
static void *work(void *a)
{
    unsigned s = (unsigned)(long)a;
    if (forever) poet_text("thread %ld", (long)a); /* trace lines are numbered in the order in which they are announced */
    for (int i = 0; i < 6250 || forever; i++) {
        s = s * 1103515245 + 12345;
        pthread_mutex_lock(&m[s >> 16 & 3]);
        pthread_mutex_unlock(&m[s >> 16 & 3]);
        done[(long)a * 8]++;
        if (forever && i % 100 == 0) usleep(2000); /* slows the program down, since each dump is read */
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t t[8];
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    forever = argc > 2;
    if (ftruncate(fd, 4096) < 0) return 1;
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (long i = 0; i < 8; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -O2 -g locks.c -o locks

start_server -o runs/ -q
runs=${POET_TEST_RUNS:-30}
for _ in $(seq "$runs"); do ./locks counts; done
ended() { poet runs | grep -c " ended "; }
all_done() { [ "$(ended)" = "$runs" ]; }
check "$runs runs finish" until_done ended all_done
stop_server
bad=
for f in runs/*.poet; do
    # 8 threads: create, start, end, close and 3 events each for lock, 2 for unlock; main: its own
    figures=$(figure "$f" lost pending inconsistent events)
    [ "$figures" = "0 0 0 $((8 * 4 + 8 * 6250 * 5 + 1 + 8 * 2 + 2))" ] || bad="$bad $f:$figures"
done
is "$runs complete traces: 0 lost, 0 pending, 0 inconsistent, every event" "$bad" ""
check "poet check accepts the first of the $runs traces" poet check "$(ls runs/*.poet | head -n 1)"
rm -r runs

# Prints what contradicts that the trace holds, of each thread, what it had counted as done, and at most one more.
contradictions() {
    {
        od -An -v -td8 -w64 -N512 counts | awk '{ print "done", NR - 1, $1 }'
        poet dump --json latest
    } | awk '
        function thread() { return match($0, /"thread":[0-9]+/) ? substr($0, RSTART + 9, RLENGTH - 9) : "none" }
        $1 == "done" { done[$2] = $3 }
        /^{"lost"/ { print "events are lost" }
        /"state":"(pending|inconsistent)"/ { print "an event is not ordered: " $0 }
        /"type":"note"/ && match($0, /"annotations":\["thread [0-9]"\]/) {
            at = RSTART + RLENGTH - 3
            line[substr($0, at, 1)] = thread()
        }
        /"type":"released".*"relation":"sync"/ { released[thread()]++ }
        END {
            for (i = 0; i < 8; i++) {
                have = i in line ? released[line[i]] + 0 : 0
                if (have < done[i] || have > done[i] + 1) print "thread " i ": " have " of " done[i]
            }
        }'
}
start_server -o kills/ -q
kills=${POET_TEST_KILLS:-25}
bad=
for i in $(seq "$kills"); do
    rm -f counts
    ./locks counts forever &
    program=$!
    until_true test -s counts
    printf -v pause 0.%06d $((RANDOM * 120000 / 32768))
    sleep "$pause"
    kill -KILL $program
    wait $program 2>/dev/null
    until_true finished latest || bad="$bad $i:unfinished"
    wrong=$(contradictions) && [ -z "$wrong" ] || bad="$bad $i:$wrong"
done
is "kill -9 of the program at $kills random moments: nothing recorded is missing" "$bad" ""
stop_server

start_server -o killed.poet -q
./locks counts forever &
program=$!
pids="$pids $program"
grown() { [ "$(figure "unix:$XDG_RUNTIME_DIR/poet.sock" events)" -gt 200000 ]; }
until_true grown
seen=$(figure "unix:$XDG_RUNTIME_DIR/poet.sock" events)
kill -KILL "$server"
wait "$server" 2>/dev/null
check "after kill -9 of the server its file opens" poet stat killed.poet
if [ "$(figure killed.poet events)" -ge "$seen" ]; then ok "after kill -9 of the server its file has every event that the server had reported"
else not_ok "after kill -9 of the server its file has every event that the server had reported" "$(figure killed.poet events) of $seen"; fi
like "poet stat reports that the file of a killed server is truncated" "$(poet stat killed.poet)" "truncated: the server exited first"
before=$(od -An -td8 -N8 counts)
more() { [ "$(od -An -td8 -N8 counts)" -gt "$((before + 1000))" ]; }
check "the program runs on after kill -9 of its server" until_true more
kill -KILL $program
done_testing
