#!/bin/bash
# Poet's figures agree with gprof, callgrind, uftrace, heaptrack, massif, time, perf sched and the kernel.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
oracle() { python3 "$root/tests/e2e/oracles.py" "$@"; }
have() { command -v "$1" >/dev/null || { skip "$1 is not installed ($2)"; return 1; }; } # have COMMAND PACKAGE
own() { grep -E "^(ARC|OF)( ($1)){$2} "; } # own FUNCTIONS HOW-MANY: only of the program itself
here() { POET_OUTPUT=$1 POET_QUIET=1 "${@:2}"; } # here TRACE PROGRAM...

# ---- numbers of calls, by caller ----
cat >stairs.c <<'C'
#define CALLED __attribute__((noinline)) void
volatile long sink;
CALLED fifth(void) { sink++; }
CALLED fourth(void) { sink++; }
CALLED third(void) { for (int i = 0; i < 10; i++) fifth(); }
CALLED second(void) { for (int i = 0; i < 10; i++) fourth(); }
CALLED first(void) { for (int i = 0; i < 10; i++) third(); }
int main(void) { for (int i = 0; i < 10; i++) { first(); second(); } return 0; }
C
cat >circles.c <<'C'
#define CALLED __attribute__((noinline))
volatile long sink;
int odd(int n);
CALLED void f(void) { sink++; }
CALLED void g(void) { f(); }
CALLED void k(void) { f(); f(); f(); }
CALLED int r(int n) { int x = n ? r(n - 1) : 0; f(); return x + 1; }
CALLED int even(int n) { int x = n ? odd(n - 1) : 1; sink++; return x; }
CALLED int odd(int n) { int x = n ? even(n - 1) : 0; sink++; return x; }
int main(void)
{
    for (int i = 0; i < 1000; i++) g();
    for (int i = 0; i < 100; i++) k();
    sink += r(10) + r(3) + even(20) + odd(7);
    return 0;
}
C
cat >threads.c <<'C'
#include <pthread.h>
#define CALLED __attribute__((noinline))
volatile long sink;
CALLED void f(void) { sink++; }
CALLED int r(int n) { int x = n ? r(n - 1) : 0; f(); return x + 1; }
CALLED void *work(void *n) { for (long i = 0; i < (long)n; i++) { f(); r(3); } return n; }
int main(void) /* one after the other: gprof counts without locks */
{
    for (long i = 1; i <= 4; i++) {
        pthread_t t;
        pthread_create(&t, 0, work, (void *)(i * 500));
        pthread_join(t, 0);
    }
    return 0;
}
C
for p in stairs circles threads; do
    poetcc -profile -g -O1 $p.c -o $p-poet
    cc -g -O1 $p.c -o $p-plain -pthread
    cc -pg -g -O1 $p.c -o $p-pg -pthread
    check "$p: the program is measured" here $p.poet ./$p-poet
    poet calls $p.poet --graph --json | oracle poet >$p.arcs
    poet calls $p.poet --json | oracle poet-sums >$p.sums
    own=$(cut -d' ' -f2 $p.sums | grep -vE '^(start|create|join)$' | paste -sd'|')
    own "$own" 2 <$p.arcs >$p.own
    is "$p: the profile has arcs" "$([ "$(wc -l <$p.own)" -ge 2 ] && echo yes)" yes
    if have gprof binutils; then
        ./$p-pg
        gprof -b -q ./$p-pg gmon.out | oracle gprof | own "$own" 2 >$p.gprof
        check "$p: gprof has the same arcs" diff $p.own $p.gprof
    fi
    if have callgrind_annotate valgrind; then
        valgrind -q --tool=callgrind --callgrind-out-file=$p.callgrind ./$p-plain
        callgrind_annotate --tree=caller --inclusive=yes --threshold=100 $p.callgrind | oracle callgrind | own "$own" 2 >$p.valgrind
        check "$p: callgrind has the same arcs" diff $p.own $p.valgrind
        poet calls $p.poet -f callgrind -o $p.ours
        is "$p: callgrind_annotate reads the same total from poet calls -f callgrind" \
            "$(callgrind_annotate $p.ours | sed -n 's/^ *\([0-9,]*\) .*PROGRAM TOTALS/\1/p' | tr -d ,)" \
            "$(poet calls $p.poet -f folded | awk '{ sum += $NF } END { print sum }')"
    fi
    if have uftrace uftrace; then
        uftrace record --no-libcall -d $p.uftrace ./$p-pg >/dev/null 2>&1
        uftrace report -d $p.uftrace 2>/dev/null | oracle uftrace | own "$own" 1 >$p.report
        own "$own" 1 <$p.sums >$p.of
        check "$p: uftrace has the same calls" diff $p.of $p.report
    fi
    if have go golang-go; then
        poet calls $p.poet -f pprof -o $p.pb
        PPROF_TMPDIR=$work go tool pprof -top -nodecount=1000 -nodefraction=0 -unit=ns -sample_index=calls $p.pb 2>/dev/null | oracle pprof | own "$own" 1 >$p.pprof
        own "$own" 1 <$p.sums >$p.of
        check "$p: pprof reads as many calls" diff $p.of $p.pprof
    fi
