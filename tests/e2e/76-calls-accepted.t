#!/bin/bash
# What calls must say to be accepted: blocks of functions, counts and times of programs whose every figure is known, as
# gprof and callgrind count them; what measuring costs.  Times are compared with the program's own clocks.
. "$(dirname "$0")/lib.sh"
measured() { POET_METERS=${METERS:-calls} POET_QUIET=1 POET_OUTPUT=$1 "${@:2}"; } # measured TRACE PROGRAM...
# rows COLUMN...: of JSON, one line each; names without their places
rows() { perl -MJSON::PP -e 'while (<STDIN>) { my $r = decode_json($_)->{row} or next; print join(" ", map {
    my $c = $r->{$_}; $c = $c->{name} if ref $c; $c = "-" if !defined $c; $c =~ s/ \(.*?\)//g; $c =~ s/ /_/g; $c } @ARGV), "\n" }' "$@"; }
total() { perl -MJSON::PP -e 'while (<STDIN>) { my $t = decode_json($_)->{total} or next; print $t->{$ARGV[0]} // "null" }' "$1"; }
# between NAME VALUE LEAST MOST
between() { is "$1" "$(perl -e 'my ($v, $l, $m) = @ARGV; print $v >= $l && $v <= $m ? "" : "$v is not $l .. $m"' "$2" "$3" "$4")" ""; }

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
/* Of the thread's processor time. */
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
# At least its own work; at most what is between the works before and after it.
within() { awk 'NR == FNR { from[n] = $(NF - 1); to[n] = $NF; of[$1 " " $2] = n++; next }
    $1 " " $2 in of { seen++; i = of[$1 " " $2]; if ($3 < (to[i] - from[i]) * .995 || $3 > (from[i + 1] - to[i - 1]) * 1.005) print $0 }
    END { if (seen != 7) print seen }' own got; }
for meters in calls calls=every; do
    METERS=$meters measured blocks.poet ./blocks >own
    for of in A B C D; do
        poet calls blocks.poet --blocks $of --json | tee $of.json | rows block lines parent times self_ns |
            awk -v of=$of '{ print of, of == "D" ? $3 : $2, $5, $4 }'
    done >got
    is "$meters: the blocks of each function" "$(awk '{ print $1, $2, $4 }' got | paste -sd,)" \
        "A 22-24 1,A 24-26 1,A 26-end 1,B 12-14 1,B 14-end 1,C 17-19 1,C 19-end 1,D B 1,D C 1"
    is "$meters: seven took what the program says" "$(within)" ""
    is "$meters: they are all that the function took itself" "$(for of in A B C D; do perl -MJSON::PP -e 'while (<STDIN>) {
        my $o = decode_json($_); $sum += $o->{row}{self_ns} if $o->{row}; $t = $o->{total} if $o->{total} }
        my $d = $t->{self_ns} - $sum; print "$sum of $t->{self_ns} " if $d != $t->{untold_ns} || abs($d) > 1000' <$of.json; done)" ""
    is "$meters: the function's own time is that of poet calls" "$(total self_ns <A.json)" \
        "$(poet calls blocks.poet --json | rows scope self_ns | awk '$1 == "A" { print $2 }')"
done
is 'whatever path leads to it' "$(poet calls blocks.poet --blocks D --by function --json | rows times lines)" "2 10-end"
is 'in words' "$(poet calls blocks.poet --blocks A | grep -c '^A (blocks.c:22), after blocks.c:24 *24-26 *B (blocks.c:12) *main (blocks.c:29) *1 ')" 1
is 'no such function' "$(poet calls blocks.poet --blocks E 2>&1 | grep -c 'E: no function of that name was called')" 1
is 'of a part of the run there are none' "$(poet calls blocks.poet --blocks A --from 1ms >/dev/null 2>&1; echo $?)" 2
METERS=calls=counts measured counts.poet ./blocks >/dev/null
is 'counted alone: how often, and no times' "$(poet calls counts.poet --blocks A --json | rows lines times self_ns | paste -sd,)" "22-24 1 -,24-26 1 -,26-end 1 -"

# ---- over threads ----
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
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, body, (void *)(1000 * (i + 1)));
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    f();
    return 0;
}
C
poetcc -profile -g -O1 threads.c -o threads
METERS=calls=every measured every.poet ./threads
measured threads.poet ./threads
is 'one function over all threads' "$(poet calls threads.poet --threads=calls --csv | tr -d '\r' | awk -F, '/^[fg] /{ print $1, $2; n = 0;
    for (i = 3; i <= NF; i++) if ($i) print "  " $i }' | sed 's/ (.*)//' | sort | xargs)" "1 1000 1000 2000 2000 3000 3000 f 6001 g 6000"
poet calls threads.poet --threads --json | perl -MJSON::PP -ne 'my $r = decode_json($_)->{row} or next; my $n = 0;
    $n += $_ // 0 for map { $r->{$_} } grep { /^line_/ } keys %$r; print "$r->{scope}: $n of $r->{self_ns}\n" if $n != $r->{self_ns}' >wrong
is 'its columns add up to the whole' "$(cat wrong)" ''
is 'of what is no sum there are none' "$(poet calls threads.poet --threads=mean 2>&1 | grep -c 'that is no sum')" 1
is 'by processor: what is needed is said' "$(poet calls threads.poet --by cpu 2>&1 | grep -c 'on which processor a thread ran')" 1
poet calls threads.poet --elapsed --json >bounds.json
is 'elapsed time without calls=every lies between bounds' "$(rows scope calls elapsed_least_ns elapsed_most_ns thread_ns <bounds.json |
    awk '$3 <= 0 || $3 > $4 || $4 > $5 { print }')" ''
is 'of one thread alone they are the same' "$(rows scope elapsed_least_ns elapsed_most_ns <bounds.json | awk '$1 == "main" && $2 == $3' | wc -l)" 1
is 'the bounds are not called exact' "$(head -n 1 bounds.json | perl -MJSON::PP -ne 'print join " ", map { $_->{name} . ($_->{exact} ? "" : "?") }
    @{decode_json($_)->{columns}}')" 'scope calls elapsed_least_ns? elapsed_most_ns? thread_ns thread_count'
is 'what is known exactly lies between the bounds of the sums of that run' "$(
    poet calls every.poet --json --by thread | perl -MJSON::PP -ne 'my $o = decode_json($_); my $r = $o->{row} or next; next if !$o->{depth};
        my $s = $r->{scope}; $s = $s->{name} if ref $s; $s =~ s/ \(.*//; $t = $r->{total_ns} // 0; $all{$s} += $t; $one{$s} = $t if $t > ($one{$s} // 0);
        END { print "$_ $one{$_} $all{$_}\n" for keys %one }' >sums
    poet calls every.poet --elapsed --json | rows scope elapsed_ns | awk 'NR == FNR { least[$1] = $2; most[$1] = $3; next }
        $1 in least && ($2 < least[$1] - 20000 || $2 > most[$1] + 20000) { print $0, least[$1], most[$1] }' sums -)" ''
done_testing
