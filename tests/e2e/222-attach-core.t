#!/bin/bash
# poet attach --core: the blocked threads and stacks of core files that the kernel and gcore wrote; truncated and
# damaged files.
. "$(dirname "$0")/lib.sh"

cat >dead.c <<'C'
#include <pthread.h>
static pthread_mutex_t forks = PTHREAD_MUTEX_INITIALIZER, knives = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *alice(void *p)
{
    pthread_mutex_lock(&forks);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&knives);
    return p;
}
static void *bob(void *p)
{
    pthread_mutex_lock(&knives);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&forks);
    return p;
}
int main(void)
{
    pthread_t s, t;
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&s, 0, alice, 0);
    pthread_create(&t, 0, bob, 0);
    return pthread_join(s, 0);
}
C
gcc -g -pthread dead.c -o dead
# Waits in the program until both threads sleep.
asleep() { [ "$(grep -l '^202 ' /proc/$program/task/*/syscall 2>/dev/null | wc -l)" = 3 ]; }
start() { ./dead & program=$!; pids="$pids $program"; until_true asleep; }

# core_is_complete FILE NAME
core_is_complete() {
    poet attach --core "$1" >said 2>&1
    like "$2: the deadlock" "$(cat said)" '^DEADLOCK: 2 threads wait for each other'
    like "$2: the edge" "$(cat said)" "^    T:alice waits for M:knives, held by T:bob \(according to glibc's mutex\)"
    like "$2: the line" "$(cat said)" '^T:bob requests M:forks at dead\.c:15$'
    like "$2: the join" "$(cat said)" '^T:main waits to join T:alice at dead\.c:24$'
    is "$2: the stacks are complete" "$(grep -c 'is incomplete' said)" 0
}

ulimit -c unlimited
start
if ! asleep; then
    skip "the call in which a thread sleeps cannot be read here"
    done_testing
    exit
fi
if command -v gcore >/dev/null && gcore -o copied $program >/dev/null 2>&1 && [ -s copied.$program ]; then
    core_is_complete copied.$program "gcore"
else
    skip "gcore is not installed, or not permitted"
fi
kill -ABRT $program
wait $program 2>/dev/null
core=$(ls core core.* 2>/dev/null | head -n 1)
if [ -z "$core" ]; then
    skip "the kernel writes no core file here"
    [ -f copied.$program ] || { done_testing; exit; }
    core=copied.$program
else
    core_is_complete "$core" "kernel"
fi
is "the core file of a process is not a live process" "$(poet attach --json --core "$core" | json '.[0].live, .[0].stopped_ns' | tr '\n' ' ')" "false null "

# ---- truncated, damaged, other files ----
size=$(stat -c %s "$core")
ends=0
for part in 0 1 3 64 200 1000 3000 20000 $((size / 3)) $((size - 5000)); do
    head -c $part "$core" >cut
    timeout 60 poet attach --json --core cut >said.json 2>said
    case $? in
    0) json '.[0].truncated' said.json | grep -qx true || ends=1 ;;
    1) grep -Eq '^poet attach: cut: (not a core file|the core file is truncated before its threads)$' said || ends=1 ;;
    *) ends=1 ;;
    esac
done
is "truncated core files: what is there is said, or why nothing is" $ends 0
# (of the notes there is the beginning only, with the registers of the first thread)
notes=$(readelf -lW "$core" | sed -n 's/^ *NOTE *0x\([0-9a-f]*\).*/\1/p' | head -n 1)
head -c $((0x$notes + 3000)) "$core" >cut
like "truncated core file: no owner is said that is not in it" "$(poet attach --core cut)" '^the core file is truncated: some threads and stacks may be missing'
is "truncated core file: no diagnosis" "$(poet attach --core cut | grep -c 'DEADLOCK\|HANG')" 0
mv dead old
gcc -g -O2 -DOTHER -pthread -include stdio.h dead.c -o dead
poet attach --core "$core" >said
like "the program was rebuilt: the deadlock is found" "$(cat said)" '^DEADLOCK: 2 threads wait for each other'
is "the program was rebuilt: its lines are not used" "$(grep -c 'dead\.c:' said)" 0
is "another file" "$(poet attach --core dead.c 2>&1)" "poet attach: dead.c: not a core file"
is "no file" "$(poet attach --core missing 2>&1)" "poet attach: missing: No such file or directory"
is "a process and a core file" "$(poet attach --core "$core" 1 2>&1 | head -n 1)" "poet attach: extra operand: 1"
done_testing
