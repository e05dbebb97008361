#!/bin/bash
# poet calls on programs with known figures: basic blocks, counts, times and callers, as gprof and
# callgrind count them; the cost of measuring. Times are compared with the program's own clocks.
# Runs in make check-all only.
. "$(dirname "$0")/lib.sh"
measured() { POET_MEASURE=${METERS:-calls} POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"; } # measured TRACE PROGRAM...

cat >spin.h <<'C'
#include <stdio.h>
#include <time.h>
#define NI __attribute__((noinline))
#define NOT __attribute__((noinline, no_instrument_function))
static NOT long long ran(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static NOT long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
/* Of the thread's CPU time. */
static inline __attribute__((no_instrument_function, unused)) void spin(long us) { for (long long end = ran() + us * 1000; ran() < end;); }
C

# ---- basic blocks: Meira's figure 3.2 ----
cat >blocks.c <<'C'
#include "spin.h"
static NOT void work(const char *name, int ms)
{
    struct timespec t = {0, ms * 1000000L};
    long long from = now(), to;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    to = now();
    printf("%s %lld %lld\n", name, from, to);
}
NI void D(const char *name, int ms) { work(name, ms); }
NI void B(void)
{
    work("B 12-14", 2);
    D("D B", 6);
}
NI void C(void)
{
    work("C 17-19", 4);
    D("D C", 7);
}
NI void A(void)
{
    work("A 22-24", 1);
    B();
    work("A 24-26", 3);
    C();
    work("A 26-end", 5);
}
int main(void) { work("begin", 0); A(); work("end", 0); return 0; }
C
poetcc -profile -g -O1 blocks.c -o blocks
# At least its own work; at most the gap between the works before and after it.
within() { awk 'NR == FNR { from[n] = $(NF - 1); to[n] = $NF; of[$1 " " $2] = n++; next }
    $1 " " $2 in of { seen++; i = of[$1 " " $2]; if ($3 < (to[i] - from[i]) * .995 || $3 > (from[i + 1] - to[i - 1]) * 1.005) print $0 }
    END { if (seen != 7) print seen }' own got; }
for meters in calls calls=every; do
    METERS=$meters measured blocks.poet ./blocks >own
    for of in A B C D; do
        poet calls blocks.poet --blocks $of --json >$of.json
        json 'rows | cells(.lines, (.caller | first_word), .self_ns, .count)' $of.json |
            awk -v of=$of '{ print of, of == "D" ? $2 : $1, $3, $4 }'
    done >got
    is "$meters: calls --blocks: the blocks of each function" "$(awk '{ print $1, $2, $4 }' got | paste -sd,)" \
        "A 22-24 1,A 24-26 1,A 26-end 1,B 12-14 1,B 14-end 1,C 17-19 1,C 19-end 1,D B 1,D C 1"
    is "$meters: calls --blocks: seven blocks took as long as the program measured" "$(within)" ""
    is "$meters: calls --blocks: the blocks add up to the self time of their function" "$(for of in A B C D; do
        json 'sum(rows.self_ns) as $sum | total | (.self_ns - $sum) as $rest
            | select($rest != .unassigned_ns or ($rest | fabs) > 1000) | "\($sum) of \(.self_ns)"' $of.json
    done 2>&1)" ""
    is "$meters: calls --blocks: the total is the self time of poet calls" "$(json 'total | .self_ns' A.json)" \
        "$(poet calls blocks.poet --json | json 'row("A").self_ns')"
done
is 'calls --blocks --by function: blocks of all callers' \
    "$(poet calls blocks.poet --blocks D --by function --json | json 'rows | cells(.count, .lines)')" "2 10-end"
is 'calls --blocks as text' "$(poet calls blocks.poet --blocks A | grep -c '^A (blocks.c:22), after blocks.c:24 *24-26 *B (blocks.c:12) *main (blocks.c:29) *1 ')" 1
is 'calls --blocks of an unknown function is refused' "$(poet calls blocks.poet --blocks E 2>&1 | grep -c 'E: no such function in the profile')" 1
is 'calls --blocks --from exits with 2' "$(poet calls blocks.poet --blocks A --from 1ms >/dev/null 2>&1; echo $?)" 2
METERS=calls=counts measured counts.poet ./blocks >/dev/null
is 'calls=counts: calls --blocks has counts and no times' \
    "$(poet calls counts.poet --blocks A --json | json 'rows | cells(.lines, .count, .self_ns)' | paste -sd,)" \
    "22-24 1 -,24-26 1 -,26-end 1 -"

# ---- more segments than records ----
{
    echo 'volatile long sink;'
    printf '__attribute__((noinline)) void f%d(void) { for (int i = 0; i < 100; i++) sink++; }\n' $(seq 300)
    printf '__attribute__((noinline)) void all(void) {\n'
    printf 'f%d(); for (int i = 0; i < 900; i++) sink++;\n' $(seq 300)
    printf '}\nint main(void) { for (int i = 0; i < 20; i++) all(); return 0; }\n'
} >many.c
poetcc -profile -g -O1 many.c -o many
measured many.poet ./many
poet calls many.poet --blocks all --json | json '
    ([rows | select(.self_ns == null)] | length) as $unknown
    | ([rows | select(.self_ns == 0)] | length) as $zero
    | sum(rows.self_ns) as $sum
    | "\([rows] | length) blocks, come to \(sum(rows.count)) times, "
        + if $unknown > 20 then "some not known" else "\($unknown) not known" end
        + if $zero > 0 then ", \($zero) of 0 ns" else "" end
        + (total | if $sum + .unassigned_ns == .self_ns then ""
            else ", \($sum) + \(.unassigned_ns) is not \(.self_ns)" end)
        + "; \([.[].notes[]?] | join(" "))"' >many.said
like 'calls --blocks: times without records are unknown, not 0' "$(cat many.said)" \
    '^301 blocks, come to 6020 times, some not known; .*the block of [0-9.]+ ms is unknown, so the times of the blocks are lower bounds: '
METERS=calls=every measured many.poet ./many
is 'calls=every: calls --blocks has all times' "$(poet calls many.poet --blocks all --json | grep -c 'the block of\|"self_ns":null')" 0

# ---- per thread ----
cat >threads.c <<'C'
#include <pthread.h>
static pthread_barrier_t b;
volatile long sink;
__attribute__((noinline)) void f(void) { for (int i = 0; i < 100; i++) sink++; }
__attribute__((noinline)) void g(void) { f(); }
void *body(void *p)
{
    pthread_barrier_wait(&b);
    for (long i = 0; i < (long)p; i++) g();
    return p;
}
int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&b, 0, 3);
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, body, (void *)(4000 * (i + 1)));
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    f();
    return 0;
}
C
poetcc -profile -g -O1 threads.c -o threads
METERS=calls=every measured every.poet ./threads
measured threads.poet ./threads
is 'calls --per-thread: a function in all threads' "$(poet calls threads.poet --per-thread=calls --csv | tr -d '\r' | awk -F, '/^[fg] /{ print $1, $2; n = 0;
    for (i = 3; i <= NF; i++) if ($i) print "  " $i }' | sed 's/ (.*)//' | sort | xargs)" "1 12000 12000 4000 4000 8000 8000 f 24001 g 24000"
