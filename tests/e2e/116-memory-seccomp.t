#!/bin/bash
# A program with measured memory and a seccomp filter that kills on any one system call survives
# wherever it does without Poet; later allocations are counted.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >kills.c <<'C'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
/* kills NUMBER: installs a filter for the call of that number, and then allocates more small and large blocks than before. */
static void *volatile kept[1000];
__attribute__((noinline)) static void lose(void) { kept[0] = malloc(777); }
static void *work(void *a)
{
    for (int i = 1; i < 1000; i++)
        kept[i] = malloc(16 + i);
    for (int i = 1; i < 1000; i++) {
        void *more = realloc(kept[i], 4000);
        free(more);
    }
    free(calloc(1, 300000));
    lose();
    return a;
}
int main(int argc, char **argv)
{
    pthread_t t;
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? (unsigned)atoi(argv[1]) : 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog p = {4, f};
    free(malloc(100));
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
        return 77;
    work(NULL);
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return write(1, "fine\n", 5) != 5;
}
C
gcc -g -O0 kills.c -o kills -pthread
number() { printf '#include <sys/syscall.h>\nSYS_%s\n' "$1" | cc -E -P - | tail -n 1; }
./kills "$(number mkdir)" >out 2>&1 || { skip "seccomp is not available"; done_testing; exit; }
start_server -q -o runs/
lives() { poet record -m memory ./kills "$1" >"out.${2-}" 2>&1 && [ "$(cat "out.${2-}")" = fine ]; }

# Every number with which the program survives without Poet (pthread_join waits by a futex if it must wait): even ones
# and odd ones at the same time.
futex=$(number futex)
try() { # try PART: prints how many were tried, and which were not survived
    dead='' tried=0
    for n in $(seq "$1" 2 334) $(seq $((424 + $1)) 2 462); do
        [ "$n" != "$futex" ] || continue
        ./kills "$n" >"out.$1" 2>/dev/null || continue
        tried=$((tried + 1))
        lives "$n" "$1" || { dead="$dead $n" && echo "# $n: $(head -c 300 "out.$1" | tr '\n' ' ')" >&3; }
    done
    echo "$tried$dead"
} 2>/dev/null
exec 3>&1
try 0 >tried.0 &
try 1 >tried.1
wait $!
tried=$(cut -d' ' -f1 tried.[01] | paste -sd+ | bc) dead=$(cut -d' ' -f2- -s tried.[01] | xargs)
is "a program with measured memory survives each filter that it survives without Poet" "$dead" ""
check "more than 200 system calls were tried" test "$tried" -gt 200
# (of a directory of their own: the newest of some hundred runs takes long to find on a busy machine)
stop_server
start_server -q -o last/
lost() { poet memory --json latest | json 'sum(row("lose").unfreed_blocks)'; }
for call in mkdir clock_gettime gettid sendto memfd_create; do
    lives "$(number $call)"
    until_true finished latest
    is "a filter on $call: later allocations of both threads are counted" "$(lost)" 2
done
stop_server
done_testing
