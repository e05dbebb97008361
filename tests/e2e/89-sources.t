#!/bin/bash
# Without context-switch records each answer says which source it uses; and the states of a thread add up to its
# lifetime, to the nanosecond, for every source.
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/tables.sh"
export POET_QUIET=1

# Runs a command for which perf_event_open fails.
cat >refused.c <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
    execvp(argv[1], argv + 1);
    return 98;
}
C
# On one CPU a thread waits, at idle priority, for a waker that keeps the CPU. It prints how long its wait took and its run delay
# in it; the waker, how long its sem_post took.
cat >idle.c <<'C'
#include "work.h"
#include "asleep.h"
#include <sched.h>
static sem_t s;
static struct sleeper sleeper;
static NOT long long cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
/* The number of times it was scheduled is *times. */
static NOT long long delay(long long *times)
{
    char path[99];
    long long ran, ready = -1;
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%lld %lld %lld", &ran, &ready, times) != 3) ready = -1;
    if (f) fclose(f);
    return ready;
}
static void *waiter(void *p)
{
    struct sched_param none = {0};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
    long long times, more, ready = delay(&times), from = now();
    about_to_wait(&sleeper);
    sem_wait(&s);
    long long took = now() - from;
    ready = delay(&more) - ready;
    printf("delay\t%lld\nwait\t%lld\ntimes\t%lld\n", ready, took, more - times);
    return p;
}
int main(void)
{
    pthread_t t;
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = CPU_SETSIZE - 1, kept = 0; i >= 0; i--)
        if (CPU_ISSET(i, &set) && kept++) CPU_CLR(i, &set);
    sched_setaffinity(0, sizeof set, &set);
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, waiter, 0);
    until_asleep(&sleeper, 1);
    rest(60);
    long long from = now();
    sem_post(&s);
    said("post", from);
    for (long long end = cpu() + 30000000; cpu() < end;) ;
    pthread_join(t, 0);
    return 0;
}
C
check "the wrapper that refuses perf_event_open compiles" cc -Wall -Werror refused.c -o refused
check "idle.c compiles with -trace" poetcc -trace -g idle.c -o idle -lpthread
is "the wrapper passes other system calls" "$(./refused cat refused.c | cmp - refused.c; echo $?)" 0

poet record -o plain.poet ./idle >plain.out
./refused poet record -o refused.poet ./idle >refused.out
POET_MEASURE=states ./refused poet record -o clock.poet ./idle >clock.out
# The wait for the semaphore, with its wake-up latency.
going() { poet waits --by wait --json "$1.poet" | rows row type waited_ns resume_ns runnable_ns wakeup_latency_ns runnable_source |
    awk -F'\t' '$1 == "wait"'; }
why() { poet waits --why waiter "$1.poet" | grep '^note: resume delay'; }
said() { awk -F'\t' -v n="$2" '$1 == n { print $2 }' "$1.out"; }
for p in plain refused clock; do
    check "$p: the trace is sound" sound $p.poet
    is "$p: the program prints its figures" "$(cut -f1 $p.out | sort | xargs)" "delay post times wait"
    IFS='	' read -r _ waited took ready latency by <<<"$(going $p)"
    like "$p: the wait has a wake-up latency" "$took" '^[1-9][0-9]*$'
    case $p:$by in
    plain:unknown*) skip "no context-switch records here: $(poet states plain.poet | grep -o 'not available: .*')" ;;
    refused:*)
        is "refused: the runnable part of the latency is unknown" "$ready $latency" "- -"
        like "refused: the table and --why say that it is unknown" "$by/$(why refused)" "^unknown .no scheduling data./note: resume delay [0-9.]* ms; CPU availability: unknown .no scheduling data."
        ;;
    *)
        is "$p: runnable time and wake-up latency add up to the resume delay" $((ready + latency)) "$took"
        like "$p: the table and --why have the source" "$by/$(why $p)" "^(context-switch records|thread CPU clock).*/note: resume delay .*: [0-9.]+ ms runnable without a CPU, [0-9.]+ ms wake-up latency .(context-switch records|thread CPU clock)"
        # Run delay before and after the wait is not included; nor the time before the wake-up within sem_post. The
        # kernel's delay ends where a switch starts, the record is made when it is done: some us each time.
        around=$(($(said $p wait) - waited))
        check "$p: the runnable time is at most the kernel's run delay, $(said $p delay): $ready" \
            test "$ready" -le $(($(said $p delay) + $(said $p post) + 100000 * $(said $p times)))
        [ $p = clock ] || check "$p: the runnable time is at least the kernel's run delay: $ready" test "$ready" -ge $(($(said $p delay) - around - 100000 * $(said $p times)))
        ;;
    esac
done

# ---- each answer names its source and error; all add up ----
# fills FILE: prints threads with states that do not add up to their lifetime
fills() { rows row thread created_ns runnable_ns running_ns blocked_ns other_off_cpu_ns exited_ns lifetime_ns <"$1" |
    awk -F'\t' '$2 + $3 + $4 + $5 + $6 + $7 != $8 { print }'; }
source_of() { json '[.[0].columns[] | select(.name == "running_ns")][0].source // "-"' "$1"; }
for p in plain refused clock; do
    for by in "" order samples; do
        poet states --json ${by:+--source $by} $p.poet >states.json
        is "$p${by:+, $by}: states add up to each lifetime" "$(fills states.json)" ""
        eval "source_$p$by=\$(source_of states.json)"
        cp states.json "$p$by.json"
    done
done
like "refused: states name their source" "$source_refused" "^samples of CPU time$"
like "refused: states have the reason" "$(poet states refused.poet)" "perf_event_open. is not available: .*Permission denied"
like "refused: samples of a range have their error" "$(poet states --source samples --from 1ms refused.poet)" "at most [0-9.]+ ms apart"
like "clock: the source is the thread's CPU clock" "$(poet states --from 1ms --json clock.poet | head -n 1)" "thread CPU clock at events"
for p in plain refused clock; do
    # By the order, each nanosecond that a thread ran belongs to a segment; all other time is wait or resume delay; before its
    # start and after its exit there is nothing.
    rows row thread running_ns blocked_ns runnable_ns <${p}order.json | sort >lives
    poet waits --by thread --json $p.poet | rows row thread waited_ns count | awk -F'\t' '$3 != "-" { print $1 "\t" $2 }' | sort >waited
    is "$p: wait time and resume delay are the blocked time, to the nanosecond" \
        "$(awk -F'\t' '$3 + $4 { print $1 "\t" $3 + $4 }' lives)" "$(cat waited)"
    is "$p: all running time belongs to segments" "$(awk -F'\t' '{ n += $2 } END { printf "%.0f", n }' lives)" \
        "$(poet path --json $p.poet | rows total total_ns)"
    check "$p: poet check finds that paths, waits and lifetimes add up" sh -c "poet check $p.poet | grep -q OK"
done
done_testing
