#!/bin/bash
# Results of requests about a long run are saved beside its trace: the same request has the same answer with them and
# without, whatever happened to the file.
. "$(dirname "$0")/lib.sh"

cat >long.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m[4], queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int count, rounds;
static void *work(void *odd)
{
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 4; k++) { pthread_mutex_lock(&m[(i + k) % 4]); pthread_mutex_unlock(&m[(i + k) % 4]); }
        pthread_mutex_lock(&queue);
        while (count == (odd ? 8 : 0)) pthread_cond_wait(&changed, &queue);
        count += odd ? 1 : -1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&queue);
    }
    return odd;
}
int main(int argc, char **argv)
{
    pthread_t t[4];
    rounds = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < 4; i++) pthread_mutex_init(&m[i], NULL);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, (void *)(i % 2));
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}
C
poetcc -trace -O1 long.c -o long
mkdir alone
record() { POET_SERVER='' POET_OUTPUT=$1 ./long "$2" 2>/dev/null && order_ends "$1"; }
check "a long run is recorded" record long.poet 4000
check "another one is" record other.poet 4100
check "a short one is" record short.poet 100
events=$(figure long.poet events)
[ "$events" -ge 300000 ] && ok "the long run has $events events" || not_ok "the long run has 300000 events" "$events"

# answer TABLE [TRACE]: the table and what was reported, with the exit status
answer() { poet $1 "${2:-long.poet}" 2>&1; echo "exit status $?"; }
# computed TABLE TRACE: the same, of a copy that has no results beside it
computed() {
    cp "$2" alone/
    (cd alone && answer "$1" "$2")
    rm -f alone/*
}
tables=("states" "waits" "path" "calls" "report" "waits --by thread --json" "states --chart transitions -o chart.svg")
declare -A wanted
for table in "${tables[@]}"; do wanted[$table]=$(computed "$table" long.poet); done
like "the table of states is not empty" "${wanted[states]}" "^T:work#2 .*[0-9]"
like "and reports success" "${wanted[states]}" "^exit status 0$"
all() { # all NAME: every table is as computed
    for table in "${tables[@]}"; do is "$1: poet $table" "$(answer "$table")" "${wanted[$table]}"; done
}

# ---- they are saved, and read ----
answer states short.poet >/dev/null
check "a short run has no saved results" test ! -e short.poet-results
all "computed"
check "results are saved beside the trace" test -s long.poet-results
is "with its permissions" "$(stat -c %a long.poet-results)" "$(stat -c %a long.poet)"
cp long.poet-results whole
all "saved"
check "what is saved is not written again" cmp whole long.poet-results

# A part of the trace is damaged that opening it does not need: the table needs it, unless it was saved.
size=$(stat -c %s long.poet)
damage() { # damage N: the Nth of 32 parts, and keeps the time of the last change
    cp -p long.poet alone/
    dd if=/dev/zero of=alone/long.poet bs=$((size / 32)) seek="$1" count=1 conv=notrunc 2>/dev/null
    touch -r long.poet alone/long.poet
}
in_alone() { (cd alone && answer states); }
found=
for part in {31..1}; do
    damage $part
    rm -f alone/long.poet-results
    [ "$(in_alone)" = "${wanted[states]}" ] && continue
    check "results of a damaged run are not saved: part $part" test ! -e alone/long.poet-results
    cp -p long.poet-results alone/
    [ "$(in_alone)" = "${wanted[states]}" ] && found=$part && break
done
[ "$found" ] && ok "saved results need no events: part $found" || not_ok "saved results need no events"
rm alone/*

# ---- files that are not what was written ----
poet states other.poet >/dev/null
cp other.poet-results long.poet-results
all "with the results of another trace"
check "the file is of this trace again" grep -q . long.poet-results
cmp -s other.poet-results long.poet-results && not_ok "and not of the other one" || ok "and not of the other one"
bytes=$(stat -c %s whole)
for part in 3 2; do
    head -c $((bytes / part)) whole >long.poet-results
    all "cut off after 1/$part"
done
for place in 4 12 20 40 $((bytes / 3)) $((bytes / 2)) $((bytes - 5)); do
    cp whole long.poet-results
    byte=$(od -An -tu1 -j $place -N 1 whole)
    printf "\\$(printf %03o $((byte ^ 16)))" | dd of=long.poet-results bs=1 seek="$place" conv=notrunc 2>/dev/null
    is "with a bit flipped in byte $place: poet waits" "$(answer waits)" "${wanted[waits]}"
    is "with a bit flipped in byte $place: poet path" "$(answer path)" "${wanted[path]}"
done
head -c 100000 /dev/zero >long.poet-results
is "with zeros" "$(answer states)" "${wanted[states]}"
: >long.poet-results
is "with an empty file" "$(answer states)" "${wanted[states]}"
touch long.poet
is "with the results of an earlier state of the trace" "$(answer states)" "${wanted[states]}"

# ---- files that cannot be written ----
rm -f long.poet-results
mkdir long.poet-results.new # not even root can write a file of that name
is "without a place to write them" "$(answer states)" "${wanted[states]}"
check "there are none" test ! -e long.poet-results
rmdir long.poet-results.new
mkdir long.poet-results
is "with a directory in their place" "$(answer states)" "${wanted[states]}"
check "nothing remains of the attempt" test ! -e long.poet-results.new
rmdir long.poet-results
mkfifo long.poet-results
is "with a FIFO in their place" "$(answer states)" "${wanted[states]}"
rm -f long.poet-results
is "with the file size limit of ulimit -f" "$(ulimit -f 1; answer report)" "${wanted[report]}"
check "nothing remains of that attempt" test ! -e long.poet-results.new
rm -f long.poet-results
mkdir closed && cp long.poet closed/ && chmod 500 closed
is "in a directory without write permission" "$(answer states closed/long.poet)" "${wanted[states]}"
chmod 700 closed

# ---- servers that are killed ----
for round in 1 2 3 4 5 6; do
    rm -f long.poet-results
    poet report long.poet >/dev/null 2>&1 &
    asking=$!
    written() { [ -e long.poet-results ] || [ -e long.poet-results.new ] || ! kill -0 $asking; }
    until_true written
    end_own_processes poet-server
    wait $asking 2>/dev/null
    is "after a kill -9 of the server, $round" "$(answer report)" "${wanted[report]}"
done
check "nothing but the results remains" test ! -e long.poet-results.new

# ---- a run that grows ----
start_server -q -o grows.poet
POET_RUN=grows ./long 4000 2>/dev/null
until_true finished latest
answer states latest >first
check "a server saves the results of a run that has ended" test -s grows.poet-results
check "it reads them" diff first <(answer states latest)
check "they are those of its file" diff first <(answer states grows.poet)
POET_RUN=grows ./long 500 2>/dev/null
until_true finished latest
answer states latest >second
cmp -s first second && not_ok "after another program has joined it, they are other ones" || ok "after another program has joined it, they are other ones"
written=$(stat -c '%i %y' grows.poet-results)
stop_server
check "the file has them after the server has ended" diff second <(answer states grows.poet)
is "without another computation" "$(stat -c '%i %y' grows.poet-results)" "$written"
check "they are as computed" diff second <(computed states grows.poet)

# ---- removal ----
poet rm --force long.poet >/dev/null 2>&1
check "poet rm removes the results with the trace" test ! -e long.poet-results
done_testing