is 'calls --per-thread: columns add up to the total' "$(poet calls threads.poet --per-thread --json | json 'rows
    | sum(to_entries[] | select(.key | startswith("line_")).value) as $sum
    | select(.self_ns != $sum) | "\(.function): \($sum) of \(.self_ns)"' 2>&1)" ''
is 'calls --per-thread of a column that is not a sum is refused' "$(poet calls threads.poet --per-thread=mean 2>&1 | grep -c 'has no sum')" 1
is 'calls --by cpu without switch records is refused with the reason' "$(poet calls threads.poet --by cpu 2>&1 | grep -c 'on which CPU a thread ran')" 1
poet calls threads.poet --elapsed --json >bounds.json
is 'calls --elapsed without calls=every has lower and upper bounds' "$(json 'rows
    | select(.elapsed_min_ns <= 0 or .elapsed_min_ns > .elapsed_max_ns or .elapsed_max_ns > .thread_ns)
    | cells(.function, .elapsed_min_ns, .elapsed_max_ns, .thread_ns)' bounds.json 2>&1)" ''
is 'calls --elapsed of one thread: both bounds are equal' \
    "$(json '[row("main") | select(.elapsed_min_ns == .elapsed_max_ns)] | length' bounds.json)" 1
is 'calls --elapsed: bounds are not marked exact' \
    "$(json '.[0].columns | map(.name + if .exact then "" else "?" end) | join(" ")' bounds.json)" \
    'function calls elapsed_min_ns? elapsed_max_ns? thread_ns thread_count'