done

# ---- unmodified programs ----
cat >maker.c <<'C'
#include <pthread.h>
#include <unistd.h>
static void *wait_for_end(void *p) { while (access("end", F_OK)) usleep(1000); return p; }
void make_one(void) { pthread_t t; pthread_create(&t, 0, wait_for_end, 0); pthread_join(t, 0); }
C
cat >alone.c <<'C'
#include <pthread.h>
void make_one(void);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); make_one(); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
C
cc -g -shared -fPIC maker.c -o libmaker.so -pthread
cc -g alone.c -o alone -L. -lmaker -Wl,-rpath,"$work"
start_server -o made/ -q
POET_QUIET=1 poet record -m usage,calls ./alone &
until_true sh -c 'poet usage made/alone-*.poet --json | grep -q "\"metric\":\"threads\".*\"max\":2"'
touch end
wait $!
until_true finished "$(ls made/alone-*.poet)"
like 'report: threads that a library creates are reported as untraced' "$(poet report made/alone-*.poet)" '2 threads existed, at most 1 was traced; .* --libraries'
poet path latest >path.out
is 'path without a profile: segments are between call sites' "$(grep -c '(thread)' path.out)" 0
like 'path without a profile: segments have source lines' "$(cat path.out)" 'alone.c:4.* → .*alone.c:4'
stop_server

# ---- heap ----
cat >leak.c <<'C'
#include <stdlib.h>
#include <string.h>
#define CALLED __attribute__((noinline)) void
static void *kept[64];
static int n;
CALLED a(void) { for (int i = 0; i < 7; i++) kept[n++] = malloc(100); }
CALLED b(void) { for (int i = 0; i < 5; i++) kept[n++] = malloc(33); }
CALLED c(void) { for (int i = 0; i < 50; i++) free(malloc(1000)); }
CALLED d(void)
{
    void *p[200];
    unsigned r = 1;
    for (int i = 0; i < 200; i++) p[i] = malloc(10000 + (r = r * 1103515245 + 12345) / 65536 % 30000);
    p[3] = realloc(p[3], 100000);
    for (int i = 0; i < 200; i++) free(p[i]);
}
int main(void) { a(); d(); b(); c(); memset(kept, 0, sizeof kept); return 0; }
C
cc -g -O1 -fno-builtin leak.c -o leak
POET_QUIET=1 poet record -m memory -o leak.poet ./leak
poet memory leak.poet --json | oracle leaks >leak.of
is 'memory: blocks that were not freed' "$(paste -sd' ' leak.of)" 'OF a 7 700 OF b 5 165'
if have heaptrack_print heaptrack; then
    heaptrack -o heap ./leak >/dev/null 2>&1
    heaptrack_print -f heap.* -l 1 -p 0 -a 0 -T 0 2>/dev/null | oracle heaptrack >leak.heaptrack
    check 'heaptrack has the same unfreed blocks' diff leak.of leak.heaptrack
fi
if have ms_print valgrind; then
    valgrind -q --tool=massif --heap-admin=0 --peak-inaccuracy=0 --massif-out-file=massif.out ./leak
    check 'peak heap size: massif within 1 %' oracle near peak "$(poet memory leak.poet | sed -n 's/.*peak heap of .*: \([0-9]*\) bytes at .*/\1/p')" \
        "$(sed -n 's/^mem_heap_B=//p' massif.out | sort -n | tail -n 1)" 0.01 0
fi

