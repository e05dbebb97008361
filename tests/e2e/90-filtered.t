#!/bin/bash
# A seccomp filter that kills on a system call of libpoet does not kill a traced program; figures that are then unknown
# are reported as such.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
cat >kills.c <<'C'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* kills NUMBER...: forbids itself the calls of these numbers, and runs on. */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int seen;
static volatile unsigned long x;
static jmp_buf out;
static void handler(int sig) { seen = sig; }
__attribute__((noinline)) static void spin(void) { for (int i = 0; i < 10000; i++) x += i; } /* longer than 4 us */
__attribute__((noinline)) static void jump(void) { spin(); longjmp(out, 1); }
__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < 20; i++) {
        spin();
        pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
    }
    if (!setjmp(out))
        jump();
}
static void *other(void *a) { work(); return a; }
static void forbid(int count, char **numbers)
{
    struct sock_filter f[64];
    unsigned short n = 0;
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count; i++) {
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(numbers[i]), 0, 1);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    }
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog p = {n, f};
    if (getenv("REFUSED")) { /* the kernel rejects it: nothing is forbidden */
        f[n - 1].code = 0xffff;
        if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
            exit(78);
        if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL))
            exit(79);
        return;
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (getenv("BY_SYSCALL") ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p)
                             : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
        exit(77);
}
int main(int argc, char **argv)
{
    pthread_t t;
    signal(SIGUSR1, handler);
    work();
    forbid(argc - 1, argv + 1);
    work();
    kill(getpid(), SIGUSR1);
    pthread_create(&t, NULL, other, NULL);
    pthread_join(t, NULL);
    return write(1, seen ? "fine\n" : "none\n", 5) != 5;
}
C
gcc -O0 kills.c -o plain -pthread
poetcc -profile -trace -g -O0 kills.c -o kills
poetcc -profile -trace -processes -g -O0 kills.c -o streams
number() { printf '#include <sys/syscall.h>\nSYS_%s\n' "$1" | cc -E -P - | tail -n 1; }
./plain "$(number mkdir)" >out 2>&1 || { skip "seccomp is not available"; done_testing; exit; }
start_server -q -o runs/

# Every system call number: where the plain program survives, the traced one does (pthread_join waits by a futex,
# where it must wait).
dead= futex=$(number futex)
for n in $(seq 0 334) $(seq 424 462); do
    [ "$n" != "$futex" ] || continue
    ./plain "$n" >out 2>/dev/null || continue
    for program in kills streams; do
        ./$program "$n" >out 2>&1 && [ "$(cat out)" = fine ] || dead="$dead $program:$n"
    done
done 2>/dev/null
is "for every filter the traced program survives where the plain one does" "$dead" ""

# with FORBIDDEN CALL...: the newest run is one of `kills` with this filter
with() {
    numbers=
    for call in "$@"; do numbers="$numbers $(number "$call")"; done
    # shellcheck disable=SC2086 # numbers are separate words
    ./kills $numbers >out 2>&1
    is "$*: the program runs to its end" "$? $(cat out)" "0 fine"
    check "$*: the trace is sound" sound latest
}
cpu_of() { poet calls --json latest | python3 -c '
import json, sys
for row in [json.loads(line).get("row", {}) for line in sys.stdin]:
    if sys.argv[1] in json.dumps(row.get("function", "")):
        print("unknown" if row.get("cpu_ns") is None else "known")' "$1"; }
untold() { poet stat latest | grep '^not traced'; }
all_events=$((3 * 20 * 5)) # pairs of main, twice, and of the other thread; and more

with mkdir
is "a filter that permits the calls of libpoet: CPU time is known" "$(cpu_of spin)" known
is "a filter that permits the calls of libpoet: nothing is untraced" "$(untold)" ""
with clock_gettime
is "clock_gettime forbidden: CPU time of calls is unknown" "$(cpu_of spin)" unknown
like "clock_gettime forbidden: a note has the reason" "$(poet calls latest)" 'the CPU time of calls is unknown for [12] threads?: a seccomp filter'
like "clock_gettime forbidden: real time of calls is known" "$(poet calls latest)" 'spin \(kills.c:[0-9]+\) +63 '
check "clock_gettime forbidden: all events are recorded" test "$(figure latest events)" -gt $all_events
is "clock_gettime forbidden: nothing is untraced" "$(untold)" ""
with clock_gettime getrusage openat readlink
check "reading files forbidden: all events are recorded" test "$(figure latest events)" -gt $all_events
with rt_sigqueueinfo rt_tgsigqueueinfo
check "calls for signals forbidden: all events are recorded" test "$(figure latest events)" -gt $all_events
with sigaltstack process_vm_readv
check "calls after a longjmp: all events are recorded" test "$(figure latest events)" -gt $all_events
with memfd_create
like "memory for queues forbidden: new threads are reported as untraced" "$(untold)" "a thread without an event queue"
check "memory for queues forbidden: existing threads are recorded" test "$(figure latest events)" -gt $((2 * 20 * 5))
for call in sendto fstat gettid; do
    with $call
    like "$call forbidden: the process is reported as no longer recorded" "$(untold)" "a process that restricts its system calls"
    check "$call forbidden: earlier events are recorded" test "$(figure latest events)" -ge $((20 * 5))
done
export BY_SYSCALL=1
with clock_gettime
is "seccomp(2) for all threads: CPU time of calls is unknown" "$(cpu_of spin)" unknown
unset BY_SYSCALL
export REFUSED=1
with clock_gettime
is "a filter that the kernel rejects: CPU time is known" "$(cpu_of spin)" known
with sendto
check "a filter that the kernel rejects: recording continues" test "$(figure latest events)" -gt $all_events
like "a filter that the kernel rejects: calls are measured" "$(poet calls latest)" 'spin \(kills.c:[0-9]+\) +63 '
unset REFUSED
done_testing