is 'calls --elapsed: exact times lie between the bounds of the same run' "$(
    poet calls every.poet --json --by thread |
        json 'inner_rows | select(.total_ns > 0) | cells((.function | first_word), .total_ns)' |
        awk '$2 > most[$1] + 0 { most[$1] = $2 }
            { sum[$1] += $2 }
            END { for (f in sum) print f, most[f], sum[f] }' >sums
    poet calls every.poet --elapsed --json | json 'by_function(.elapsed_ns)' |
        awk 'NR == FNR { least[$1] = $2; most[$1] = $3; next }
        $1 in least && ($2 < least[$1] - 80000 || $2 > most[$1] + 80000) { print $0, least[$1], most[$1] }' sums -)" ''

# ---- slices of calls for Perfetto ----
# nests FILE: how often each call started on tracks of calls, and how many were open at the end; or the error
nests() { python3 -c 'import collections, json, sys
began, opened, last, cut = collections.Counter(), collections.defaultdict(list), {}, 0
for o in json.load(open(sys.argv[1]))["traceEvents"]:
    track = o["tid"]
    if track < 1 << 30 or o["ph"] == "M":
        continue
    if o["ts"] < last.get(track, 0):
        print("time goes back", o)
    last[track] = o["ts"]
    if o["ph"] == "B":
        opened[track].append(o["name"])
        began[o["name"].split(" ")[0]] += 1
    elif o["ph"] == "E":
        opened[track].pop()
        cut += o.get("args", {}).get("incomplete", False)
print(*(f"{name} {n}" for name, n in sorted(began.items())), len(last), "tracks",
      sum(map(len, opened.values())), "left", cut, "incomplete")' "$1"; }
cat >leaves.c <<'C'
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) void b(int n) { if (n) b(n - 1); else kill(getpid(), SIGKILL); __asm__ volatile(""); }
__attribute__((noinline)) void a(void) { b(2); __asm__ volatile(""); }
int main(void) { a(); return 0; }
C
poetcc -profile -g -O1 leaves.c -o leaves
METERS=calls=every measured leaves.poet ./leaves 2>/dev/null
until_true finished leaves.poet
poet export every.poet -f chrome -o every.chrome
is 'chrome: each call is a slice, nested, on a track of its thread' "$(nests every.chrome | sed 's/arrive [0-9]* //; s/wait [0-9]* //')" \
    'body 3 f 24001 g 24000 join 3 main 1 4 tracks 0 left 0 incomplete'
poet export leaves.poet -f chrome -o leaves.chrome
is 'chrome: a call that has not ended is closed at the end and marked' "$(nests leaves.chrome)" 'a 1 b 3 main 1 1 tracks 0 left 5 incomplete'
is 'chrome: times are those of poet calls --every' "$(grep -o '"ph":"[BE]".*"tid":1073741825,"ts":[0-9.]*' leaves.chrome | sed 's/.*://' | head -n 5 | xargs)" \
    "$(poet calls leaves.poet --every --json | json 'rows.start_ns' | awk '{ printf "%.3f\n", $1 / 1000 }' | xargs)"
poet export threads.poet -f chrome -o threads.chrome
is 'chrome: sums alone give no slices' "$(nests threads.chrome)" '0 tracks 0 left 0 incomplete'

# ---- Friedman's flow trace: twenty routines ----
printf '%s %d\n' copy 3 emit 120 find 206 fold 17 hash 412 line 97 mark 5 move 36 next 80 open 1 pop 43 push 44 read 11 \
    rran 834 rset 828 scan 51 skip 29 stop 1 swap 2 word 310 >flow.want
{
    printf '#include <stdlib.h>\nvolatile long sink;\n'
    awk '$1 !~ /^(next|scan|stop)$/ { print "__attribute__((noinline)) void " $1 "(void) { sink++; }" }' flow.want
    echo '__attribute__((noinline)) void next(void) { sink++; if (sink % 2) sink++; }'
    echo '__attribute__((noinline)) void scan(void) { next(); sink++; }'
    echo '__attribute__((noinline)) void stop(void) { exit(0); }'
    printf 'int main(void)\n{\n'
    awk '$1 == "next" { $2 -= 51 } # those by scan
        $1 != "stop" { print "    for (int i = 0; i < " $2 "; i++) " $1 "();" }' flow.want
    printf '    stop();\n}\n'
} >flow.c
poetcc -profile -g -O1 -fno-builtin flow.c -o flow
measured flow.poet ./flow
poet calls flow.poet --json >flow.json
is 'flow: twenty routines have their number of calls' \
    "$(json 'by_function(.calls)' flow.json | grep -vE '^main ' | sort)" "$(sort flow.want)"
is 'flow: routines that do not return are INCOMPLETE' \
    "$(json 'rows | select(.flags == "INCOMPLETE").function | first_word' flow.json | sort | xargs)" 'main stop'
