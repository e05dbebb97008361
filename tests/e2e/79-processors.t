#!/bin/bash
# CPU time by each source: switch records, clocks at events, samples, the order alone: totals agree within their error,
# and with the program's own clocks.
. "$(dirname "$0")/lib.sh"

# Each worker runs for 10 ms of its CPU time, twenty times, and sleeps after each; it prints what it ran from its first
# reading to its last. A lock lies between: its events have the clock.
cat >rounds.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void *work(void *which)
{
    pthread_mutex_t *lock = &locks[*(char *)which - 'a'];
    pthread_setname_np(pthread_self(), which);
    for (int i = 0; i < 20; i++) {
        double from = cpu();
        while (cpu() - from < 10)
            ;
        pthread_mutex_lock(lock);
        nanosleep(&(struct timespec){0, 3000000}, 0);
        pthread_mutex_unlock(lock);
    }
    printf("T:%s %f\n", (char *)which, cpu());
    return 0;
}
int main(void)
{
    pthread_t t[2];
    static char names[][2] = {"a", "b"};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, work, names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
C
check "rounds.c compiles with -trace" poetcc -trace -g rounds.c -o rounds
# table RUN SOURCE PERL: with %of, each thread's row, $from the source, $off its error in ms, %said.
table() {
    SOURCE=$2 poet states "$1" --source "$2" --json | perl -MJSON::PP -e '
        our @all = map { decode_json $_ } <>; our %of = map { $_->{row} ? ($_->{row}{thread} => $_->{row}) : () } @all;
        our $from = $all[0]{columns}[3]{source}; our $notes = join " ", map { @{$_->{notes} // []} } @all;
        our ($off) = $notes =~ /(?:at most|no more than) ([0-9.]+) ms/; $off //= 0;
        open my $f, "<", "said.txt" or die; our %said = map { split } <$f>;
        sub ms { $of{$_[0]}{"$_[1]_ns"} / 1e6 }
        '"$3"
}
filled='for my $r (values %of) { my $sum = 0; $sum += $r->{$_ . "_ns"} // 0 for qw(created runnable running blocked other_off_cpu exited);
    print "$r->{thread}: $sum, not $r->{lifetime_ns}\n" if $sum != $r->{lifetime_ns} }'
ran='for my $t (sort keys %said) { my $is = ms($t, "running");
    print "$t ran $is, not $said{$t} ($from, off by $off)\n" if abs($is - $said{$t}) > $off + ERROR }'
for perf in on off; do
    POET_PERF=$perf start_server -o $perf/ -q
    POET_MEASURE=states ./rounds >said.txt
    check "perf $perf: the trace is sound" sound latest
    run=$(ls $perf/rounds-*.poet)
    stop_server
    for source in switches clock samples order; do
        is "perf $perf, $source: states add up to each lifetime" "$(table "$run" $source "$filled")" ""
    done
    is "perf $perf: source clock is available" "$(table "$run" clock 'print $from')" "thread CPU clock at events"
    is "perf $perf: source clock has the CPU time up to the last event" "$(table "$run" clock "${ran//ERROR/2}")" ""
    check "perf $perf: source clock has every sleep as off-CPU or runnable" table "$run" clock 'exit !(ms("T:a", "other_off_cpu") + ms("T:a", "runnable") >= 60)'
    best=$(poet states "$run" --json | perl -ne 'print $1 if /"name":"running_ns"[^}]*"source":"([^"]*)"/')
    if [ $perf = off ] || [ "$best" != "context-switch records" ]; then
        is "perf $perf: without switch records the clock is the default source" "$best" "thread CPU clock at events"
    fi
    # Time that a hypervisor took is between two switches, too.
    is "perf $perf: the default source has the program's CPU time" "$(table "$run" switches "${ran//ERROR/30}")" ""
    is "perf $perf: source samples has the program's CPU time" "$(table "$run" samples "${ran//ERROR/10}")" ""
    is "perf $perf: source order is an upper bound" "$(table "$run" order \
        'for (keys %said) { print "$_\n" if ms($_, "running") < $said{$_} }')" ""
done
POET_PERF=off start_server -o none/ -q
./rounds >said.txt
check "states off: the trace is sound" sound latest
check "states off: no CPU clock is read" test "$(table "$(ls none/rounds-*.poet)" clock 'print $from')" != "thread CPU clock at events"
done_testing
