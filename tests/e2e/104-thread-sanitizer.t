#!/bin/bash
# The two threads of the server (one reads from programs, the other orders, answers and writes files) under
# ThreadSanitizer, while programs connect, are killed, and queries are answered.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
tsan=$B/tsan # kept, so that only what changed is compiled again
if ! echo 'int main(void) { return 0; }' | gcc -fsanitize=thread -x c - -o try 2>log || ! ./try 2>>log; then
    skip "ThreadSanitizer is not available: $(head -n 1 log)"
    done_testing
    exit
fi
made() {
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$root" -j2 B="$tsan" CC=gcc SANITIZE="-fsanitize=thread -Wno-tsan" \
        OPTIMISE="-g1 -O0" CFLAGS= LDFLAGS= "$tsan/libexec/poet/poet-server"
}
check "the server compiles for ThreadSanitizer" made
mkdir logs
export POET_SERVER_PROGRAM="$tsan/libexec/poet/poet-server" POET_QUIET=1
export TSAN_OPTIONS="exitcode=66 log_path=$work/logs/report"

cat >busy.c <<'C'
#include <poet.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
/* busy ROUNDS: four threads, ROUNDS rounds each, with calls, heap blocks and a metric; 0: until it is killed. */
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long rounds;
static poet_meter_t meter;
__attribute__((noinline)) static void part(int i)
{
    pthread_mutex_lock(&m[i & 1]);
    free(malloc((size_t)(i & 1023) + 1));
    poet_add(meter, 1);
    pthread_mutex_unlock(&m[i & 1]);
}
static void *work(void *a)
{
    for (long i = 0; !rounds || i < rounds; i++) {
        part((int)i);
        if (!rounds)
            usleep(1000);
    }
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t[4];
    rounds = atol(argv[1]);
    meter = poet_meter("parts", "count", POET_COUNT);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    return argc < 1;
}
C
check "the program compiles" poetcc -profile -g -O1 busy.c -o busy
ln -sfn "$B/share" "$tsan/share"
"$POET_SERVER_PROGRAM" -o runs/ -q 2>server.log &
server=$!
pids="$pids $server"
check "the server answers" until_true poet runs
check "the server in use is the one for ThreadSanitizer" grep -q "$tsan/" "/proc/$server/maps"
export POET_MEASURE=calls=every,states,memory,metrics,usage
events() { [ "$(figure "$1" events)" -gt "$2" ] 2>/dev/null; }

# One program is killed while its run is queried, a second one exits; a third one writes a trace file directly.
(exec ./busy 0) 2>/dev/null &
endless=$!
pids="$pids $endless"
check "the run of an endless program receives events" until_true events latest 200
./busy 1000 &
second() { [ "$(poet runs --json | grep -c '"connected"')" = 2 ] && events latest 200; }
check "the run of the second program receives events" until_true second
asked=
for what in runs "stat latest" "states latest" "calls latest" "memory latest" "metrics latest" "waits latest" "blocked latest" "show latest" "path latest"; do
    poet $what >out 2>err
    status=$?
    asked=$asked$status
    [ $status = 0 ] || sed "s/^/# $what: /" err
done
wait $!
kill -KILL "$endless"
wait "$endless" 2>/dev/null
is "queries of live runs succeed" "$asked" 0000000000
check "the run of the killed program finishes" until_true finished latest
POET_OUTPUT=own.poet ./busy 1000
check "the trace of a program that writes its own file passes poet check" sound own.poet
short=
for i in 1 2 3 4 5 6; do ./busy 200 & short="$short $!"; done
# shellcheck disable=SC2086 # some processes
wait $short
over() { poet runs --json | grep -c '"connected": *0'; }
at_least() { [ "$(over)" -ge "$1" ]; }
until_done "poet runs --json" at_least 8 # what the endless program sent before it was killed is being processed
is "all eight runs that the server recorded are finished" "$(over)" 8
[ "$(over)" = 8 ] || { poet runs; cat server.log; } | sed 's/^/# /'
kill -TERM "$server"
wait "$server"
is "the server exits with status 0 on SIGTERM" $? 0
is "ThreadSanitizer reports nothing" "$(cat logs/report* 2>/dev/null | head -n 60)" ""
done_testing