is 'flow: shares add up to 100 % and times to the lifetime, less what is unaccounted' "$(json '
    sum(rows.self_share) as $share | sum(rows.self_ns) as $self | total
    | (select($share + .unaccounted_ns / .lifetime_ns - 1 | fabs > 1e-9) | $share),
        (select($self + .unaccounted_ns != .lifetime_ns or .unaccounted_ns < 0) | $self)' flow.json 2>&1)" ''
METERS=calls=counts measured flowcounts.poet ./flow
is 'flow: calls=counts has the same numbers' \
    "$(poet calls flowcounts.poet --json | json 'by_function(.calls, .self_ns)' | grep -v '^main ' | sort)" \
    "$(sed 's/$/ -/' flow.want | sort)"
cc -g -O1 -fno-builtin -fno-inline flow.c -o flowplain
if command -v gprof >/dev/null; then
    cc -pg -g -O1 -fno-builtin -fno-inline flow.c -o flowpg
    ./flowpg
    is 'gprof counts the same calls' "$(gprof -b -p ./flowpg gmon.out | awk 'NF > 3 && $4 ~ /^[0-9]+$/ { print $NF, $4 }' | grep -v '^main' | sort)" "$(sort flow.want)"
else
    skip 'gprof is not installed'
fi
if command -v valgrind >/dev/null; then
    valgrind --tool=callgrind --callgrind-out-file=flow.callgrind ./flowplain >/dev/null 2>&1
    # fn=(1) main; later only fn=(1); likewise cfn, before each line with calls=NUMBER
    is 'callgrind counts the same calls' "$(awk -F'[= ]' '
        /fn=/ && NF > 2 { name[$2] = $3 }
        /^cfn=/ { at = $2 }
        /^calls=/ { calls[at] += $2 }
        END { for (f in calls) print name[f], calls[f] }' flow.callgrind |
        grep -E "^($(cut -d' ' -f1 flow.want | paste -sd'|')) " | sort)" "$(sort flow.want)"
else
    skip 'valgrind is not installed'
fi

# ---- own CPU time: Zak's stairs; by caller; ignored functions count for their caller ----
cat >stairs.c <<'C'
#include "spin.h"
static long long took[6];
/* For so many us, and adds the time to its caller. */
static NOT void own(int of, long us)
{
    long long from = ran();
    spin(us);
    took[of] += ran() - from;
}
NI void fifth(void) { own(5, 100); }
NI void fourth(void) { own(4, 1000); }
NI void third(void) { own(3, 1000); for (int i = 0; i < 10; i++) fifth(); }
NI void second(void) { own(2, 100); }
NI void first(void) { own(1, 1000); for (int i = 0; i < 10; i++) third(); for (int i = 0; i < 10; i++) fourth(); }
int main(void)
{
    own(0, 1000);
    for (int i = 0; i < 10; i++) first();
    for (int i = 0; i < 10; i++) second();
    static const char *const names[] = {"main", "first", "second", "third", "fourth", "fifth"};
    for (int i = 0; i < 6; i++) printf("%s %lld\n", names[i], took[i]);
    printf("all %lld\n", ran());
    return 0;
}
C
# Each took what its own clock measured, and no more than that and what else the thread ran. (The little after
# the program's last reading is ignored.)
took() { awk 'NR == FNR { if ($1 == "all") all = $2; else { own[$1] = $2; sum += $2 } next }
    $1 in own { n++; if ($2 < own[$1] * .99 || $2 > own[$1] * 1.01 + all - sum + 2e5) print $0, "its own " own[$1] } END { if (n != wanted) print n }' wanted="$1" "$2" -; }
poetcc -profile -g -O1 stairs.c -o stairs
measured stairs.poet ./stairs >own
poet calls stairs.poet --json >stairs.json
is 'stairs: calls of each function' "$(json 'by_function(.calls)' stairs.json | sort | xargs)" \
    'fifth 1000 first 10 fourth 100 main 1 second 10 third 100'
is 'stairs: own CPU time of each function' "$(json 'by_function(.cpu_ns)' stairs.json | took 6 own)" ''
cat >parents.c <<'C'
#include "spin.h"
static long long took[2];
static NOT void own(int of, long us) { long long from = ran(); spin(us); took[of] += ran() - from; }
NI void f(int of, long ms) { own(of, 1000 * ms); }
NI void r(void) { f(1, 4); }
NI void a(void) { for (int i = 0; i < 5; i++) f(0, 20); }
NI void b(void) { for (int i = 0; i < 5; i++) r(); }
int main(void) { a(); b(); printf("a %lld\nr %lld\nall %lld\n", took[0], took[1], ran()); return 0; }
C
poetcc -profile -g -O1 parents.c -o parents
measured parents.poet ./parents >own
is 'parents: by caller 20 ms and 4 ms a call, never their mean' "$(poet calls parents.poet --graph --json |
    json 'inner_rows | select(.function | first_word == "f") | cells((.caller | first_word), 5 * .cpu_mean_ns)' |
    took 2 own)" ''
