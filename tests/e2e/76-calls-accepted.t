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
is 'in words' "$(poet calls blocks.poet --blocks A | grep -c '^A (blocks.c:21), after blocks.c:24 *24-26 *B (blocks.c:11) *main (blocks.c:[0-9]*) *1 ')" 1
is 'no such function' "$(poet calls blocks.poet --blocks E 2>&1 | grep -c 'E: no function of that name was called')" 1
is 'of a part of the run there are none' "$(poet calls blocks.poet --blocks A --from 1ms >/dev/null 2>&1; echo $?)" 2
METERS=calls=counts measured counts.poet ./blocks >/dev/null
is 'counted alone: how often, and no times' "$(poet calls counts.poet --blocks A --json | rows lines times self_ns | paste -sd,)" "22-24 1 -,24-26 1 -,26-end 1 -"
done_testing
