#!/bin/bash
# Pictures placed by time, and from far away: what they say of times is compared with the dump.
. "$(dirname "$0")/lib.sh"

# Reads a dump (JSON) and a picture as text in which rows are named with the numbers of their lines.  The k-th mark of a
# row is the k-th event that is in the picture; the last argument says which one of its line the first is, by line
# ("2:17 3:4"; 1 else).  Says in how many places the picture and the times contradict each other.
cat >truth.pl <<'E2'
use utf8;
binmode STDOUT, ":utf8";
my ($dump, $picture, $column_ns, $ends) = @ARGV;
my (%times, %marks, @ticks, @all);
open my $d, "<:utf8", $dump or die;
while (<$d>) {
    push @{$times{$1}}, $2 if /^\{"event":"(\d+):\d+".*"time_ns":(-?\d+)/;
}
open my $p, "<:utf8", $picture or die;
my %unit = (ns => 1, "µs" => 1e3, ms => 1e6, s => 1e9);
while (<$p>) {
    if (/^ *\|-?\d/) {
        while (/\|(-?[\d.e+]+) (ns|µs|ms|s)\b/g) { push @ticks, [$-[0], $1 * $unit{$2}] }
    } elsif (/^\S.*?#(\d+) /) {
        my ($line, $text) = ($1, $_);
        while ($text =~ /[○●□■]/g) { push @{$marks{$line}}, $-[0] }
    }
}
my ($wrong, $seen) = (0, 0);
for my $line (keys %marks) {
    my @t = @{$times{$line}};
    splice @t, 0, @t - @{$marks{$line}} if $ends eq "end";
    $wrong++ if $ends eq "whole" && @t != @{$marks{$line}};
    for my $i (0 .. $#{$marks{$line}}) { push @all, [$marks{$line}[$i], $t[$i]]; $seen++ }
}
@all = sort { $a->[1] <=> $b->[1] || $a->[0] <=> $b->[0] } @all; # of one call all have one time
my $most = -1;
for (@all) { $wrong++ if $_->[0] < $most; $most = $_->[0] if $_->[0] > $most }
my $last = -1e18;
for my $tick (@ticks) {
    my ($x, $at) = @$tick;
    $wrong++ if $at < 0 || $at <= $last;
    $last = $at;
    for (@all) {
        $wrong++ if $_->[0] > $x && $_->[1] < $at - $column_ns * 0.51;
        $wrong++ if $_->[0] < $x && $_->[1] > $at + $column_ns * 0.51;
    }
}
print "$wrong wrong, ", ($seen > 10 ? "events" : "$seen events"), ", ", (@ticks ? "ticks" : "no ticks"), "\n";
E2
# true_picture NAME COLUMN_NS WHICH EXPORT_OPTION...
true_picture() {
    name=$1 ns=$2 which=$3
    shift 3
    if ! said=$(poet export run.poet --labels id --no-legend -o picture.txt "$@" 2>&1); then
        not_ok "$name" "$said"
        return
    fi
    is "$name" "$(perl truth.pl dump.json picture.txt "$ns" "$which")" "0 wrong, events, ticks"
}

# Threads that meet at a mutex and a condition, with pauses between them: much at once, long nothing, much again.
cat >bursts.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int count;
static void *work(void *arg)
{
    (void)arg;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 12; i++) {
            pthread_mutex_lock(&lock);
            while (count == 0)
                pthread_cond_wait(&more, &lock);
            count--;
            pthread_mutex_unlock(&lock);
        }
        usleep(3000);
    }
    return NULL;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 144; i++) {
        if (i % 48 == 47)
            usleep(20000);
        pthread_mutex_lock(&lock);
        count++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
C
poetcc -trace -g bursts.c -o bursts -lpthread
check "a program in bursts" ./bursts
mv "$(trace_of bursts)" run.poet
until_true finished run.poet
poet dump run.poet --json >dump.json
duration=$(figure run.poet duration_ns)
middle=$(perl -ne 'push @e, $1 if /^\{"event":"(\d+:\d+)"/; END { print $e[@e / 2] }' dump.json)

for us in 1 10 100 1000 100000 10000000; do
    true_picture "all of it, $us us a column: times grow to the right, and the ruler is right" \
        ${us}000 whole --time=$us --all
done
true_picture "the same without a scale" $((duration / 300 + 2)) whole --time
for us in 1 100 10000; do
    true_picture "its end, $us us a column" ${us}000 end --time=$us --last 60
done
poet export run.poet --time=100 --last 15 -o last.txt --no-legend
poet export run.poet --time=100 --all -o all.txt --no-legend
[ "$(wc -c <last.txt)" -lt $(($(wc -c <all.txt) / 3)) ] && ok "--last limits what is placed by time" ||
    not_ok "--last limits what is placed by time" "$(wc last.txt all.txt)"
check "around an event" poet export run.poet --time=100 --around "$middle" -o around.txt
check "from an event on" poet export run.poet --time=100 --from "$middle" --all -o from.txt
like "from an event on there is less than all" "$(wc -l <from.txt) $(($(wc -c <from.txt) < $(wc -c <all.txt)))" ' 1$'
for ending in svg pdf png; do
    check "as $ending without a scale" poet export run.poet --time --last 200 -o time.$ending
done
done_testing