poetcc -profile -g -O1 -ignore=f parents.c -o ignoring
measured ignoring.poet ./ignoring >own
poet calls ignoring.poet --json >ignoring.json
is 'ignoring: an ignored function has no row' \
    "$(json 'by_function(.calls)' ignoring.json | sort | xargs)" 'a 1 b 1 main 1 r 5'
is 'ignoring: the time of an ignored function is that of its callers' \
    "$(json 'by_function(.cpu_ns)' ignoring.json | took 2 own)" ''

# ---- the cost of measuring: functions of almost no time, about 40 and about 500 ns, a million calls each ----
cat >costs.c <<'C'
#include "spin.h"
volatile long sink;
NI void nothing(void) { __asm__ volatile(""); }
NI void some(void) { for (int i = 0; i < 30; i++) sink++; }
NI void more(void) { for (int i = 0; i < 370; i++) sink++; }
#define TIMES 1000000
#define MEASURE(of) do { long long from = ran(); for (int i = 0; i < TIMES; i++) of(); printf(#of " %lld\n", ran() - from); } while (0)
int main(void) { MEASURE(nothing); MEASURE(some); MEASURE(more); return 0; }
C
poetcc -profile -g -O1 costs.c -o costs
poet_calls() { poet calls costs.poet --json | json 'by_function(.cpu_ns, .self_ns, .net_ns, .overhead_ns)'; }
# How exact this is depends on the machine (make bench PARTS=calls). Tested here is what is claimed: each call costs as
# much as the note says, within itself and in its caller, and never more than its time.
measured costs.poet ./costs >with
poet_calls >costs.rows
read -r inside around <<<"$(poet calls costs.poet | sed -n 's/.*: \([0-9.]*\) + \([0-9.]*\) ns per call.*/\1 \2/p')"
is 'costs: the note has the cost of a call, within it and around it' "$(awk -v inside="$inside" -v around="$around" '
    BEGIN { if (!(inside > 0 && around > 0)) print "no cost is said" }
    {
        said = $1 == "main" ? 3e6 * around + inside : 1e6 * inside # The note rounds to a tenth.
        off = $5 > said ? $5 - said : said - $5
        if (off > .06 * ($1 == "main" ? 3e6 : 1e6)) print $1 ": " $5 ", not " said
    }' costs.rows)" ''
is 'costs: net times are at most what the program measured without a profile' "$(awk '
    FILENAME == "with" { with[$1] = $2; next }
    with[$1] && !($2 > 0 && $2 <= with[$1]) { print $1, $2, "of", with[$1] }' with costs.rows)" ''
is 'costs: net time is self time less the cost' "$(awk '$4 != ($3 > $5 ? $3 - $5 : 0) && ($3 - $5 - $4) ^ 2 > 4 { print }' costs.rows)" ''

# ---- all traces of this test are consistent ----
cat >heap.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
void *take(void *p)
{
    for (long i = 0; i < 20000; i++) {
        void *q = malloc(1 + i % 300);
        if (i % 7) free(q);
        else if (i % 3) q = realloc(q, 1000);
    }
    return p;
}
void *give(void *p) { for (int i = 0; i < 50; i++) free(((void **)p)[i]); return p; }
int main(void)
{
    pthread_t t[4];
    void *all[100];
    for (int i = 0; i < 100; i++) all[i] = malloc(10);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, i ? take : give, all);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    if (!fork()) { take(0); _exit(0); }
    wait(0);
    return 0;
}
C
cc -w -g heap.c -o heap
for meters in memory memory,calls; do
    POET_QUIET=1 poet record -m $meters -o heap-$meters.poet ./heap >/dev/null 2>&1
done
for trace in blocks every threads flow flowcounts stairs parents costs heap-memory heap-memory,calls; do
    poet check $trace.poet 2>&1 | grep -v ': OK$'
done >unsound
is 'segments, calls, paths, lifetimes and blocks add up in all these traces' "$(cat unsound)" ''
done_testing