# ---- OS metrics ----
cat >usage.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static void *work(void *p)
{
    memset(malloc(64 << 20), 1, 64 << 20);
    for (int i = 0; i < 100; i++) nanosleep(&(struct timespec){0, 100000}, NULL);
    for (volatile long i = 0; i < 100000000; i++)
        ;
    return p;
}
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }
C
poetcc -trace -g -O1 usage.c -o usage
if have /usr/bin/time time; then
    start_server -o traces/ -q
    POET_MEASURE=usage POET_RUN=used /usr/bin/time -v -o time.out ./usage
    until_true finished latest
    poet usage latest --json >usage.json
    used() { json 'metric("'"$1"'") | select(.thread | not) | .last' usage.json; }
    timed() { sed -n "s/^\t$1.*: //p" time.out; }
    # What the program used after it printed its figures is not included: a few faults and switches.
    check 'peak memory: time -v within 1 %' oracle near kilobytes "$(($(used peak_resident) / 1024))" "$(timed 'Maximum resident')" 0.01 0
    check 'page faults: time -v within 1 %' oracle near faults "$(used minor_faults)" "$(timed 'Minor .reclaiming')" 0.01 0
    check 'voluntary switches: time -v within 1 %' oracle near switches "$(used voluntary_switches)" "$(timed 'Voluntary context')" 0.01 10
    check 'CPU time: time -v within 1 %' oracle near ns "$(($(used cpu_user) + $(used cpu_system)))" \
        "$({ timed 'User time'; timed 'System time'; } | awk '{ s += $1 } END { printf "%.0f\n", 1e9 * s }')" 0.01 40000000
    stop_server
fi

# ---- running and runnable ----
cat >spin.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
static struct {
    unsigned long long ran, waited, at_ns;
} said[2];
static unsigned long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}
static void *spin(void *name)
{
    char path[64];
    int i = ((char *)name)[5] - 'a';
    pthread_setname_np(pthread_self(), name);
    while (cpu_ms() < 300)
        ;
    snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%llu %llu", &said[i].ran, &said[i].waited) != 2)
        said[i].ran = 0;
    said[i].at_ns = now_ns();
    return name;
}
int main(void)
{
    pthread_t a, b;
    cpu_set_t allowed, one;
    int cpu = 0;
    sched_getaffinity(0, sizeof allowed, &allowed);
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_create(&a, 0, spin, "spin-a");
    pthread_create(&b, 0, spin, "spin-b");
    for (int i = 0; i < 2; i++) { /* and how much later it was joined */
        pthread_join(i ? b : a, 0);
        printf("spin-%c %llu %llu %llu\n", 'a' + i, said[i].ran, said[i].waited, now_ns() - said[i].at_ns);
    }
    return 0;
}
C
poetcc -trace -g -O1 spin.c -o spin
state() { json 'rows | select(.thread == "T:'"$1"'").'"$2" states.json; }
here spin.poet ./spin >schedstat
poet states spin.poet --json >states.json
# Of the kernel's run delay some was before its start, which is another state; and after its reading there may be more.
for_as_long() { # GOT SAID BEFORE AFTER
    awk -v got="$1" -v said="$2" -v before="$3" -v after="$4" 'BEGIN {
        off = 0.02 * said + 20e6
        exit !(got >= said - before - off && got <= said + after + off)
    }'
}
while read -r thread ran waited more; do
    check "$thread: the running time is that of the kernel" oracle near ns "$(state "$thread" running_ns)" "$ran" 0.02 30000000
    check "$thread: the runnable time is that of the kernel" for_as_long "$(state "$thread" runnable_ns)" "$waited" \
        "$(state "$thread" created_ns)" "$more"
done <schedstat
if ! command -v perf >/dev/null; then
    skip 'perf is not installed (linux-perf)'
elif ! perf sched record -o perf.data true >/dev/null 2>perf.err; then
    skip "perf sched record: $(head -n 1 perf.err)"
else
    # Time stolen from CPUs counts as run time for perf, not for the clocks of threads.
    stolen_ms() { awk -v hz="$(getconf CLK_TCK)" '/^cpu / { print int($9 * 1000 / hz) }' /proc/stat; }
    stolen=$(stolen_ms)
    here sched.poet perf sched record -m 8M -o perf.data ./spin >/dev/null 2>perf.err
    stolen=$(($(stolen_ms) - stolen))
    poet states sched.poet --json >states.json
    perf sched timehist --summary -i perf.data >timehist 2>>perf.err
    if grep -qi 'lost' perf.err timehist; then
        skip 'perf sched lost records'
    else
        for thread in spin-a spin-b; do
            check "$thread: the running time is that of perf sched" oracle near ms "$(($(state $thread running_ns) / 1000000))" \
                "$(awk -v t="^$thread" '$1 ~ t && $2 ~ /^[0-9]+$/ { print $4; exit }' timehist)" 0.03 "$((30 + stolen))"
        done
    fi
    rm -f perf.data
fi
done_testing
